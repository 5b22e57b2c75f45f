import assert from 'node:assert/strict';
import { it } from 'node:test';
import { KeyedQueue } from './keyed-queue.js';

it('returns synchronously if the key is idle', () => {
  const queue = new KeyedQueue();
  assert.equal(
    queue.run('a', () => 1),
    1,
  );
  assert.equal(queue.isBusy('a'), false);
});

it('runs work of one key sequentially, even after a failure', async () => {
  const queue = new KeyedQueue();
  const seen: string[] = [];
  const work = (name: string, fail: boolean) => async () => {
    seen.push(`${name} starts`);
    await Promise.resolve();
    seen.push(`${name} ends`);
    if (fail) throw new Error(name);
  };
  const all = Promise.allSettled([
    queue.run('a', work('1', true)),
    queue.run('a', work('2', false)),
    queue.run('a', () => {
      seen.push('3');
    }),
  ]);
  assert.equal(queue.isBusy('a'), true);
  assert.equal(queue.isBusy('b'), false);
  const outcomes = await all;
  assert.deepEqual(seen, ['1 starts', '1 ends', '2 starts', '2 ends', '3']);
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status),
    ['rejected', 'fulfilled', 'fulfilled'],
  );
  await Promise.resolve();
  assert.equal(queue.isBusy('a'), false);
});
