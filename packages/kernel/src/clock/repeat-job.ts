import type { Logger } from '../log/logger.js';
import type { Clock } from './clock.js';

interface RepeatedJob {
  readonly clock: Clock;
  readonly log: Logger;
  /** Name of the job in the log, such as `old records removed`. */
  readonly name: string;
  readonly intervalMs: number;
}

/**
 * `Clock.every` for a job with expected failures, such as an unavailable database. It runs again at the next interval.
 * Only the first failure of a series and the recovery are logged.
 */
export function repeatJob(
  { clock, log, name, intervalMs }: RepeatedJob,
  run: () => Promise<void>,
): Disposable {
  let failureCount = 0;
  return clock.every(intervalMs, async () => {
    try {
      await run();
    } catch (err) {
      if (failureCount === 0) log.error({ err, job: name }, 'background job failed');
      failureCount += 1;
      return;
    }
    if (failureCount > 0) log.info({ job: name, failureCount }, 'background job recovered');
    failureCount = 0;
  });
}
