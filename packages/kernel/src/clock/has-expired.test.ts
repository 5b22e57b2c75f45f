import assert from 'node:assert/strict';
import { it } from 'node:test';
import { hasExpired } from './has-expired.js';

it('returns true from the end time on', () => {
  assert.deepEqual(
    [
      hasExpired(1000, 999),
      hasExpired(1000, 1000),
      hasExpired(1000, 1001),
      hasExpired(undefined, 1e15),
    ],
    [false, true, true, false],
  );
});
