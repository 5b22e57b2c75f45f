// Source: rate-limits, sections 3.1, 5. Behavior that depends on the time of another process.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpResponse } from '../../harness/index.js';
import { bucketOf, Platform, PROBE, resetOf } from './platform.js';

it('starts a new count after the window ends', async () => {
  await using platform = await Platform.start([
    '--rate-limit-test-window-seconds',
    '2',
    '--rate-limit-resources',
    '{"core":{"limit":3}}',
  ]);
  const token = await platform.token({ kind: 'personal', identity: 'user:1' });
  const statuses: number[] = [];
  let last: HttpResponse | undefined;
  for (let index = 0; index < 4; index += 1) {
    last = await platform.send(PROBE, token);
    statuses.push(last.status);
  }
  assert.deepEqual(statuses, [200, 200, 200, 403]);
  const reset = resetOf(last as HttpResponse); // assigned above
  await sleep(Math.max(0, reset * 1000 - Date.now()) + 20);
  const next = await platform.send(PROBE, token);
  assert.equal(bucketOf(next), 'core 1+2/3');
  assert.ok(resetOf(next) >= reset + 2);
});

it('an expired credential is rejected and charged to its address', async () => {
  await using platform = await Platform.start();
  const token = await platform.token({ kind: 'personal', identity: 'user:19', expires_in: 1 });
  assert.equal((await platform.send(PROBE, token)).status, 200);
  await sleep(1_100);
  const refused = await platform.send(PROBE, token);
  assert.equal(refused.status, 401);
  assert.equal(JSON.parse(refused.text).message, 'Bad credentials');
  assert.equal(bucketOf(refused), 'core 1+59/60');
});
