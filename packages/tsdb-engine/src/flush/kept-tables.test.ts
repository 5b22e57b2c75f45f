import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { TableStore } from '../table/table-store.js';
import { tablesToKeep } from './kept-tables.js';

const MIB = 1024 * 1024;

/** Returns the parts of a table's store that `tablesToKeep` reads. */
function storeOf(
  id: number,
  options: {
    readonly sizeBytes?: number;
    readonly duckDbBytes?: number;
    readonly seriesCount?: number;
  } = {},
): TableStore {
  const table = { id, sizeBytes: 1000, duckDbBytes: 0, minSeq: BigInt(id), ...options };
  const store = {
    isBeingRemoved: false,
    series: { index: { count: options.seriesCount ?? 1 } },
    tombstones: { all: [] },
    generation: () => table,
  };
  return store as unknown as TableStore;
}

function kept(
  stores: readonly TableStore[],
  options: Partial<Parameters<typeof tablesToKeep>[0]> = {},
): unknown[] {
  const tables = tablesToKeep({
    stores,
    generation: 0,
    flushBytes: 64 * MIB,
    maxSmallTables: 2,
    logBytes: MIB,
    isCrowded: false,
    ...options,
  });
  return tables.map((table) => Reflect.get(table, 'id'));
}

it('keeps small tables except the oldest', () => {
  assert.deepEqual(kept([4, 3, 2, 1].map((id) => storeOf(id))), [3, 4]);
  assert.deepEqual(kept([1, 2].map((id) => storeOf(id))), []);
});

it('keeps no large table', () => {
  const large = storeOf(9, { sizeBytes: MIB });
  assert.deepEqual(kept([large, ...[1, 2, 3].map((id) => storeOf(id))]), [3]);
});

it('does not keep rows of tables with many series', () => {
  const many = storeOf(9, { seriesCount: 20_000 });
  assert.deepEqual(kept([many, ...[1, 2, 3].map((id) => storeOf(id))]), [3]);
});

it('keeps nothing if the log is long', () => {
  const stores = [1, 2, 3].map((id) => storeOf(id));
  assert.deepEqual(kept(stores, { logBytes: 200 * MIB }), []);
});

it('keeps at most a fraction of the flush size', () => {
  const stores = [1, 2, 3, 4, 5, 6].map((id) => storeOf(id));
  assert.deepEqual(kept(stores, { flushBytes: 12_000 }), [4, 5, 6]);
});

it("does not keep rows that fill DuckDB's memory", () => {
  const stores = [1, 2, 3, 4, 5].map((id) => storeOf(id, { duckDbBytes: id === 4 ? 1 : 0 }));
  assert.deepEqual(kept(stores), [3, 4, 5]);
  assert.deepEqual(kept(stores, { isCrowded: true }), [3, 5]);
});
