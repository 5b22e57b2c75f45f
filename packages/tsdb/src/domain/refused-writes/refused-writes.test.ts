// Source: tsdb-http, "Refused rows".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLogger, Metrics } from '@plinth/kernel';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import type { WriteOutcome } from '@plinth/tsdb-model/engine.js';
import type { RefusedLine } from '@plinth/tsdb-model/refused-line.js';
import { RefusedWrites } from './refused-writes.js';

const line = (lineNumber: number, reason: RefusedLine['reason']): RefusedLine => ({
  lineNumber,
  originalLine: `m v=${lineNumber}`,
  message: 'why',
  reason,
});
const outcome = (lineCount: number, refused: readonly RefusedLine[]): WriteOutcome => ({
  lineCount,
  writtenCount: 0,
  refused,
});
const REQUEST = { database: 'd', access: FULL_ACCESS, acceptPartial: true };

function setUp() {
  const logged: Record<string, unknown>[] = [];
  const time = { nowMs: 0 };
  const clock = { nowNs: () => 5n, monotonicMs: () => time.nowMs };
  const metrics = new Metrics();
  const destination = { write: (text: string) => void logged.push(JSON.parse(text)) };
  const log = createLogger({ level: 'info', destination, isText: false });
  return { refusedWrites: new RefusedWrites({ clock, log, metrics }), logged, time, metrics };
}

it('counts every refused row by protocol and reason', async () => {
  const { refusedWrites, metrics } = setUp();
  refusedWrites.note(REQUEST, outcome(2, [line(1, 'syntax'), line(2, 'limit')]));
  // Only the first of 1,500 refused rows are known in detail.
  const first = Array.from({ length: 1000 }, (_, i) => line(i + 1, 'type_conflict'));
  refusedWrites.note({ ...REQUEST, format: 'remote_write' }, outcome(1500, first));
  refusedWrites.note({ ...REQUEST, acceptPartial: false }, outcome(5, [line(3, 'syntax')]));
  const { text: page } = await metrics.page();
  const value = (protocol: string, reason: string) =>
    new RegExp(
      `^plinth_tsdb_refused_rows_total{protocol="${protocol}",reason="${reason}"} (\\d+)$`,
      'm',
    ).exec(page)?.[1];
  assert.equal(value('line_protocol', 'syntax'), '2');
  assert.equal(value('line_protocol', 'limit'), '1');
  assert.equal(value('line_protocol', 'not_partial'), '4');
  assert.equal(value('remote_write', 'type_conflict'), '1500');
  assert.equal(value('opentelemetry', 'syntax'), '0');
});

it('keeps the last 1,000 rows, oldest first', () => {
  const { refusedWrites } = setUp();
  for (let from = 1; from <= 1500; from += 500) {
    const lines = Array.from({ length: 500 }, (_, i) => line(from + i, 'syntax'));
    refusedWrites.note(REQUEST, outcome(500, lines));
  }
  const kept = refusedWrites.entries().map(({ lineNumber }) => lineNumber);
  assert.deepEqual(
    kept,
    Array.from({ length: 1000 }, (_, i) => 501 + i),
  );
});

it('forgets the rows of deleted databases', () => {
  const { refusedWrites } = setUp();
  for (const database of ['gone', 'd'])
    for (let i = 0; i < 3; i++)
      refusedWrites.note({ ...REQUEST, database }, outcome(1, [line(i, 'syntax')]));
  refusedWrites.keepOnly((name) => name === 'd');
  refusedWrites.note(REQUEST, outcome(1, [line(9, 'syntax')]));
  assert.deepEqual(
    refusedWrites.entries().map(({ database, lineNumber }) => [database, lineNumber]),
    [0, 1, 2, 9].map((lineNumber) => ['d', lineNumber]),
  );
});

it('logs once a minute for each reason, without the row', () => {
  const { refusedWrites, logged, time } = setUp();
  const note = () => refusedWrites.note(REQUEST, outcome(1, [line(7, 'syntax')]));
  note();
  note();
  time.nowMs = 59_999;
  note();
  assert.equal(logged.length, 1);
  time.nowMs = 60_000;
  note();
  assert.deepEqual(
    logged.map(({ msg, reason, rowCount, lineNumber }) => [msg, reason, rowCount, lineNumber]),
    [
      ['rows refused', 'syntax', 1, 7],
      ['rows refused', 'syntax', 3, 7],
    ],
  );
  assert.ok(!JSON.stringify(logged).includes('m v=7'));
});

it('keeps and logs the start of a long message', () => {
  const { refusedWrites, logged } = setUp();
  const refused = [{ ...line(1, 'syntax'), message: 'x'.repeat(100_000) }];
  refusedWrites.note(REQUEST, outcome(1, refused));
  assert.equal(refusedWrites.entries()[0]?.message.length, 1000);
  assert.equal(String(logged[0]?.['message']).length, 1000);
});
