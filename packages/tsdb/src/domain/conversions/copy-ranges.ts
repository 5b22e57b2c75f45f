import type { TimeSpan } from '@plinth/tsdb-model/segment.js';
import type { TimeRange } from './dirty-times.js';

/** Returns the parts of spans in a time range. Assumes that the rows of each span are distributed evenly. */
export function spansWithin(spans: readonly TimeSpan[], range: TimeRange): TimeSpan[] {
  return spans.flatMap(({ minTime: from, maxTime: to, rowCount }) => {
    const minTime = from > range.minTimeNs ? from : range.minTimeNs;
    const maxTime = to < range.maxTimeNs ? to : range.maxTimeNs;
    if (minTime > maxTime) return [];
    const share = (Number(maxTime - minTime) + 1) / (Number(to - from) + 1);
    return [{ minTime, maxTime, rowCount: Math.ceil(rowCount * share) }];
  });
}

/**
 * Splits the time range of a table so that each part contains about `rowCount` rows, if the rows of each span are
 * distributed evenly. Rows with the same timestamp stay together.
 */
export function copyRanges(spans: readonly TimeSpan[], rowCount: number): TimeRange[] {
  const edges = spans
    .filter((span) => span.rowCount > 0)
    .flatMap(({ minTime, maxTime, rowCount: rows }) => {
      const density = rows / (Number(maxTime - minTime) + 1);
      return [
        { time: minTime, change: density },
        { time: maxTime + 1n, change: -density },
      ];
    })
    .sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  const ranges: TimeRange[] = [];
  let density = 0;
  let start = edges[0]?.time ?? 0n;
  let rows = 0;
  for (const [i, { time, change }] of edges.entries()) {
    let from = edges[i - 1]?.time ?? time;
    // Widths are rounded down, so the last part of a span also contains the rows lost to rounding.
    while (density > 0 && rows + Number(time - from) * density > rowCount) {
      const width = BigInt(Math.max(1, Math.floor((rowCount - rows) / density)));
      const end = from + width < time ? from + width : time;
      ranges.push({ minTimeNs: start, maxTimeNs: end - 1n });
      [start, from, rows] = [end, end, 0];
      if (end === time) break;
    }
    rows += Number(time - from) * density;
    density = Math.max(0, density + change);
  }
  const end = edges.at(-1)?.time;
  if (end !== undefined && start < end) ranges.push({ minTimeNs: start, maxTimeNs: end - 1n });
  return ranges;
}
