import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '@plinth/kernel/testing';
import { MemoryWaitQueue } from './memory-wait-queue.js';

describe('writes that wait for room', () => {
  it('retry in arrival order', async () => {
    const waits = new MemoryWaitQueue(new ManualClock(), 100);
    const woken: number[] = [];
    const all = [1, 2, 3].map(async (number) => {
      await waits.next(10, 1000);
      woken.push(number);
    });
    waits.wake();
    await Promise.all(all);
    assert.deepEqual(woken, [1, 2, 3]);
  });

  it('resume at their deadline, and are rejected afterwards', async () => {
    const clock = new ManualClock();
    const waits = new MemoryWaitQueue(clock, 100);
    const latestMs = clock.monotonicMs() + 50;
    const waiting = waits.next(10, latestMs);
    await clock.advanceMs(50);
    await waiting;
    await assert.rejects(waits.next(10, latestMs), { kind: 'buffer_full' });
    const next = waits.next(100, latestMs + 50); // needs the memory of the write that resumed
    waits.wake();
    await next;
  });

  it('are rejected immediately while too many bytes wait', async () => {
    const clock = new ManualClock();
    const waits = new MemoryWaitQueue(clock, 100);
    const first = waits.next(90, 1000);
    await assert.rejects(waits.next(11, 1000), { kind: 'buffer_full' });
    waits.wake();
    await first;
    const second = waits.next(100, 1000);
    waits.wake();
    await second;
  });
});
