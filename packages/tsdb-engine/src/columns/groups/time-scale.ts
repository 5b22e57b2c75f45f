import type { LoadedRows } from '../load/loaded-rows.js';

/**
 * A common time scale for several parts: the time of a row in ticks is `starts[source] + offset *
 * factors[source]`.
 */
export interface TimeScale {
  readonly starts: Float64Array;
  readonly factors: Float64Array;
  /** Timestamp of tick 0, and the duration of a tick. */
  readonly baseNs: bigint;
  readonly unitNs: bigint;
  /** Upper bound of the ticks of all rows. */
  readonly lastTick: number;
}

/**
 * Returns the scale of these sources; `undefined` if their timestamps are too far apart to be
 * distinct as doubles.
 */
export function timeScale(
  loaded: readonly LoadedRows[],
  sources: Iterable<number>,
): TimeScale | undefined {
  const starts = new Float64Array(loaded.length);
  const factors = new Float64Array(loaded.length).fill(1);
  const used = [...new Set(sources)].map((source) => ({
    source,
    part: (loaded[source] as LoadedRows).part,
  }));
  const [first] = used;
  if (first === undefined) return { starts, factors, lastTick: 0, baseNs: 0n, unitNs: 1n };
  const baseNs = used.reduce(
    (min, { part }) => (part.baseNs < min ? part.baseNs : min),
    first.part.baseNs,
  );
  // The scale's unit divides every part's unit and the distances between their base times.
  let unitNs = 0n;
  for (const { part } of used) {
    unitNs = greatestDivisor(unitNs, BigInt(part.unitNs));
    unitNs = greatestDivisor(unitNs, part.baseNs - baseNs);
  }
  let lastTick = 0;
  // All rows have the same timestamp.
  if (unitNs === 0n) unitNs = 1n;
  for (const { source, part } of used) {
    const start = Number((part.baseNs - baseNs) / unitNs);
    const factor = Number(BigInt(part.unitNs) / unitNs);
    starts[source] = start;
    factors[source] = factor;
    lastTick = Math.max(lastTick, start + part.maxOffset * factor);
  }
  return Number.isSafeInteger(lastTick) ? { starts, factors, lastTick, baseNs, unitNs } : undefined;
}

function greatestDivisor(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}
