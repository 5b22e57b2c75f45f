// Source: query-languages, "Continuous queries"; the times are those of the examples in the manual of InfluxDB 1.8.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readContinuousQuery } from './continuous-query.js';
import { MAX_MISSED_INTERVALS, nextRun, type QueryTiming } from './query-timing.js';

const DAY = '2016-08-28';

const ns = (time: string): bigint =>
  BigInt(Date.parse(time.includes('T') ? time : `${DAY}T${time}Z`)) * 1_000_000n;

const text = (timeNs: bigint): string =>
  new Date(Number(timeNs / 1_000_000n)).toISOString().slice(11, 16);

const timingOf = (resample: string, groupBy: string): QueryTiming =>
  readContinuousQuery(
    `CREATE CONTINUOUS QUERY q ON d ${resample} BEGIN SELECT mean(v) INTO t FROM s GROUP BY ${groupBy} END`,
  ).timing;

/** Returns the computed range at each time, as `from-to`, or `-` if nothing is computed. */
function rangesAt(timing: QueryTiming, times: readonly string[], maxCount = 1000n): string[] {
  let positionNs: bigint | undefined;
  return times.map((time) => {
    const run = nextRun(timing, { positionNs, nowNs: ns(time), maxCount });
    if (run === undefined) return '-';
    positionNs = run.positionNs;
    return run.fromNs === run.toNs ? '-' : `${text(run.fromNs)}-${text(run.toNs)}`;
  });
}

describe('time ranges of continuous queries', () => {
  it('computes the last interval at its end', () => {
    const times = ['07:10', '08:00', '08:20', '09:00'];
    assert.deepEqual(rangesAt(timingOf('', 'time(1h)'), times), [
      '-',
      '07:00-08:00',
      '-',
      '08:00-09:00',
    ]);
  });

  it('moves intervals and runs by the offset', () => {
    assert.deepEqual(rangesAt(timingOf('', 'time(1h, 15m)'), ['08:00', '08:15', '09:15']), [
      '-',
      '07:15-08:15',
      '08:15-09:15',
    ]);
  });

  it('computes the current interval again with a shorter EVERY', () => {
    const timing = timingOf('RESAMPLE EVERY 30m', 'time(1h)');
    assert.deepEqual(rangesAt(timing, ['08:00', '08:30', '09:00']), [
      '07:00-08:00',
      '08:00-09:00',
      '08:00-09:00',
    ]);
  });

  it('computes several intervals with a longer EVERY', () => {
    const timing = timingOf('RESAMPLE EVERY 1h', 'time(30m)');
    assert.deepEqual(rangesAt(timing, ['08:00', '08:30', '09:00']), [
      '07:00-08:00',
      '-',
      '08:00-09:00',
    ]);
  });

  it('computes earlier intervals again with FOR', () => {
    const half = timingOf('RESAMPLE FOR 1h', 'time(30m)');
    assert.deepEqual(rangesAt(half, ['08:00', '08:30', '09:00']), [
      '07:00-08:00',
      '07:30-08:30',
      '08:00-09:00',
    ]);
    const both = timingOf('RESAMPLE EVERY 1h FOR 90m', 'time(30m)');
    assert.deepEqual(rangesAt(both, ['08:00', '09:00']), ['06:30-08:00', '07:30-09:00']);
  });

  it('starts with the last complete intervals when FOR is longer than one', () => {
    const timing = timingOf('RESAMPLE FOR 2h', 'time(1h)');
    assert.deepEqual(rangesAt(timing, ['07:35', '08:00']), ['06:00-07:00', '06:00-08:00']);
  });

  it('computes missed intervals later, with a limited number in each run', () => {
    const timing = timingOf('', 'time(10m)');
    assert.deepEqual(rangesAt(timing, ['07:00', '08:00'], 1000n), ['06:50-07:00', '07:00-08:00']);
    const steps = ['07:00', '08:00', '08:00', '08:00', '08:00', '08:00'];
    assert.deepEqual(rangesAt(timing, steps, 2n), [
      '06:50-07:00',
      '07:00-07:20',
      '07:20-07:40',
      '07:40-08:00',
      '-',
      '-',
    ]);
  });

  it('skips intervals that are too old', () => {
    const timing = timingOf('', 'time(1s)');
    const nowNs = ns('12:00');
    const positionNs = nowNs - (MAX_MISSED_INTERVALS + 100n) * 1_000_000_000n;
    const run = nextRun(timing, { positionNs, nowNs, maxCount: 100_000n });
    assert.deepEqual(run, {
      fromNs: nowNs - MAX_MISSED_INTERVALS * 1_000_000_000n,
      toNs: nowNs,
      positionNs: nowNs,
      skippedCount: 100,
    });
  });

  it('continues when the clock was set back', () => {
    const timing = timingOf('', 'time(10m)');
    const run = nextRun(timing, { positionNs: ns('09:00'), nowNs: ns('08:05'), maxCount: 1000n });
    assert.equal(run?.positionNs, ns('08:00'));
  });

  it('follows the days of a time zone, also when the clocks change', () => {
    const { timing } = readContinuousQuery(
      "CREATE CONTINUOUS QUERY q ON d BEGIN SELECT mean(v) INTO t FROM s GROUP BY time(1d) tz('Europe/Berlin') END",
    );
    // 2016-10-30 has 25 hours in Berlin.
    const at = (time: string, position: string) =>
      nextRun(timing, { positionNs: ns(position), nowNs: ns(time), maxCount: 1000n });
    const before = '2016-10-29T22:00:00Z';
    assert.equal(at('2016-10-30T22:59:59Z', before), undefined);
    const run = at('2016-10-30T23:00:00Z', before);
    assert.equal(run?.fromNs, ns('2016-10-29T22:00:00Z'));
    assert.equal(run?.toNs, ns('2016-10-30T23:00:00Z'));
  });
});

describe('statements of continuous queries', () => {
  it('replaces time conditions with the time range', () => {
    const { selectFor } = readContinuousQuery(
      `CREATE CONTINUOUS QUERY q ON d BEGIN SELECT mean(v) INTO t FROM s WHERE (host = 'a' OR host =~ /b/) AND time > now() - 1h GROUP BY time(1m), host END`,
    );
    assert.equal(
      selectFor({ fromNs: 60_000_000_000n, toNs: 120_000_000_000n }),
      `SELECT mean(v) INTO t FROM s WHERE ((host = 'a' OR host =~ /b/)) AND time >= 60000000000 AND time < 120000000000 GROUP BY time(1m), host`,
    );
  });
});
