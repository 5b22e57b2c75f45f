import assert from 'node:assert/strict';
import { it } from 'node:test';
import { rowsOf } from './rows-of-spans.js';

it('spans that overlap lie in lanes of their own, and lanes are used again', () => {
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
