// Source: rate-limits, section 14.1.
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
  // Changes older than a second survive a kill.
  await sleep(1_500);
  await second.server.kill();

  const third = await Platform.start([], { dataDir, admin });
  const last = await third.send(PROBE, token);
  assert.equal(bucketOf(last), 'core 5+4995/5000');
  assert.equal(resetOf(last), resetOf(before));
  await third.server.stop();

  const without = await Platform.start(['--rate-limit-snapshot', 'false'], {
    dataDir,
    admin,
  });
  assert.equal(bucketOf(await without.send(PROBE, token)), 'core 1+4999/5000');
  await without.server.stop();
  for (const { server } of [first, second, third, without]) await server.close();
  await rm(dataDir, { recursive: true, force: true });
});

it('a ban that ended before a restart still doubles the next one', async () => {
  const flags = ['--rate-limit-ban-threshold', '2', '--rate-limit-secondary-heavy', '0'];
  const first = await Platform.start(flags);
  const { dataDir } = first.server;
  const { admin } = first;
  await first.ops('POST', 'rate-limits/bans', { identity: 'user:1', duration_seconds: 1 });
  await sleep(1_100);
  await first.server.stop();

  const second = await Platform.start(flags, { dataDir, admin });
  const refused = { identity: 'user:1', heavy: 1 };
  const kinds: string[] = [];
  for (let index = 0; index < 3; index += 1) {
    const response = await second.ops('POST', 'rate-limits/check', refused);
    kinds.push(JSON.parse(response.text).limit_kind);
  }
  assert.deepEqual(kinds, ['heavy', 'heavy', 'ban']);
  const [ban] = JSON.parse((await second.ops('GET', 'rate-limits/bans')).text).bans;
  assert.equal(ban.level, 2);
  assert.ok(ban.until - Date.now() / 1000 > 1_190, 'twice ten minutes');
  for (const { server } of [first, second]) await server.close();
  await rm(dataDir, { recursive: true, force: true });
});

it('a flood of addresses costs nobody who is signed in a count', async () => {
  await using platform = await Platform.start(['--rate-limit-max-buckets', '1000']);
  const check = async (checks: readonly object[]) => {
    const response = await platform.ops('POST', 'rate-limits/check-batch', { checks });
    assert.equal(response.status, 200, response.text);
    return (JSON.parse(response.text).results as { headers: Record<string, string> }[]).map(
      ({ headers }) => headers['x-ratelimit-used'],
    );
  };
  const users = Array.from({ length: 600 }, (_, index) => ({ identity: `user:${index}` }));
  await check(users);
  for (let block = 0; block < 10; block += 1) {
    const ips = Array.from({ length: 1_000 }, (_, i) => `10.${block}.${i >> 8}.${i & 255}`);
    await check(ips.map((ip) => ({ ip })));
  }
  assert.deepEqual(new Set(await check(users)), new Set(['2']));
});
