import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LineAllowance, MAX_CHARS_PER_SEC, MAX_LINES_PER_SEC } from './line-allowance.js';

it('accepts a limited number of lines per second, and reports dropped lines once until all fit again', () => {
  const allowance = new LineAllowance();
  const fill = (nowMs: number) =>
    Array.from({ length: MAX_LINES_PER_SEC + 3 }, () => allowance.take(nowMs, 1));
  const ends = (results: readonly string[]) => results.slice(MAX_LINES_PER_SEC - 1);
  assert.deepEqual(ends(fill(0)), ['take', 'tell', 'leave', 'leave']);
  assert.equal(allowance.take(999, 1), 'leave');
  assert.deepEqual(ends(fill(1000)), ['take', 'leave', 'leave', 'leave']);
  assert.equal(allowance.take(2000, 1), 'take');
  assert.deepEqual(ends(fill(3000)), ['take', 'tell', 'leave', 'leave']);
  assert.deepEqual(ends(fill(5000)), ['take', 'tell', 'leave', 'leave']);
});

it('accepts a limited number of characters per second, regardless of the number of lines', () => {
  const allowance = new LineAllowance();
  assert.equal(allowance.take(0, MAX_CHARS_PER_SEC - 1), 'take');
  assert.equal(allowance.take(0, 1), 'take');
  assert.equal(allowance.take(0, 1), 'tell');
  assert.equal(allowance.take(1000, MAX_CHARS_PER_SEC + 1), 'leave');
  assert.equal(allowance.take(1000, 1), 'take');
});
