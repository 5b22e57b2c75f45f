import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RequestedColumns } from './requested-columns.js';

const HOUR_MS = 3_600_000;

it('knows the columns and times that queries have requested within the last hour', () => {
  let nowMs = 0;
  const requested = new RequestedColumns(() => nowMs);
  requested.note([{ id: 1 }, { id: 2 }], 1000n);
  assert.deepEqual(
    [1, 2, 3].map((id) => requested.has(id, 1000n)),
    [true, true, false],
  );
  assert.equal(requested.has(1, 999n), false);
  requested.note([{ id: 1 }], 500n);
  requested.note([{ id: 1 }], 2000n);
  assert.equal(requested.has(1, 500n), true);
  nowMs = HOUR_MS;
  assert.equal(requested.has(1, 2000n), false);
  requested.note([{ id: 1 }], 3000n);
  assert.equal(requested.has(1, 3000n), true);
  assert.equal(requested.has(1, 2999n), false);
  assert.equal(requested.has(2, 3000n), false);
});
