// Source: docs/LIVE-QUERIES.md, "Resume a stream".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLogger } from '@plinth/kernel';
import { ManualClock } from '@plinth/kernel/testing';
import { LogRetention } from './log-retention.js';

const HOUR_MS = 3_600_000;

function open() {
  const clock = new ManualClock();
  const changes: string[] = [];
  const lines: string[] = [];
  const state = { isUsed: false, fails: false };
  const change = async (what: string): Promise<void> => {
    if (state.fails) throw new Error('full');
    changes.push(what);
  };
  const retention = new LogRetention({
    retainedLog: {
      startRetaining: () => change('start'),
      stopRetaining: () => change('stop'),
    },
    clock,
    log: createLogger({ level: 'warn', destination: { write: (line) => void lines.push(line) } }),
    isUsed: () => state.isUsed,
  });
  return { clock, changes, lines, state, retention };
}

it('stops an hour after the last live query, however short it was', async () => {
  const { clock, changes, retention } = open();
  await clock.advanceMs(HOUR_MS + 60_000);
  assert.deepEqual(changes, ['stop'], 'no live query has run since the start');
  await clock.advanceMs(10_000);
  retention.noteUse();
  await clock.advanceMs(20_000);
  retention.noteUse(); // the end
  await clock.advanceMs(HOUR_MS - 60_000);
  assert.deepEqual(changes, ['stop', 'start']);
  await clock.advanceMs(120_000);
  assert.deepEqual(changes, ['stop', 'start', 'stop']);
  await retention.close();
});

it('does not stop while a live query runs', async () => {
  const { clock, changes, state, retention } = open();
  retention.noteUse();
  state.isUsed = true;
  await clock.advanceMs(3 * HOUR_MS);
  assert.deepEqual(changes, ['start']);
  await retention.close();
});

it('tries a failed change again, and reports it', async () => {
  const { clock, changes, lines, state, retention } = open();
  state.fails = true;
  retention.noteUse();
  await clock.advanceMs(1);
  assert.match(lines.join(), /cannot retain or delete log files for live queries/);
  state.fails = false;
  retention.noteUse();
  await clock.advanceMs(1);
  assert.deepEqual(changes, ['start']);
  await retention.close();
});
