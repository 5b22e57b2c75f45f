import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isOver } from './is-over.js';

it('returns true from the end time on', () => {
  assert.deepEqual(
    [isOver(1000, 999), isOver(1000, 1000), isOver(1000, 1001), isOver(undefined, 1e15)],
    [false, true, true, false],
  );
});
