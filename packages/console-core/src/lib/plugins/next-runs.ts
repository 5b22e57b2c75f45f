import { CronSchedule } from '@plinth/kernel/cron';
import { parseDuration } from '../time/duration.js';

/** The kind of event that starts a trigger. */
export type ScheduleKind = 'write' | 'every' | 'cron' | 'request';

/** Returns the specification of a trigger, such as `every:1h`; empty while the value is missing. */
export function specificationOf(kind: ScheduleKind, value: string): string {
  const own = value.trim();
  if (kind === 'write') return own === '' ? 'all_tables' : `table:${own}`;
  return own === '' ? '' : `${kind}:${own}`;
}

/** Returns the problem with a cron expression; `undefined` for a valid or empty one. */
export const cronFault = (expression: string): string | undefined =>
  expression.trim() === '' ? undefined : CronSchedule.faultOf(expression);

/** Returns the next times in milliseconds; none without a schedule or for an invalid one. */
export function nextRuns(
  kind: ScheduleKind,
  value: string,
  options: { readonly nowMs: number; readonly count: number },
): readonly number[] {
  const next = nextOf(kind, value);
  const times: number[] = [];
  let at: number | undefined = options.nowMs;
  while (times.length < options.count) {
    at = next(at);
    if (at === undefined) break;
    times.push(at);
  }
  return times;
}

function nextOf(kind: ScheduleKind, value: string): (afterMs: number) => number | undefined {
  if (kind === 'cron') {
    const cron = CronSchedule.parse(value);
    return (afterMs) => cron?.nextMs(afterMs);
  }
  const intervalMs = kind === 'every' ? (parseDuration(value) ?? 0) * 1000 : 0;
  if (intervalMs === 0) return () => undefined;
  // Multiples of the interval since 1970, as on the server.
  return (afterMs) => (Math.floor(afterMs / intervalMs) + 1) * intervalMs;
}
