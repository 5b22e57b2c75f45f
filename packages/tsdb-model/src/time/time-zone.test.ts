import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instantOfLocal, offsetNsAt } from './time-zone.js';

const NS = 1_000_000_000n;

describe('offsets of a time zone', () => {
  const hoursAt = (zone: string, second: number) =>
    Number(offsetNsAt(zone, BigInt(second) * NS)) / 3.6e12;

  // Source: the tz database.
  it('change at the second of a transition', () => {
    for (const [zone, second, before, after] of [
      ['Europe/Berlin', 1_711_846_800, 1, 2],
      ['Europe/Berlin', 1_729_990_800, 2, 1],
      ['America/New_York', 1_710_054_000, -5, -4],
      ['Australia/Lord_Howe', 1_712_415_600, 11, 10.5],
    ] as const) {
      assert.equal(hoursAt(zone, second - 1), before, zone);
      assert.equal(hoursAt(zone, second), after, zone);
    }
  });

  it('change back within a week', () => {
    assert.deepEqual(
      [970_973_999, 970_974_000, 971_575_199, 971_575_200].map((at) =>
        hoursAt('America/Recife', at),
      ),
      [-3, -2, -2, -3],
    );
  });

  it('are computed once for local times of many days', ({ mock }) => {
    const computed = mock.method(Intl.DateTimeFormat.prototype, 'formatToParts');
    const find = (): void => {
      for (let i = 0n; i < 2048n; i++) instantOfLocal('Europe/Paris', i * 86_400n * NS);
    };
    find();
    const count = computed.mock.callCount();
    find();
    // Only the days around a change are computed again.
    assert.ok(computed.mock.callCount() - count < count / 4, `${computed.mock.callCount()}`);
  });
});
