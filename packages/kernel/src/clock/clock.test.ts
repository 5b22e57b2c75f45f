import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '../testing/manual-clock.js';
import { SeededRandom } from '../testing/seeded-random.js';
import { SystemClock } from './system-clock.js';
import { SystemRandom } from './system-random.js';

describe('ManualClock', () => {
  it('resolves sleeps in time order, each at its time', async () => {
    const clock = new ManualClock(0);
    const woken: [string, number][] = [];
    void clock.sleep(20).then(() => woken.push(['b', clock.nowMs()]));
    void clock.sleep(10).then(() => woken.push(['a', clock.nowMs()]));
    await clock.advanceMs(15);
    assert.deepEqual(woken, [['a', 10]]);
    await clock.advanceMs(15);
    assert.deepEqual(woken, [
      ['a', 10],
      ['b', 20],
    ]);
    assert.equal(clock.nowNs(), 30_000_000n);
  });

  it('never overlaps runs of a repeated job, and stops when disposed', async () => {
    const clock = new ManualClock(0);
    let startCount = 0;
    let end = (): void => {};
    const handle = clock.every(10, () => {
      startCount += 1;
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    });
    await clock.advanceMs(50);
    assert.equal(startCount, 1);
    end();
    await clock.advanceMs(0);
    await clock.advanceMs(10);
    assert.equal(startCount, 2);
    end();
    await clock.advanceMs(0);
    handle[Symbol.dispose]();
    await clock.advanceMs(100);
    assert.equal(startCount, 2);
  });

  it('keeps the monotonic clock and pending timers when the wall clock is set', async () => {
    const clock = new ManualClock(0);
    let isWoken = false;
    void clock.sleep(10).then(() => {
      isWoken = true;
    });
    clock.stepWallMs(-5000);
    assert.equal(clock.nowMs(), -5000);
    assert.equal(clock.monotonicMs(), 0);
    await clock.advanceMs(10);
    assert.equal(isWoken, true);
  });
});

for (const [name, clock] of [
  ['ManualClock', new ManualClock()],
  ['SystemClock', new SystemClock()],
] as const) {
  it(`${name} rejects an aborted sleep with the reason of the signal`, async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    const sleeping = clock.sleep(60_000, abort.signal);
    abort.abort(reason);
    await assert.rejects(sleeping, (error) => error === reason);
    await assert.rejects(clock.sleep(1, abort.signal), (error) => error === reason);
  });
}

it('the nanoseconds of the system clock agree with its milliseconds', () => {
  const clock = new SystemClock();
  for (let count = 0; count < 50_000; count++) {
    const beforeMs = clock.nowMs();
    const ns = clock.nowNs();
    assert.ok(ns >= BigInt(beforeMs) * 1_000_000n, 'late');
    assert.ok(ns < BigInt(clock.nowMs() + 2) * 1_000_000n, 'early');
  }
});

for (const [name, random] of [
  ['SystemRandom', new SystemRandom({ nowMs: () => 1_700_000_000_000 })],
  ['SeededRandom', new SeededRandom(7, { nowMs: () => 1_700_000_000_000 })],
] as const) {
  describe(name, () => {
    it('creates version 7 ids that increase within one millisecond and contain its time', () => {
      const ids = Array.from({ length: 10_000 }, () => random.uuidV7());
      assert.deepEqual(ids, [...ids].sort());
      assert.equal(new Set(ids).size, ids.length);
      const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
      for (const id of ids) assert.match(id, shape);
      assert.equal(ids[0]?.slice(0, 13), '018bcfe5-6800');
    });

    it('creates version 4 ids, bytes of the requested size, and fractions below one', () => {
      assert.match(random.uuidV4(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-/);
      for (const sizeBytes of [0, 1, 7, 8, 4096, 5000]) {
        assert.equal(random.bytes(sizeBytes).length, sizeBytes);
      }
      const floats = Array.from({ length: 1000 }, () => random.float());
      assert.ok(floats.every((value) => value >= 0 && value < 1));
      assert.equal(new Set(floats).size, 1000);
    });
  });
}

it('the same seed gives the same sequence, another seed another', () => {
  const draw = (seed: number): string =>
    Buffer.from(new SeededRandom(seed).bytes(32)).toString('hex');
  assert.equal(draw(1), draw(1));
  assert.notEqual(draw(1), draw(2));
});
