import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LocalLeases } from './local-leases.js';

/** Work that ends when `end` is called or its signal is aborted. */
const startWork = (leases: LocalLeases, name: string) => {
  let end: () => void = () => {};
  const result = leases.withLease(
    name,
    (signal) =>
      new Promise<string>((resolve) => {
        end = () => resolve('done');
        signal.addEventListener('abort', () => resolve('stopped'));
      }),
  );
  return { result, end: () => end() };
};

it('leases a name to one job at a time, and different names to different jobs', async () => {
  const leases = new LocalLeases();
  const first = startWork(leases, 'a');
  const other = startWork(leases, 'b');
  assert.equal(await leases.withLease('a', async () => 'second'), undefined);
  first.end();
  other.end();
  assert.deepEqual(await Promise.all([first.result, other.result]), ['done', 'done']);
  assert.equal(await leases.withLease('a', async () => 'third'), 'third');
});

it('releases the name of a failed job, even when it fails synchronously', async () => {
  const leases = new LocalLeases();
  const fail = async (work: () => Promise<never>) =>
    await assert.rejects(leases.withLease('a', work), { message: 'no' });
  await fail(async () => {
    throw new Error('no');
  });
  await fail(() => {
    throw new Error('no');
  });
  assert.equal(await leases.withLease('a', async () => 1), 1);
});

it('stops running jobs, waits for them and starts no others', async () => {
  const leases = new LocalLeases();
  const running = startWork(leases, 'a');
  await leases.close();
  assert.equal(await running.result, 'stopped');
  assert.equal(await leases.withLease('b', async () => 1), undefined);
  await leases.close();
});
