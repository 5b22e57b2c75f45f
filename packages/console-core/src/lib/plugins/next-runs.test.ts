// Source: docs/spec, processing engine: trigger specification grammar, cron grammar, scheduling.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cronFault, nextRuns, type ScheduleKind, specificationOf } from './next-runs.js';

describe('Schedules of triggers', () => {
  it('are written as specifications', () => {
    for (const [kind, value, text] of [
      ['write', '', 'all_tables'],
      ['write', ' cpu ', 'table:cpu'],
      ['every', '90s', 'every:90s'],
      ['every', ' ', ''],
      ['cron', '0 0 6 * * *', 'cron:0 0 6 * * *'],
      ['request', 'hook', 'request:hook'],
    ] as const) {
      assert.equal(specificationOf(kind, value), text);
    }
  });

  it('have next runs in UTC', () => {
    const nowMs = Date.parse('2026-11-30T19:52:10Z'); // a Monday
    const times = (kind: ScheduleKind, value: string) =>
      nextRuns(kind, value, { nowMs, count: 3 }).map((ms) => new Date(ms).toISOString());
    assert.deepEqual(times('every', '1h'), [
      '2026-11-30T20:00:00.000Z',
      '2026-11-30T21:00:00.000Z',
      '2026-11-30T22:00:00.000Z',
    ]);
    assert.deepEqual(times('cron', '0 30 6 * * 1-5'), [
      '2026-12-01T06:30:00.000Z',
      '2026-12-02T06:30:00.000Z',
      '2026-12-03T06:30:00.000Z',
    ]);
    assert.deepEqual(times('cron', '0 0 0 1 1 * 2027'), ['2027-01-01T00:00:00.000Z']);
    for (const value of ['', '0s', 'sometimes']) assert.deepEqual(times('every', value), []);
    assert.deepEqual(times('cron', '* *'), []);
    assert.deepEqual(times('write', '1h'), []);
  });

  it('report invalid cron expressions', () => {
    assert.match(cronFault('0 6 * * *') ?? '', /write "0 0 6 \* \* \*"/);
    assert.equal(cronFault(' '), undefined);
    assert.equal(cronFault('@daily'), undefined);
  });
});
