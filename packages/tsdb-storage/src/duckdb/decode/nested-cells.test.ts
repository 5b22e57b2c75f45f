import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { temporaryFolder } from '@plinth/kernel/testing';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { DuckDbHost } from '../duckdb-host.js';

const COUNT = 200_000;
const INT: SqlType = { kind: 'int', bits: 64, signed: true };
const UTF8: SqlType = { kind: 'utf8' };
const PAIR: SqlType = {
  kind: 'struct',
  fields: [
    { name: 'a', type: INT },
    { name: 'b', type: UTF8 },
  ],
};

describe('nested values of DuckDB', () => {
  let folder: string;
  let duckDb: DuckDbHost;
  before(async () => {
    folder = await temporaryFolder();
    duckDb = new DuckDbHost({
      dataDir: folder,
      spillDir: join(folder, 'spill'),
      memoryLimitBytes: 256 * 1048576,
      threads: 2,
      idleConnections: 2,
      register: async () => {},
    });
  });
  after(() => duckDb.close());

  async function read(
    text: string,
    type: SqlType,
    { isSmall = false, signal = new AbortController().signal } = {},
  ): Promise<unknown[]> {
    const columns = [{ name: 'x', type, tableColumnKind: undefined }];
    const cells: unknown[] = [];
    for await (const chunk of duckDb.stream({ text, columns, signal, isMaterialized: isSmall }))
      for (let row = 0; row < chunk.rowCount; row++) cells.push(chunk.columns[0]?.values[row]);
    return cells;
  }

  const large = `SELECT list({'a': i, 'b': 'text ' || i}) FROM range(${COUNT}) t(i)`;
  const largeType: SqlType = { kind: 'list', element: PAIR };

  it('are decoded with their NULLs, at any nesting', async () => {
    // Decoded objects have no prototype.
    const plain = (cells: unknown[]): unknown => JSON.parse(JSON.stringify(cells));
    const lists: SqlType = { kind: 'list', element: { kind: 'list', element: INT } };
    assert.deepEqual(
      plain(await read('SELECT unnest([[[1, NULL], NULL, []], NULL, [], [[2]]])', lists)),
      [[[1, null], null, []], null, [], [[2]]],
    );
    const structs: SqlType = {
      kind: 'struct',
      fields: [
        { name: 'l', type: { kind: 'list', element: PAIR } },
        { name: 'n', type: INT },
      ],
    };
    const ofStructs = `SELECT unnest([{'l': [{'a': 1, 'b': 'x'}, NULL], 'n': 5}, NULL, {'l': NULL, 'n': NULL}])`;
    assert.deepEqual(plain(await read(ofStructs, structs)), [
      { l: [{ a: 1, b: 'x' }, null], n: 5 },
      null,
      { l: null, n: null },
    ]);
    const maps: SqlType = { kind: 'map', key: UTF8, value: { kind: 'list', element: INT } };
    const ofMaps = `SELECT unnest([MAP {'k': [1], 'm': NULL}, NULL, MAP {}])`;
    assert.deepEqual(plain(await read(ofMaps, maps)), [
      [
        ['k', [1]],
        ['m', null],
      ],
      null,
      [],
    ]);
  });

  for (const isSmall of [false, true]) {
    it(`let other work run while they are decoded (${isSmall ? 'at once' : 'streamed'})`, async () => {
      let last = performance.now();
      let longestMs = 0;
      let tickCount = 0;
      const timer = setInterval(() => {
        tickCount++;
        longestMs = Math.max(longestMs, performance.now() - last);
        last = performance.now();
      });
      const text = `SELECT CASE WHEN true THEN (${large}) END`;
      const [list] = (await read(text, largeType, { isSmall })) as { a: bigint; b: string }[][];
      clearInterval(timer);
      assert.equal(list?.length, COUNT);
      assert.ok(list?.every(({ a, b }) => b === `text ${a}`));
      assert.equal(new Set(list?.map(({ a }) => a)).size, COUNT);
      assert.ok(tickCount > 3, `${tickCount} ticks, at most ${longestMs} ms between two`);
    });
  }
});
