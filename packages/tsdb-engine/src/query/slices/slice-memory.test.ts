import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Release } from './memory-budget.js';
import { SliceMemory } from './slice-memory.js';

const MEBIBYTE = 2 ** 20;
const { signal } = new AbortController();

describe('SliceMemory', () => {
  it('is shared evenly with a minimum for every result', () => {
    const memory = new SliceMemory();
    const first = memory.begin();
    assert.equal(first.fittingBytes(), 256 * MEBIBYTE);
    first.setReservedBytes(250 * MEBIBYTE);
    const second = memory.begin();
    assert.equal(second.fittingBytes(), 6 * MEBIBYTE);
    second.setReservedBytes(6 * MEBIBYTE);
    const third = memory.begin();
    assert.equal(third.fittingBytes(), MEBIBYTE);
    // A result's own slice does not reduce its share, because the next slice replaces it.
    assert.equal(first.fittingBytes(), (256 * MEBIBYTE) / 3);
    first.setReservedBytes(20 * MEBIBYTE);
    assert.equal(third.fittingBytes(), (256 * MEBIBYTE) / 3);
    second.end();
    second.end();
    assert.equal(third.fittingBytes(), 128 * MEBIBYTE);
  });

  it('is tight with many results', () => {
    const memory = new SliceMemory();
    const rooms = Array.from({ length: 16 }, () => memory.begin());
    const [first, ...others] = rooms;
    assert.equal(first?.shouldCopy(), true);
    others[0]?.end();
    assert.equal(first?.shouldCopy(), false);
  });

  it('limits concurrent slices, in arrival order', async () => {
    const memory = new SliceMemory();
    const begun: number[] = [];
    const ends: Release[] = [];
    const controllers = Array.from({ length: 8 }, () => new AbortController());
    const turns = controllers.map(async (controller, index) => {
      ends[index] = await memory.begin().acquireSlot(controller);
      begun.push(index);
    });
    await setImmediate();
    assert.deepEqual(begun, [0, 1, 2, 3]);
    controllers[5]?.abort();
    await assert.rejects(turns[5] ?? Promise.resolve(), { kind: 'query_cancelled' });
    ends[1]?.();
    ends[1]?.();
    await setImmediate();
    assert.deepEqual(begun, [0, 1, 2, 3, 4]);
    // Aborting has no effect after the permit was granted.
    controllers[4]?.abort();
    for (const index of [0, 2]) ends[index]?.();
    await setImmediate();
    assert.deepEqual(begun, [0, 1, 2, 3, 4, 6, 7]);
    for (const index of [3, 4, 6, 7]) ends[index]?.();
    for (let i = 0; i < 4; i++) await memory.begin().acquireSlot({ signal });
    await assert.rejects(memory.begin().acquireSlot({ signal: AbortSignal.abort() }), {
      kind: 'query_cancelled',
    });
  });
});
