// Source: rate-limits, sections 14.3 (timeout of a call) and 15 (bursts are decided exactly).
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SystemClock } from '@plinth/kernel';
import { CallWatch, RedisSilent } from './call-watch.js';

const TIMEOUT_MS = 50;
const never = new Promise<never>(() => {});

describe('CallWatch', () => {
  const open = () => new CallWatch(new SystemClock(), TIMEOUT_MS);

  it('rejects calls without a response, and returns the responses of others', async () => {
    const watch = open();
    const startMs = performance.now();
    await assert.rejects(watch.watch(never), RedisSilent);
    assert.ok(performance.now() - startMs >= TIMEOUT_MS - 1);
    assert.equal(await watch.watch(Promise.resolve(1)), 1);
    await assert.rejects(watch.watch(Promise.reject(new Error('no'))), /no/);
    await assert.rejects(watch.watch(never), RedisSilent);
  });

  it('reports a response that arrives after the timeout', async () => {
    const watch = open();
    const heard: number[] = [];
    const call = sleep(3 * TIMEOUT_MS).then(() => 7);
    await assert.rejects(
      watch.watch(call, (late) => heard.push(late)),
      RedisSilent,
    );
    await call;
    await sleep(1);
    assert.deepEqual(heard, [7]);
  });

  it('keeps waiting only while other calls get responses', async () => {
    const watch = open();
    let isSettled = false;
    const waiting = watch.watch(never).finally(() => {
      isSettled = true;
    });
    waiting.catch(() => {});
    for (let round = 0; round < 20; round++) await watch.watch(sleep(10));
    assert.equal(isSettled, false);
    await assert.rejects(waiting, RedisSilent);
  });

  it('does not wait forever for an overloaded server', async () => {
    const watch = open();
    let isSettled = false;
    const waiting = watch.watch(never).finally(() => {
      isSettled = true;
    });
    waiting.catch(() => {});
    for (let round = 0; round < 1_000 && !isSettled; round++) await watch.watch(sleep(5));
    await assert.rejects(waiting, RedisSilent);
  });

  it('does not count a blocked event loop towards the timeout', async () => {
    const watch = open();
    const asked = watch.watch(new Promise((resolve) => setImmediate(() => resolve(1))));
    const endMs = performance.now() + 4 * TIMEOUT_MS;
    while (performance.now() < endMs); // Blocking the event loop also delays the response.
    assert.equal(await asked, 1);
  });
});
