// Source: rate-limits, section 14.1; row 24 of its checklist.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { bucketOf, Platform, PROBE, resetOf } from './platform.js';

it('windows, content of the last hour and bans outlive a stop, and a crash but for its last second', async () => {
  const first = await Platform.start();
  const { dataDir } = first.server;
  const { admin } = first;
  const token = await first.token({ kind: 'personal', identity: 'user:1' });
  const before = await first.send(PROBE, token);
  await first.send(PROBE, token);
  await first.ops('POST', 'rate-limits/check', { identity: 'user:1', content: true });
  await first.ops('POST', 'rate-limits/bans', { identity: 'user:2', duration_seconds: 600 });
  await first.server.stop();

  const second = await Platform.start([], { dataDir, admin });
  const after = await second.send(PROBE, token);
  assert.equal(bucketOf(after), 'core 4+4996/5000');
  assert.equal(resetOf(after), resetOf(before));
  const shown = JSON.parse((await second.ops('GET', 'rate-limits/user:1')).text);
  assert.deepEqual([shown.secondary.content_hour, shown.secondary.content_minute], [1, 0]);
  const banned = JSON.parse((await second.ops('GET', 'rate-limits/bans')).text);
  assert.equal(banned.bans[0].identity, 'user:2');
  // What is older than a second has been kept when the process ends without a word.
  await sleep(1_500);
  await second.server.kill();

  const third = await Platform.start([], { dataDir, admin });
  const last = await third.send(PROBE, token);
  assert.equal(bucketOf(last), 'core 5+4995/5000');
  assert.equal(resetOf(last), resetOf(before));
  await third.server.stop();

  const without = await Platform.start(['--rate-limit-snapshot', 'false'], { dataDir, admin });
  assert.equal(bucketOf(await without.send(PROBE, token)), 'core 1+4999/5000');
  await without.server.stop();
  for (const { server } of [first, second, third, without]) await server.close();
  await rm(dataDir, { recursive: true, force: true });
});
