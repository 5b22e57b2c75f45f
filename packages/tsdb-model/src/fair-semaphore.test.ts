import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { FairSemaphore } from './fair-semaphore.js';

describe('FairSemaphore', () => {
  /** Takes slots until none is granted. Returns their number. */
  const takeAll = (places: FairSemaphore, owner: string | undefined): number => {
    let count = 0;
    while (places.tryAcquire(owner)) count++;
    return count;
  };

  it('leaves other owners as many slots as one owner has, and grants all slots to the server itself', () => {
    const places = new FairSemaphore(16);
    assert.deepEqual(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((owner) => takeAll(places, owner)),
      [8, 4, 2, 1, 1, 0],
    );
    assert.equal(takeAll(new FairSemaphore(2), undefined), 2);
    assert.equal(takeAll(new FairSemaphore(1), 'a'), 1);
  });

  it('serves waiting owners in rotation, regardless of arrival order', async () => {
    const places = new FairSemaphore(1);
    const begun: string[] = [];
    const wait = (name: string): void =>
      void places.acquire({ owner: name.charAt(0) }).then(() => begun.push(name));
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) wait(name);
    for (const owner of ['a', 'a', 'b', 'c', 'a']) {
      await setImmediate();
      assert.equal(begun.at(-1)?.charAt(0), owner, begun.join());
      places.release(owner);
    }
    assert.deepEqual(begun, ['a1', 'a2', 'b1', 'c1', 'a3']);
    assert.deepEqual([places.freeCount, places.waitingCount], [1, 0]);
  });

  it('skips an owner that has its share, but lets no request overtake an owner without slots', async () => {
    const places = new FairSemaphore(8);
    const begun: string[] = [];
    const wait = (owner: string, size: number): Promise<void> =>
      places.acquire({ owner }, size).then(() => void begun.push(owner));
    await wait('a', 4);
    void wait('a', 1);
    await wait('b', 2);
    void wait('c', 4);
    void wait('d', 1);
    await setImmediate();
    assert.deepEqual([begun, places.waitingCount], [['a', 'b'], 3]);
    places.release('b', 2);
    await setImmediate();
    assert.deepEqual(begun, ['a', 'b', 'c']);
    places.release('c', 4);
    // An owner that released all slots counts as an owner without slots.
    void wait('c', 5);
    void wait('e', 1);
    await setImmediate();
    assert.deepEqual(begun, ['a', 'b', 'c', 'd']);
    assert.ok(!places.tryAcquire('f'));
    places.release('a', 4);
    await setImmediate();
    assert.deepEqual(begun.slice(4), ['a', 'c', 'e']);
  });

  it('starts waiting requests behind a canceled one', async () => {
    const places = new FairSemaphore(4);
    assert.ok(places.tryAcquire('a', 2));
    const leaving = new AbortController();
    const left = assert.rejects(places.acquire({ owner: 'b', signal: leaving.signal }, 4), {
      kind: 'query_cancelled',
    });
    const behind = places.acquire({ owner: 'c' });
    leaving.abort();
    await left;
    await behind;
    await assert.rejects(places.acquire({ owner: 'b', signal: leaving.signal }, 4), {
      kind: 'query_cancelled',
    });
    assert.equal(places.waitingCount, 0);
  });

  it('moves a slot to an owner that may have one more', () => {
    const places = new FairSemaphore(4);
    assert.equal(takeAll(places, 'a'), 2);
    assert.equal(places.transfer('a', 'b'), true);
    assert.equal(places.transfer('b', 'b'), true);
    assert.equal(places.tryAcquire('server'), true);
    assert.equal(places.transfer('server', 'a'), true);
    assert.equal(places.freeCount, 1);
    assert.equal(places.transfer('b', 'a'), false);
    places.release('a', 2);
    assert.deepEqual([places.tryAcquire('b'), places.tryAcquire('b')], [true, false]);
  });
});
