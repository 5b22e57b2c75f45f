import { followTable } from '@plinth/console-core/api/live-query.js';
import type { Result } from '@plinth/console-core/api/result-runner.js';
import { session } from '@plinth/console-core/api/session.js';
import { countText, timeText } from '@plinth/console-core/lib/units.js';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';

const LEAST_WAIT_MS = 2000;
/** The minimum wait if rows were written. */
const LEAST_LIVE_WAIT_MS = 250;
/** The wait is four times the query's duration, so that queries run at most a fifth of the time. */
const WAIT_SHARE = 4;
const AFTER_FAILURE_MS = 10_000;

export interface Follow {
  readonly statusText: string;
  /** The announcement for screen readers when following pauses and resumes. */
  readonly spoken: string;
  /** Rows after this time are new in this result; `undefined` before the second result. */
  readonly newAfter: bigint | undefined;
  readonly onReading: (isReading: boolean) => void;
}

/**
 * Reruns the query while the user looks at the newest rows, and marks the new ones: when rows of its table were written,
 * or regularly if the query reads several tables or the live query is unavailable.
 */
export function useFollow(options: {
  readonly isOn: boolean;
  readonly db: string;
  /** The table that the query reads. */
  readonly table: string | undefined;
  readonly isRunning: boolean;
  readonly hasFailed: boolean;
  readonly result: Result | undefined;
  readonly refresh: () => void;
}): Follow {
  const { isOn, isRunning, hasFailed, result, db, table } = options;
  const latest = useRef(options);
  latest.current = options;
  const [isReading, onReading] = useState(false);
  const { isLive, changeCount, refusal } = useTableChanges(isOn ? { db, table } : undefined);
  const latestCount = useRef(changeCount);
  latestCount.current = changeCount;
  // The number of changes that the result contains.
  const [seenCount, setSeenCount] = useState(0);
  const isUnchanged = isLive && changeCount === seenCount && !hasFailed;
  const leastMs = isLive ? LEAST_LIVE_WAIT_MS : LEAST_WAIT_MS;
  const least = Math.max(leastMs, WAIT_SHARE * (result?.totalMs ?? 0));
  const waitMs = hasFailed ? AFTER_FAILURE_MS : least;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each result restarts the timer.
  useEffect(() => {
    if (!isOn || isRunning || isReading || isUnchanged) return;
    let timer: ReturnType<typeof setTimeout>;
    const refresh = () => {
      if (document.visibilityState === 'visible') {
        setSeenCount(latestCount.current);
        latest.current.refresh();
      } else timer = setTimeout(refresh, waitMs);
    };
    timer = setTimeout(refresh, waitMs);
    return () => clearTimeout(timer);
  }, [isOn, isRunning, isReading, isUnchanged, waitMs, result]);
  const [seen, setSeen] = useState<Seen | undefined>();
  useEffect(() => {
    if (!isOn || result === undefined) {
      setSeen(undefined);
      return;
    }
    const times = timesOf(result);
    const newest = newestOf(times);
    setSeen((last) => {
      // Rows stay marked until newer rows arrive.
      const isSame = last?.newAfter !== undefined && last.newest === newest;
      const newAfter = isSame ? last.newAfter : last?.newest;
      return { newest, newAfter, newCount: countNewer(times, newAfter), atMs: Date.now() };
    });
  }, [isOn, result]);
  if (!isOn || seen === undefined)
    return { statusText: '', spoken: '', newAfter: undefined, onReading };
  const { newAfter, newCount, atMs } = seen;
  const paused = 'paused while you scroll; return to the first row to resume';
  const statusText = isReading
    ? paused
    : `${isLive ? 'live' : pollText(waitMs, refusal)}, last update at ${timeText(atMs).slice(11)} UTC: ${countText(newCount)} new ${newCount === 1 ? 'row' : 'rows'}`;
  return { statusText, spoken: isReading ? paused : 'following', newAfter, onReading };
}

/** Counts the changes of the table since following was enabled. */
function useTableChanges(
  target: { readonly db: string; readonly table: string | undefined } | undefined,
): {
  readonly isLive: boolean;
  readonly changeCount: number;
  /** The error message of a rejected live query. */
  readonly refusal: string | undefined;
} {
  const [isLive, setIsLive] = useState(false);
  const [refusal, setRefusal] = useState<string | undefined>();
  const [changeCount, setChangeCount] = useState(0);
  const { db, table } = target ?? {};
  const token = useSyncExternalStore(session.subscribe, session.snapshot);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new token may be permitted to query the table.
  useEffect(() => {
    if (db === undefined || table === undefined || session.isRefused) return;
    const onChange = () => setChangeCount((count) => count + 1);
    const stop = followTable({ db, table, onChange, onLive: setIsLive, onRefused: setRefusal });
    return () => {
      stop();
      setIsLive(false);
      setRefusal(undefined);
    };
  }, [db, table, token]);
  return { isLive, changeCount, refusal };
}

function pollText(waitMs: number, refusal: string | undefined): string {
  const text = `refreshed every ${Math.round(waitMs / 1000)} s`;
  return refusal === undefined ? text : `${text}, because the live query was rejected (${refusal})`;
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
