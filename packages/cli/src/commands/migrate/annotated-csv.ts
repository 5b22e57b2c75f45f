import { quotedText, readCsv, readTimeNs } from '@plinth/line-protocol';
import { readingCsv } from '../input/csv-input.js';
import { BadLine, escaped, escapedTable, type Format } from './line-files.js';

type Cells = readonly (string | undefined)[];

/** A table of a query response: column names, types, and whether a column is part of the series key. */
interface Table {
  readonly names: readonly string[];
  readonly types: Cells;
  readonly isInKey: readonly boolean[];
  readonly defaults: Cells;
}

const OWN = new Set([
  '',
  'result',
  'table',
  '_start',
  '_stop',
  '_time',
  '_measurement',
  '_field',
  '_value',
]);

/** Returns whether a file starts with the annotations of an InfluxDB 2.x response. */
export const isAnnotatedCsv = (head: string): boolean =>
  /^\uFEFF?#(?:datatype|group|default),/.test(head);

/**
 * Reads annotated CSV of InfluxDB 2.x, as `influx query --raw` writes it. Rows have `_field` and `_value`, or are
 * pivoted: then each column outside the key is a field. Source: "Annotated CSV" of the documentation of InfluxDB 2.x.
 */
export const annotatedCsv: Format = async function* (bytes) {
  let annotations = new Map<string, Cells>();
  let table: Table | undefined;
  for await (const record of readingCsv(readCsv(bytes, ','))) {
    const number = record.line;
    if ('message' in record) {
      yield { number, lines: () => fail(record.message) };
      continue;
    }
    const { cells } = record;
    const first = cells[0]?.replace(/^\uFEFF/, '') ?? '';
    if (first.startsWith('#')) {
      // Annotations of the next table. Annotations that are not repeated remain valid.
      table = undefined;
      annotations = new Map(annotations).set(first, cells);
      continue;
    }
    if (table === undefined || (cells[1] === 'result' && cells[2] === 'table')) {
      table = tableOf(cells, annotations);
      if (table.types.length === 0)
        yield {
          number,
          lines: () => fail('the table has no #datatype annotation; export it with annotations'),
        };
      continue;
    }
    const known = table;
    if (known.types.length > 0) yield { number, lines: () => [lineOf(cells, known)] };
  }
};

function fail(text: string): never {
  throw new BadLine(text);
}

function tableOf(header: Cells, annotations: ReadonlyMap<string, Cells>): Table {
  return {
    names: header.map((name = '') => name),
    types: annotations.get('#datatype') ?? [],
    isInKey: (annotations.get('#group') ?? []).map((cell) => cell === 'true'),
    defaults: annotations.get('#default') ?? [],
  };
}

function lineOf(cells: Cells, { names, types, isInKey, defaults }: Table): string {
  const at = (name: string): number => names.indexOf(name);
  const cell = (index: number): string => cells[index] ?? defaults[index] ?? '';
  if (at('error') > 0) throw new BadLine(`error from the source server: ${cell(at('error'))}`);
  const needed = (name: string): string =>
    at(name) < 0 ? fail(`column ${name} not found in the table`) : cell(at(name));
  const measurement = needed('_measurement');
  const timeNs = readTimeNs(needed('_time'), 'auto');
  if (timeNs === undefined)
    throw new BadLine(
      `${JSON.stringify(cell(at('_time')))} is not a valid timestamp; use RFC 3339 or an integer epoch time`,
    );
  const isPivoted = at('_field') < 0;
  const tags: string[] = [];
  const fields: string[] = [];
  names.forEach((name, index) => {
    if (OWN.has(name)) return;
    const text = cell(index);
    if (isPivoted && !isInKey[index]) {
      if (text !== '' || (types[index] === 'string' && cells[index] !== undefined))
        fields.push(`${escaped(name)}=${valueText(text, types[index])}`);
    } else if (text !== '') tags.push(`,${escaped(name)}=${escaped(text)}`);
  });
  if (!isPivoted) {
    const value = at('_value');
    fields.push(`${escaped(needed('_field'))}=${valueText(needed('_value'), types[value])}`);
  }
  if (fields.length === 0) throw new BadLine('the row has no field value');
  return `${escapedTable(measurement)}${tags.join('')} ${fields.join(',')} ${timeNs}`;
}

function valueText(text: string, type: string | undefined): string {
  if (type === 'string') return quotedText(text);
  if (type === 'boolean' && /^(?:true|false)$/.test(text)) return text;
  if (type === 'long' && /^-?\d+$/.test(text)) return `${text}i`;
  if (type === 'unsignedLong' && /^\d+$/.test(text)) return `${text}u`;
  if (type === 'double') {
    const sign = /^([+-]?)inf(?:inity)?$/i.exec(text)?.[1];
    if (sign !== undefined) return `${sign === '-' ? '-' : ''}1e999`;
    if (text !== '' && Number.isFinite(Number(text))) return text;
  }
  throw new BadLine(`${JSON.stringify(text)} is not a valid value of type ${type ?? '(none)'}`);
}
