import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FairQueue } from './fair-queue.js';

class Refused extends Error {}

/** A queue whose work ends when the test ends it; `order` lists the started work. */
function makeLine({ maxCount = 64, maxCountPerKey = 8 } = {}) {
  const line = new FairQueue({ maxCount, maxCountPerKey, refusal: () => new Refused() });
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (key: string): Promise<string> =>
    line.run(key, async () => {
      order.push(key);
      await new Promise<void>((resolve) => ends.push(resolve));
      return key;
    });
  const endOne = async (): Promise<void> => {
    ends.shift()?.();
    await new Promise(setImmediate);
  };
  return { ask, endOne, order };
}

describe('FairQueue', () => {
  it('runs one job at a time, round-robin by key', async () => {
    const { ask, endOne, order } = makeLine();
    const all = ['a', 'a', 'a', 'b', 'b', 'c'].map(ask);
    for (let i = 1; i <= 6; i++) {
      assert.equal(order.length, i);
      await endOne();
    }
    assert.deepEqual(await Promise.all(all), ['a', 'a', 'a', 'b', 'b', 'c']);
    assert.deepEqual(order, ['a', 'a', 'b', 'c', 'a', 'b']);
  });

  it('displaces the last job of the busiest key for a key with fewer jobs', async () => {
    const { ask, endOne, order } = makeLine({ maxCount: 4, maxCountPerKey: 2 });
    const busy = ask('x');
    const [a1, a2, b1, b2] = ['a', 'a', 'b', 'b'].map(ask) as Promise<string>[];
    const displaced = assert.rejects(a2 as Promise<string>, Refused);
    const c1 = ask('c');
    await displaced;
    // Only b has two jobs now. One more key displaces its last job; then no key has more than a new
    // key would.
    const other = assert.rejects(b2 as Promise<string>, Refused);
    const d1 = ask('d');
    await other;
    await assert.rejects(ask('e'), Refused);
    await assert.rejects(ask('a'), Refused);
    for (let i = 0; i < 5; i++) await endOne();
    assert.deepEqual(await Promise.all([busy, a1, b1, c1, d1]), ['x', 'a', 'b', 'c', 'd']);
    assert.deepEqual(order, ['x', 'a', 'b', 'c', 'd']);
  });

  it('limits the jobs of one key', async () => {
    const { ask, endOne } = makeLine({ maxCountPerKey: 2 });
    const all = [ask('a'), ask('a'), ask('a')];
    await assert.rejects(ask('a'), Refused);
    for (let i = 0; i < 3; i++) await endOne();
    assert.deepEqual(await Promise.all(all), ['a', 'a', 'a']);
  });

  it('continues after a failed job', async () => {
    const line = new FairQueue({ maxCount: 4, maxCountPerKey: 4, refusal: () => new Refused() });
    const failed = line.run('a', () => Promise.reject(new Error('no')));
    const next = line.run('a', async () => 1);
    await assert.rejects(failed, /no/);
    assert.equal(await next, 1);
    assert.equal(await line.run('b', async () => 2), 2);
  });
});
