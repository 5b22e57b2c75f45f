import type { Logger } from '../log/logger.js';
import type { Clock } from './clock.js';

interface RepeatedJob {
  readonly clock: Clock;
  readonly log: Logger;
  /** What is done, as the log says it: `old records removed`. */
  readonly name: string;
  readonly intervalMs: number;
}

/**
 * `Clock.every` for a job that may fail for reasons of others, such as a database that is away: it is tried again at
 * the next turn. The log hears of the first failure and of the end of a series of them, not of each.
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
    if (failureCount > 0) log.info({ job: name, failureCount }, 'background job works again');
    failureCount = 0;
  });
}
