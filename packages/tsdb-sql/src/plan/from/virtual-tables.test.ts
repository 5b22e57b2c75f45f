import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { MemoryDrain } from '@plinth/tsdb-model/memory/memory-drain.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { ChunkDecoder } from '@plinth/tsdb-storage/duckdb/decode/decode-chunk.js';
import { virtualTableQuery } from './virtual-tables.js';

let connection: DuckDBConnection;
let instance: DuckDBInstance;
before(async () => {
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
});
after(() => {
  connection.closeSync();
  instance.closeSync();
});

/** Reads a column with these cells through DuckDB, with a NULL between each two. */
async function read(type: SqlType, cells: readonly unknown[]): Promise<unknown[]> {
  const rows = cells.flatMap((cell, index) => (index === 0 ? [[cell]] : [[undefined], [cell]]));
  const columns = [{ name: 'x', type, tableColumnKind: undefined }];
  const { text } = virtualTableQuery({ columns, rows: () => rows });
  const result = await connection.stream(text);
  const decoder = new ChunkDecoder(columns, new MemoryDrain());
  const found: unknown[] = [];
  for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk()) {
    const { value: piece } = await decoder.decode(chunk).next();
    assert.ok(piece);
    const { rowCount, columns: vectors } = piece;
    const [vector] = vectors;
    for (let row = 0; row < rowCount; row++) {
      const isNull = vector?.validity && !((vector.validity[row >> 3] ?? 0) & (1 << (row & 7)));
      found.push(isNull ? undefined : vector?.values[row]);
    }
  }
  assert.deepEqual(
    found.filter((_, index) => index % 2 === 1),
    Array(cells.length - 1).fill(undefined),
  );
  return found.filter((_, index) => index % 2 === 0);
}

const INT64: SqlType = { kind: 'int', bits: 64, signed: true };
const UINT64: SqlType = { kind: 'int', bits: 64, signed: false };
const UINT16: SqlType = { kind: 'int', bits: 16, signed: false };
const UTF8: SqlType = { kind: 'utf8' };

describe('virtualTableQuery', () => {
  const check = async (type: SqlType, cells: readonly unknown[], expected = cells) =>
    assert.deepEqual(await read(type, cells), expected);

  it('passes every value to DuckDB unchanged', async () => {
    await check(INT64, [-(2n ** 63n), 0n, 2n ** 63n - 1n]);
    await check(UINT64, [0n, 2n ** 64n - 1n]);
    await check(UINT16, [0, 65_535]);
    await check({ kind: 'boolean' }, [true, false], [1, 0]);
    await check({ kind: 'duration' }, [-1n, 86_400_000_000_000n]);
    await check({ kind: 'float', bits: 64 }, [0.1, -0, 5e-324, 1.7976931348623157e308, Infinity]);
    const times = [-9_223_372_036_854_775_806n, 1n, 9_223_372_036_854_775_806n];
    await check({ kind: 'timestamp', unit: 'ns', zone: undefined }, times);
    await check({ kind: 'timestamp', unit: 's', zone: 'UTC' }, times);
  });

  it('passes strings with any character and replaces unpaired surrogates', async () => {
    await check(UTF8, ['', "it's", '"\\\n\t', 'a\0b', '\u{1f600}é', '$1 {} [null]', 'null']);
    await check(UTF8, ['a\ud800b', '\udc00'], ['a\ufffdb', '\ufffd']);
    await check({ kind: 'tag' }, ['x']);
  });

  it('passes lists, including empty lists and NULL', async () => {
    const lists = [['a', null, "b'"], [], ['null']];
    await check({ kind: 'list', element: UTF8 }, lists);
    await check({ kind: 'list', element: UINT16 }, [[1, 65_535], []]);
  });

  it('keeps the order of rows that exceed a chunk', async () => {
    const values = Array.from({ length: 5000 }, (_, index) => BigInt(index));
    await check(INT64, values);
  });
});
