/** A time span, both ends included. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Assigns spans, ascending by start, to as few rows as possible without overlaps. @returns the row of each span. */
export function rowsOf(spans: readonly Span[]): number[] {
  const ends: number[] = [];
  return spans.map(({ from, to }) => {
    const free = ends.findIndex((end) => end < from);
    const row = free < 0 ? ends.length : free;
    ends[row] = to;
    return row;
  });
}
