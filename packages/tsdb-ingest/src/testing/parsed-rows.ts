import type { ParsedBody } from '@plinth/tsdb-model/parsed-body.js';
import { packedTagsAt } from '@plinth/tsdb-model/series/new-series.js';

/** Rows as text, with the tags of all series that the parser has numbered so far. */
export class ParsedRows {
  readonly #tags = new Map<string, string>();

  read({ tables }: ParsedBody): string[] {
    return tables.flatMap((table) => {
      const { newSeries, firstNewSeries, parserTable } = table;
      for (let i = 0; i < (newSeries?.count ?? 0); i++) {
        const { bytes, from, to } = packedTagsAt(newSeries as NonNullable<typeof newSeries>, i);
        const text = Buffer.from(bytes.subarray(from, to)).toString('hex');
        this.#tags.set(`${parserTable}/${firstNewSeries + i}`, text);
      }
      return Array.from(table.times, (timeNs, row) => {
        const values = table.fields.flatMap(({ name, data, validity }) => {
          const isSet = validity === undefined || ((validity[row >> 3] as number) >> (row & 7)) & 1;
          return isSet && data.type !== 'utf8' ? [`${name}=${data.values[row]}`] : [];
        });
        const tags = this.#tags.get(`${parserTable}/${table.seriesNumbers[row]}`);
        return `${table.table} ${tags} ${values.join()} ${timeNs}`;
      });
    });
  }
}

const sized = (text: string): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(Buffer.byteLength(text));
  return Buffer.concat([bytes, Buffer.from(text)]);
};
/** The tags of a series as the parsers return them, in hexadecimal digits. */
export const packed = (tags: Readonly<Record<string, string>>): string =>
  Buffer.concat(
    Object.entries(tags)
      .filter(([, value]) => value !== '')
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, value]) => [sized(name), sized(value)]),
  ).toString('hex');
