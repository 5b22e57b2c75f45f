import { useEffect, useRef, useState } from 'react';
import type { Result } from '../../api/result-runner.js';
import { countText, timeText } from '../../lib/units.js';

const LEAST_WAIT_MS = 2000;
/** Waits four times the query's duration, so that it runs at most a fifth of the time. */
const WAIT_SHARE = 4;
const AFTER_FAILURE_MS = 10_000;

export interface Follow {
  readonly statusText: string;
  /** Announced to screen readers: when following pauses and resumes. */
  readonly spoken: string;
  /** Rows after this time are new in this result; `undefined` before the second result. */
  readonly newAfter: bigint | undefined;
  readonly onReading: (isReading: boolean) => void;
}

/** Reruns the query while the user looks at the newest rows, and marks the new ones. */
export function useFollow(at: {
  readonly isOn: boolean;
  readonly isRunning: boolean;
  readonly hasFailed: boolean;
  readonly result: Result | undefined;
  readonly refresh: () => void;
}): Follow {
  const { isOn, isRunning, hasFailed, result } = at;
  const latest = useRef(at);
  latest.current = at;
  const [isReading, onReading] = useState(false);
  const least = Math.max(LEAST_WAIT_MS, WAIT_SHARE * (result?.totalMs ?? 0));
  const waitMs = hasFailed ? AFTER_FAILURE_MS : least;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each result restarts the timer.
  useEffect(() => {
    if (!isOn || isRunning || isReading) return;
    let timer: ReturnType<typeof setTimeout>;
    const refresh = () => {
      if (document.visibilityState === 'visible') latest.current.refresh();
      else timer = setTimeout(refresh, waitMs);
    };
    timer = setTimeout(refresh, waitMs);
    return () => clearTimeout(timer);
  }, [isOn, isRunning, isReading, waitMs, result]);
  const [seen, setSeen] = useState<Seen | undefined>();
  useEffect(() => {
    if (!isOn || result === undefined) {
      setSeen(undefined);
      return;
    }
    const times = timesOf(result);
    const newest = newestOf(times);
    setSeen((last) => {
      const newAfter = last?.newest;
      return { newest, newAfter, newCount: countNewer(times, newAfter), atMs: Date.now() };
    });
  }, [isOn, result]);
  if (!isOn || seen === undefined)
    return { statusText: '', spoken: '', newAfter: undefined, onReading };
  const { newAfter, newCount, atMs } = seen;
  const paused = 'paused while you scroll; return to the first row to resume';
  const statusText = isReading
    ? paused
    : `refreshed every ${Math.round(waitMs / 1000)} s, last at ${timeText(atMs).slice(11)} UTC: ${countText(newCount)} new ${newCount === 1 ? 'row' : 'rows'}`;
  return { statusText, spoken: isReading ? paused : 'following', newAfter, onReading };
}

interface Seen {
  readonly newest: bigint | undefined;
  /** The last time of the previous result. */
  readonly newAfter: bigint | undefined;
  readonly newCount: number;
  readonly atMs: number;
}

function timesOf(result: Result | undefined): BigInt64Array | undefined {
  const { columns, timeIndex } = result?.frame ?? {};
  const column = timeIndex === undefined ? undefined : columns?.[timeIndex];
  return column?.kind === 'time' ? column.values : undefined;
}

function newestOf(times: BigInt64Array | undefined): bigint | undefined {
  let newest: bigint | undefined;
  for (const time of times ?? []) if (newest === undefined || time > newest) newest = time;
  return newest;
}

function countNewer(times: BigInt64Array | undefined, after: bigint | undefined): number {
  if (after === undefined) return 0;
  let count = 0;
  for (const time of times ?? []) if (time > after) count++;
  return count;
}
