import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NS_PER_DAY } from '@plinth/tsdb-model/time/calendar.js';
import { dayOf, partitionsOf } from './partitions.js';

/** Returns the partitions that contain the starts of some days. */
const ofDays = (days: readonly bigint[]) =>
  partitionsOf((widthNs, limit) => {
    const numbers = days.map((day) => dayOf((day * NS_PER_DAY) / (widthNs / NS_PER_DAY)));
    return Promise.resolve([...new Set(numbers)].slice(0, limit));
  });

describe('partitions', () => {
  it('are UTC days, before 1970, too', async () => {
    assert.equal(dayOf(0n), 0n);
    assert.equal(dayOf(NS_PER_DAY - 1n), 0n);
    assert.equal(dayOf(-1n), -1n);
    assert.equal(dayOf(-NS_PER_DAY), -1n);
    assert.deepEqual(await ofDays([3n, -1n, 3n]), [
      { startNs: -NS_PER_DAY, widthNs: NS_PER_DAY },
      { startNs: 3n * NS_PER_DAY, widthNs: NS_PER_DAY },
    ]);
  });

  it('are wider if a flush would create too many', async () => {
    const days = Array.from({ length: 100 }, (_, i) => BigInt(i));
    const partitions = await ofDays(days);
    assert.ok(partitions.length <= 16);
    assert.ok(
      days.every(
        (day) =>
          partitions.filter(
            (c) => c.startNs <= day * NS_PER_DAY && day * NS_PER_DAY < c.startNs + c.widthNs,
          ).length === 1,
      ),
    );
  });

  it('are a single one for days spread over all time', async () => {
    const days = Array.from({ length: 20 }, (_, i) => BigInt(i * 5000));
    assert.deepEqual(await ofDays(days), [{ startNs: 0n, widthNs: 0n }]);
  });
});
