import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLogger } from '../log/logger.js';
import { ManualClock } from '../testing/manual-clock.js';
import { repeatJob } from './repeat-job.js';

it('retries a failing job, and logs the first failure and the recovery', async () => {
  const clock = new ManualClock(0);
  const lines: { msg: string; failureCount?: number }[] = [];
  const log = createLogger({
    level: 'info',
    destination: { write: (line) => void lines.push(JSON.parse(line)) },
  });
  let runCount = 0;
  const job = repeatJob({ clock, log, name: 'test', intervalMs: 10 }, async () => {
    runCount += 1;
    if (runCount > 1 && runCount < 5) throw new Error('the database is unavailable');
  });
  for (let turn = 0; turn < 6; turn++) await clock.advanceMs(10);
  job[Symbol.dispose]();
  await clock.advanceMs(100);
  assert.equal(runCount, 6);
  assert.deepEqual(
    lines.map(({ msg, failureCount }) => [msg, failureCount]),
    [
      ['background job failed', undefined],
      ['background job recovered', 3],
    ],
  );
});
