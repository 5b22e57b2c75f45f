import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { QueryCancelled } from '../../errors.js';
import { type GiveBack, HeldMemory } from './held-memory.js';

const MEBIBYTE = 2 ** 20;
const { signal } = new AbortController();

describe('memory held by sorts and answers', () => {
  it('lets sorts begin in order of arrival as there is room, and a huge one when it is alone', async () => {
    const held = new HeldMemory();
    const begun: string[] = [];
    const givenBy = new Map<string, GiveBack>();
    const begin = async (name: string, mebibytes: number): Promise<void> => {
      givenBy.set(name, await held.takeForSort(mebibytes * MEBIBYTE, signal));
      begun.push(name);
    };
    void begin('a', 200);
    void begin('huge', 5000);
    void begin('b', 50);
    void begin('tiny', 1);
    await setImmediate();
    assert.deepEqual(begun, ['a', 'tiny']);
    givenBy.get('a')?.();
    // A second time changes nothing.
    givenBy.get('a')?.();
    await setImmediate();
    assert.deepEqual(begun, ['a', 'tiny', 'huge']);
    givenBy.get('huge')?.();
    await setImmediate();
    assert.deepEqual(begun, ['a', 'tiny', 'huge', 'b']);
  });

  it('lets those behind go on when one leaves the line', async () => {
    const held = new HeldMemory();
    await held.takeForSort(200 * MEBIBYTE, signal);
    const leaving = new AbortController();
    const left = assert.rejects(held.takeForSort(100 * MEBIBYTE, leaving.signal), QueryCancelled);
    const next = held.takeForSort(50 * MEBIBYTE, signal);
    leaving.abort();
    await left;
    await next;
    await assert.rejects(held.takeForSort(50 * MEBIBYTE, leaving.signal), QueryCancelled);
  });

  it('takes answers over while there is room for all of one', () => {
    const held = new HeldMemory();
    assert.equal(held.takeForAnswer(17 * MEBIBYTE), undefined);
    const taken = Array.from({ length: 32 }, () => held.takeForAnswer(16 * MEBIBYTE));
    assert.ok(taken.every((each) => each !== undefined));
    assert.equal(held.takeForAnswer(1), undefined);
    taken[0]?.();
    assert.ok(held.takeForAnswer(16 * MEBIBYTE));
  });
});
