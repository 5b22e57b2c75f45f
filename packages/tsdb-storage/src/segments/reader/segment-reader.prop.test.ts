import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { caseCount } from '@plinth/kernel/testing';
import { quoteString } from '@plinth/tsdb-model/text/quote.js';
import fc from 'fast-check';
import { withSegmentFiles } from '../../testing/with-segment-files.js';
import type { ColumnValues } from './column-chunk.js';
import type { IndexedColumn } from './file-index.js';

/** Data for which DuckDB chooses different encodings. */
const shapeArb = fc.record({
  rowCount: fc.constantFrom(1, 7, 2047, 2048, 2049, 20_480, 20_481, 45_000),
  seriesCount: fc.constantFrom(1, 3, 40, 9000),
  /** One of this many values is missing; 0 for none. */
  missing: fc.constantFrom(0, 0, 2, 5, 1000),
  /** Values are below two to the power of this; 0 for equal values. */
  bits: fc.constantFrom(0, 1, 7, 20, 25, 33, 45, 60, 63),
  /** Number of rows with the same value. */
  run: fc.constantFrom(1, 3, 500),
  isSigned: fc.boolean(),
  dictionaryLimit: fc.constantFrom('default', 'small'),
  seed: fc.integer({ min: 0, max: 1_000_000 }),
});
type Shape = typeof shapeArb extends fc.Arbitrary<infer R> ? R : never;

function selectOf({ rowCount, seriesCount, missing, bits, run, isSigned, seed }: Shape): string {
  const random = (salt: number): string => `hash((i // ${run}) * 31 + ${seed + salt})`;
  const below = (salt: number): string => `(${random(salt)} >> ${64 - bits})`;
  const whole = bits === 0 ? '17::BIGINT' : `${below(1)}::BIGINT`;
  const orNull = (value: string, salt: number): string =>
    missing === 0
      ? value
      : `CASE WHEN hash(i + ${seed + salt}) % ${missing} = 0 THEN NULL ELSE ${value} END`;
  const perSeries = Math.ceil(rowCount / seriesCount);
  return `SELECT ((hash(i // ${perSeries}) >> 1)::BIGINT) AS _series,
    make_timestamp_ns(1700000000000000000 + (i % ${perSeries}) * 10000000000 + ${seed}) AS "time",
    ${orNull(isSigned ? `-(${whole})` : whole, 2)} AS i,
    ${orNull(bits === 0 ? '18446744073709551615::UBIGINT' : `${random(3)}`, 4)} AS u,
    ${orNull(`(${below(5)})::DOUBLE / 7`, 6)} AS f,
    ${orNull(`${random(7)} % 2 = 0`, 8)} AS b,
    ${orNull(`((i % ${perSeries}) * ${isSigned ? -5 : 5} + (${random(9)} >> ${64 - (bits % 7)}))::BIGINT`, 10)} AS w,
    'text' || i AS s
    FROM range(${rowCount}) t(i) ORDER BY 1, 2`;
}

function cellsOf({ values, isPresent }: ColumnValues, kind: string): unknown[] {
  const own: readonly unknown[] = [...(kind === 'u' ? new BigUint64Array(values.buffer) : values)];
  return own.map((value, row) => {
    if (isPresent !== undefined && ((isPresent[row >> 3] as number) & (1 << (row & 7))) === 0)
      return null;
    return kind === 'b' ? value === 1 : value;
  });
}

describe('a segment reader', () => {
  it('reads the same values as DuckDB, for any rows of any row group', async () => {
    await withSegmentFiles(async ({ duckDb, files }) => {
      const readBySelf = fc.asyncProperty(
        shapeArb,
        fc.array(fc.tuple(fc.nat(50_000), fc.nat(50_000)), { minLength: 3, maxLength: 3 }),
        async (shape, ranges) => {
          const file = await files.writeSegment({
            tableUuid: 'table',
            select: selectOf(shape),
            fieldIds: new Map(),
            dictionaryLimit: shape.dictionaryLimit as 'default' | 'small',
          });
          assert.ok(file !== undefined);
          const index = await files.reader.indexOf(file);
          assert.equal(index.starts.at(-1), shape.rowCount);
          const names = ['_series', 'time', 'i', 'u', 'f', 'b', 'w'];
          const groups = Array.from(index.starts.keys()).slice(0, -1);
          const pages = await files.reader.read(file, index, groups, names);
          const from = `read_parquet(${quoteString(files.pathOf(file.objectName))}, file_row_number = true)`;
          const duckDbColumns = '_series, epoch_ns("time"), i, u, f, b, w';
          for (const group of groups) {
            const start = index.starts[group] as number;
            const rowCount = (index.starts[group + 1] as number) - start;
            const [range] = await duckDb.rows(
              `SELECT min(_series), max(_series), epoch_ns(min("time")), epoch_ns(max("time")) FROM ${from} WHERE file_row_number >= ${start} AND file_row_number < ${start + rowCount}`,
            );
            const at = [group * 2, group * 2 + 1];
            assert.deepEqual(
              [...at.map((i) => index.series[i]), ...at.map((i) => index.times[i])],
              range,
            );
            for (const [a, b] of [[0, rowCount] as const, ...ranges]) {
              const rows = { from: Math.min(a % (rowCount + 1), b % (rowCount + 1)), to: 0 };
              rows.to = Math.max(a % (rowCount + 1), b % (rowCount + 1));
              const expected = await duckDb.rows(
                `SELECT ${duckDbColumns} FROM ${from} WHERE file_row_number >= ${start + rows.from} AND file_row_number < ${start + rows.to} ORDER BY file_row_number`,
              );
              for (const [i, name] of names.entries()) {
                const column = pages[group]?.[i];
                assert.ok(column !== undefined);
                assert.deepEqual(
                  cellsOf(column.values(rows), name),
                  expected.map((row) => row[i]),
                  `${name} of rows ${rows.from} to ${rows.to} of group ${group}`,
                );
              }
            }
            const runs = pages[group]?.[0]?.runs(rowCount);
            const firsts = await duckDb.rows(
              `SELECT _series, max(file_row_number) + 1 - ${start} FROM ${from} WHERE file_row_number >= ${start} AND file_row_number < ${start + rowCount} GROUP BY 1 ORDER BY 2`,
            );
            assert.deepEqual(
              Array.from(runs?.ends ?? [], (end, run) => [
                new BigInt64Array(runs?.words.buffer ?? new ArrayBuffer(0))[run],
                BigInt(end),
              ]),
              firsts,
            );
          }
        },
      );
      await fc.assert(readBySelf, { numRuns: caseCount(25) });
    });
  });

  it('refuses unsupported layouts without reading further', async () => {
    await withSegmentFiles(async ({ duckDb, files, objects, dir }) => {
      const write = async (name: string, options: string): Promise<string> => {
        const path = `${dir}/${name}.parquet`;
        await duckDb.rows(
          `COPY (SELECT 1::BIGINT AS _series, make_timestamp_ns(i) AS "time", i FROM range(9) t(i)) TO ${quoteString(path)} (FORMAT parquet, ${options})`,
        );
        await objects.adopt(`tsdb/${name}`, path);
        return `tsdb/${name}`;
      };
      const sizeOf = async (
        objectName: string,
      ): Promise<{ objectName: string; sizeBytes: number }> => ({
        objectName,
        sizeBytes: (await objects.get(objectName)).length,
      });
      const other = await sizeOf(await write('other', 'COMPRESSION snappy'));
      await assert.rejects(files.reader.indexOf(other), { name: 'UnknownLayout' });
      const whole = await sizeOf(await write('whole', 'COMPRESSION zstd, PARQUET_VERSION v2'));
      const cut = { ...whole, sizeBytes: whole.sizeBytes - 1 };
      await assert.rejects(files.reader.indexOf(cut), { name: 'UnknownLayout' });
      const index = await files.reader.indexOf(whole);
      const [[series] = []] = await files.reader.read(whole, index, [0], ['_series']);
      assert.deepEqual(series?.runs(9).ends, Uint32Array.of(9));
      const bytes = await objects.get(whole.objectName);
      const { places } = index.columns.get('time') as IndexedColumn;
      bytes.fill(0xff, (places[0] as number) + 30, places[1]);
      await objects.delete(whole.objectName);
      await objects.put(whole.objectName, [bytes]);
      const [[times] = []] = await files.reader.read(whole, index, [0], ['time']);
      assert.throws(() => times?.values({ from: 0, to: 9 }), { name: 'UnknownLayout' });
      await assert.rejects(files.reader.read(whole, index, [0], ['missing']), {
        name: 'UnknownLayout',
      });
    });
  });
});
