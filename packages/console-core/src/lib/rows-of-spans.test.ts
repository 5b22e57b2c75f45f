import assert from 'node:assert/strict';
import { it } from 'node:test';
import { rowsOf } from './rows-of-spans.js';

it('puts overlapping spans into separate rows, and reuses rows', () => {
  const spans = [
    { from: 0, to: 10 },
    { from: 5, to: 20 },
    { from: 10, to: 12 },
    { from: 11, to: 30 },
    { from: 21, to: 22 },
  ];
  assert.deepEqual(rowsOf(spans), [0, 1, 2, 0, 1]);
  assert.deepEqual(rowsOf([]), []);
});
