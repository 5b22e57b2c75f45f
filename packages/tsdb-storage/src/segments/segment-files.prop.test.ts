import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { caseCount } from '@plinth/kernel/testing';
import { quoteString } from '@plinth/tsdb-model/text/quote.js';
import fc from 'fast-check';
import { withSegmentFiles } from '../testing/with-segment-files.js';

/** More values than the dictionary of a `few` file may have. */
const ROWS = { minLength: 100, maxLength: 300 };

const rowArb = fc.record({
  f: fc.option(
    fc.oneof(
      fc.double({ noNaN: true }),
      fc.integer().map((i) => i / 100),
      fc.constantFrom(-0, 2 ** 53, -1e300),
    ),
  ),
  i: fc.option(fc.oneof(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), fc.bigInt(-9n, 9n))),
  u: fc.option(fc.bigInt(0n, 2n ** 64n - 1n)),
  b: fc.option(fc.boolean()),
  s: fc.option(fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'))),
});
type Row = typeof rowArb extends fc.Arbitrary<infer R> ? R : never;

const literals = ({ f, i, u, b, s }: Row, at: number): string =>
  [
    `${at % 7}::BIGINT`,
    `make_timestamp_ns(${at})`,
    f === null ? 'NULL::DOUBLE' : `'${Object.is(f, -0) ? '-0.0' : f}'::DOUBLE`,
    i === null ? 'NULL::BIGINT' : `'${i}'::BIGINT`,
    u === null ? 'NULL::UBIGINT' : `'${u}'::UBIGINT`,
    `${b}::BOOLEAN`,
    s === null ? 'NULL::VARCHAR' : quoteString(s),
  ].join(', ');

/** 0.0 and -0.0 are one value in a dictionary. */
const cellsOf = ({ f, i, u, b, s }: Row, isDictionaryEncoded: boolean): readonly unknown[] => [
  isDictionaryEncoded && f === 0 ? 0 : f,
  i,
  u,
  b,
  s,
];

describe('segment files', () => {
  for (const dictionaryLimit of ['default', 'small'] as const) {
    it(`preserve every value with ${dictionaryLimit} dictionaries, also next to files of the other kind`, async () => {
      await withSegmentFiles(async ({ duckDb, files }) => {
        const write = async (rows: readonly Row[], kind: 'default' | 'small'): Promise<string> => {
          const values = rows.map((row, at) => `(${literals(row, at)})`).join(', ');
          const select = `SELECT * FROM (VALUES ${values}) t(_series, "time", f, i, u, b, s)`;
          const written = await files.writeSegment({
            tableUuid: 'table',
            select,
            fieldIds: new Map([['f', 3]]),
            dictionaryLimit: kind,
          });
          assert.equal(written?.rowCount, rows.length);
          return quoteString(files.pathOf(written.objectName));
        };
        await fc.assert(
          fc.asyncProperty(fc.array(rowArb, ROWS), fc.array(rowArb, ROWS), async (rows, others) => {
            const path = await write(rows, dictionaryLimit);
            const other = await write(others, dictionaryLimit === 'default' ? 'small' : 'default');
            const read = await duckDb.rows(
              `SELECT f, i, u, b, s FROM read_parquet([${path}, ${other}])`,
            );
            const plain = read.map(([f, ...rest]) => [f === 0 ? 0 : f, ...rest]);
            assert.deepEqual(
              plain,
              [...rows, ...others].map((row) => cellsOf(row, true)),
            );
            if (dictionaryLimit === 'small') {
              const alone = await duckDb.rows(`SELECT f, i, u, b, s FROM read_parquet([${path}])`);
              const isDictionaryEncoded = new Set(rows.map(({ f }) => f)).size <= 65;
              if (!isDictionaryEncoded)
                assert.deepEqual(
                  alone,
                  rows.map((row) => cellsOf(row, false)),
                );
            }
          }),
          { numRuns: caseCount(25) },
        );
      });
    });
  }
});
