import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { FrameColumn } from './frame.js';
import { sortRows } from './sort-rows.js';

const named = { name: 'c', typeName: 'x' };
const orders = (column: FrameColumn, rowCount: number) =>
  [false, true].map((isDescending) => [...sortRows(column, rowCount, isDescending)]);

it('sorts rows both ways, stably, with missing values last', () => {
  const nulls = Uint8Array.of(0, 1, 0, 0, 0);
  const values = Float64Array.of(2, 9, Number.NaN, -1, 2);
  assert.deepEqual(orders({ ...named, kind: 'number', nulls, values }, 5), [
    [3, 0, 4, 1, 2],
    [0, 4, 3, 1, 2],
  ]);
});

it('sorts 64-bit integers that are equal as doubles', () => {
  const values = BigInt64Array.of(9007199254740993n, 9007199254740992n, -5n);
  const numbers = Float64Array.from(values, Number);
  assert.deepEqual(orders({ ...named, kind: 'integer', nulls: undefined, values, numbers }, 3), [
    [2, 1, 0],
    [0, 1, 2],
  ]);
});

it('sorts strings alphabetically, with few or many distinct values', () => {
  const texts = ['b', 'a', 'ab'];
  const codes = Int32Array.of(0, 1, 2);
  const few: FrameColumn = { ...named, kind: 'words', nulls: undefined, codes, values: texts };
  const bytes = new TextEncoder().encode(texts.join(''));
  const offsets = Int32Array.of(0, 1, 2, 4);
  const many: FrameColumn = { ...named, kind: 'text', nulls: undefined, offsets, bytes };
  for (const column of [few, many])
    assert.deepEqual(orders(column, 3), [
      [1, 2, 0],
      [0, 2, 1],
    ]);
});
