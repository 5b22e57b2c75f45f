// Source: tsdb-http, "Native query endpoints" (format parquet). DuckDB reads the file, which was
// written by another library.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import { temporaryFolder } from '@plinth/kernel/testing';
import type { ResultChunk, ResultStream } from '@plinth/tsdb-model/columns/result.js';
import { parquetPieces } from './parquet-pieces.js';

const COLUMNS: ResultStream['columns'] = [
  { name: 'iox::measurement', type: { kind: 'utf8' }, tableColumnKind: undefined },
  {
    name: 'time',
    type: { kind: 'timestamp', unit: 'ns', zone: undefined },
    tableColumnKind: 'time',
  },
  { name: 'host', type: { kind: 'tag' }, tableColumnKind: 'tag' },
  { name: 'f', type: { kind: 'float', bits: 64 }, tableColumnKind: 'float64' },
  { name: 'i', type: { kind: 'int', bits: 64, signed: true }, tableColumnKind: 'int64' },
  { name: 'u', type: { kind: 'int', bits: 64, signed: false }, tableColumnKind: 'uint64' },
  { name: 'b', type: { kind: 'boolean' }, tableColumnKind: 'bool' },
];

async function readBack(chunks: readonly ResultChunk[]): Promise<string[][]> {
  const stream: ResultStream = {
    columns: COLUMNS,
    tableName: undefined,
    chunks: (async function* () {
      yield* chunks;
    })(),
  };
  const pieces: Buffer[] = [];
  for await (const piece of parquetPieces(stream)) pieces.push(piece);
  const folder = await temporaryFolder();
  const path = join(folder, 'a.parquet');
  await writeFile(path, Buffer.concat(pieces));
  const connection = await (await DuckDBInstance.create()).connect();
  const all = `SELECT ${COLUMNS.map(({ name }) => `"${name}"::VARCHAR`)} FROM '${path}' ORDER BY time`;
  return (await (await connection.runAndReadAll(all)).getRows()) as string[][];
}

it('a Parquet file of a result contains every type, including NULL', async () => {
  const rows = await readBack([
    {
      rowCount: 2,
      columns: [
        { values: ['m', 'm'], validity: undefined },
        {
          values: new BigInt64Array([1_500_000_000_123_456_789n, 1_600_000_000_000_000_000n]),
          validity: undefined,
        },
        { values: ['a', null], validity: Uint8Array.of(0b01) },
        { values: new Float64Array([0.1, -2.5e300]), validity: undefined },
        { values: [-(2n ** 63n), 7], validity: undefined },
        { values: [2n ** 64n - 1n, null], validity: Uint8Array.of(0b01) },
        { values: [1, 0], validity: Uint8Array.of(0b11) },
      ],
    },
  ]);
  assert.deepEqual(rows, [
    [
      'm',
      '2017-07-14 02:40:00.123456789',
      'a',
      '0.1',
      '-9223372036854775808',
      '18446744073709551615',
      'true',
    ],
    ['m', '2020-09-13 12:26:40', null, '-2.5e+300', '7', null, 'false'],
  ]);
});

it('a Parquet file contains all rows of a large result, and the columns of an empty one', async () => {
  const count = 100_000;
  const numbers = Array.from({ length: count }, (_, i) => i);
  const texts = numbers.map((i) => `h${i % 7}`);
  const rows = await readBack([
    {
      rowCount: count,
      columns: [
        { values: texts, validity: undefined },
        { values: BigInt64Array.from(numbers, BigInt), validity: undefined },
        { values: texts, validity: undefined },
        { values: Float64Array.from(numbers), validity: undefined },
        { values: numbers, validity: undefined },
        { values: numbers, validity: undefined },
        { values: numbers.map((i) => i % 2), validity: undefined },
      ],
    },
  ]);
  assert.equal(rows.length, count);
  for (const i of [0, 1, 32_767, 32_768, 65_536, count - 1]) {
    const row = rows[i] ?? [];
    assert.deepEqual(
      [row[0], row[2], Number(row[3]), row[4], row[5], row[6]],
      [`h${i % 7}`, `h${i % 7}`, i, `${i}`, `${i}`, String(i % 2 === 1)],
    );
  }
  assert.deepEqual(await readBack([]), []);
});
