/** Schedule and time range of a continuous query. Times are in nanoseconds since 1970. */
export interface QueryTiming {
  /** Length of an interval; each result row aggregates the rows of one interval. */
  readonly intervalNs: bigint;
  readonly everyNs: bigint;
  readonly forNs: bigint | undefined;
  /** Returns the start of the interval that contains a time. */
  intervalStart(timeNs: bigint): bigint;
  /** Returns the last time at or before `timeNs` at which the query is due. */
  runStart(timeNs: bigint): bigint;
  /** Returns the first time after `timeNs` at which the query is due. */
  runEnd(timeNs: bigint): bigint;
}

/** The next run of a query. */
export interface QueryRun {
  /** The run computes rows from `fromNs` to before `toNs`; none if both are equal. */
  readonly fromNs: bigint;
  readonly toNs: bigint;
  /** The position after the run: the time at which it was due. */
  readonly positionNs: bigint;
  /** Number of intervals that are skipped because they are too old. */
  readonly skippedCount: number;
}

/**
 * Maximum age, in intervals, of missed intervals that are computed later. InfluxDB 1.x computes
 * none of them after a restart.
 */
export const MAX_MISSED_INTERVALS = 10_000n;

/**
 * Returns the run that is due, or `undefined` if none is. Follows the continuous query service of
 * InfluxDB 1.x, but a run covers at most `maxCount` missed intervals, so the next call returns
 * later ones.
 * @param positionNs position after the last run; `undefined` before the first one.
 * Source: query-languages, "Continuous queries".
 */
export function nextRun(
  timing: QueryTiming,
  options: {
    readonly positionNs: bigint | undefined;
    readonly nowNs: bigint;
    readonly maxCount: bigint;
  },
): QueryRun | undefined {
  const { intervalNs, everyNs, forNs } = timing;
  const longest = everyNs > intervalNs ? everyNs : intervalNs;
  const oldest = options.nowNs - MAX_MISSED_INTERVALS * longest;
  // A position in the future results from a clock that has since been set back.
  const known =
    options.positionNs !== undefined && options.positionNs <= options.nowNs
      ? options.positionNs
      : undefined;
  const isTooOld = known !== undefined && known < oldest;
  const position = isTooOld ? timing.runStart(oldest) : known;
  const dueNs = position === undefined ? options.nowNs : timing.runEnd(position);
  if (dueNs > options.nowNs) return undefined;
  const limit = dueNs + (options.maxCount - 1n) * longest;
  const nowNs = limit < options.nowNs ? limit : options.nowNs;
  const resampled = forNs ?? longest;
  const ahead = everyNs < intervalNs ? everyNs : intervalNs;
  const fromNs = timing.intervalStart(dueNs + intervalNs - resampled - 1n);
  const toNs = timing.intervalStart(nowNs + intervalNs - ahead);
  return {
    fromNs,
    toNs: toNs > fromNs ? toNs : fromNs,
    positionNs: timing.runStart(nowNs),
    skippedCount: isTooOld ? Number((oldest - known) / intervalNs) : 0,
  };
}
