import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLogger, DiskFull } from '@plinth/kernel';
import { ManualClock } from '@plinth/kernel/testing';
import { ObstacleLog } from './obstacle-log.js';

it('logs once that a disk is full, and once that it has free space', async () => {
  const lines: string[] = [];
  const log = createLogger({
    level: 'info',
    destination: {
      write(line: string) {
        const { level, what, msg } = JSON.parse(line);
        lines.push([level, what, msg].join(' '));
      },
    },
  });
  const clock = new ManualClock();
  let full: Error | undefined;
  let readOnly: string | undefined;
  const watch = new ObstacleLog(clock, log, [
    { what: 'log', obstacle: () => readOnly },
    { what: 'store', obstacle: () => full },
  ]);
  await clock.advanceMs(5000);
  assert.equal(lines.length, 0);
  full = new DiskFull(undefined);
  await clock.advanceMs(5000);
  full = new DiskFull(undefined); // Another failed write.
  await clock.advanceMs(5000);
  full = undefined;
  readOnly = 'a sync failed';
  await clock.advanceMs(5000);
  const told = lines.map((line) => line.replace(/^\S+ /, ''));
  assert.deepEqual(told, [
    'store writes are refused',
    'log writes are refused',
    'store writes are accepted again',
  ]);
  watch.close();
  readOnly = undefined;
  await clock.advanceMs(5000);
  assert.equal(lines.length, 3);
});
