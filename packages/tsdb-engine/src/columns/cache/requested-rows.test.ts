import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RequestedRows } from './requested-rows.js';

const HOUR_MS = 3_600_000;

it('knows the times that queries have requested within the last hour', () => {
  let nowMs = 0;
  const requested = new RequestedRows(() => nowMs);
  assert.equal(requested.has(1000n), false);
  requested.note(1000n);
  assert.deepEqual(
    [999n, 1000n, 1001n].map((ns) => requested.has(ns)),
    [false, true, true],
  );
  requested.note(500n);
  requested.note(2000n);
  assert.equal(requested.has(500n), true);
  nowMs = HOUR_MS;
  assert.equal(requested.has(2000n), false);
  requested.note(3000n);
  assert.equal(requested.has(3000n), true);
  assert.equal(requested.has(2999n), false);
});
