/** A span of time with both ends. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Puts spans, ascending by their begin, into as few lanes as keep them apart. @returns the lane of each. */
export function rowsOf(spans: readonly Span[]): number[] {
  const ends: number[] = [];
  return spans.map(({ from, to }) => {
    const free = ends.findIndex((end) => end < from);
    const row = free < 0 ? ends.length : free;
    ends[row] = to;
    return row;
  });
}
