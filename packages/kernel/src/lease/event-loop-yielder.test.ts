import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { EventLoopYielder } from './event-loop-yielder.js';

describe('EventLoopYielder', () => {
  it('runs one piece per event-loop tick, in call order', async () => {
    const yielder = new EventLoopYielder();
    const begun: string[] = [];
    const work = async (name: string, pieceCount: number): Promise<void> => {
      for (let piece = 0; piece < pieceCount; piece++) {
        await yielder.next();
        begun.push(name);
      }
    };
    const all = Promise.all([work('a', 3), work('b', 2), work('c', 1)]);
    let seen = 0;
    for (let round = 0; round < 20 && begun.length < 6; round++) {
      await setImmediate();
      assert.ok(begun.length - seen <= 1, `${begun.slice(seen)} ran in one tick`);
      seen = begun.length;
    }
    await all;
    assert.deepEqual(begun, ['a', 'b', 'c', 'a', 'b', 'a']);
  });

  it('continues after it was idle', async () => {
    const yielder = new EventLoopYielder();
    await yielder.next();
    await setImmediate();
    await yielder.next();
  });
});
