/** Browsers limit the height of an element. */
const MAX_HEIGHT = 8_000_000;

/**
 * Returns the visible rows of a scrolled box. If more rows exist than fit into the maximum height, each pixel
 * represents several rows.
 */
export function rowWindow(options: {
  readonly rowCount: number;
  readonly rowHeight: number;
  readonly viewHeight: number;
  readonly scrollTop: number;
  readonly spare: number;
}): {
  readonly totalHeight: number;
  readonly first: number;
  readonly last: number;
  /** The offset of the first row in the box. */
  readonly top: number;
} {
  const { rowCount, rowHeight, viewHeight, scrollTop, spare } = options;
  const realHeight = rowCount * rowHeight;
  const totalHeight = Math.min(realHeight, MAX_HEIGHT);
  const room = totalHeight - viewHeight;
  const scale = room > 0 ? (realHeight - viewHeight) / room : 1;
  const realTop = scrollTop * scale;
  const first = Math.max(0, Math.min(rowCount, Math.floor(realTop / rowHeight)) - spare);
  const last = Math.min(rowCount, Math.ceil((realTop + viewHeight) / rowHeight) + spare);
  return { totalHeight, first, last, top: scrollTop - (realTop - first * rowHeight) };
}

/** Returns the scroll position that makes a row visible. */
export function scrollTopOf(
  row: number,
  options: {
    readonly rowCount: number;
    readonly rowHeight: number;
    readonly viewHeight: number;
    readonly scrollTop: number;
  },
): number {
  const { rowCount, rowHeight, viewHeight, scrollTop } = options;
  const realHeight = rowCount * rowHeight;
  const room = Math.min(realHeight, MAX_HEIGHT) - viewHeight;
  const scale = room > 0 ? (realHeight - viewHeight) / room : 1;
  const realTop = scrollTop * scale;
  const top = row * rowHeight;
  if (top < realTop) return top / scale;
  if (top + rowHeight > realTop + viewHeight) return (top + rowHeight - viewHeight) / scale;
  return scrollTop;
}

/** @param ends the right edges, ascending */
export function columnWindow(
  ends: readonly number[],
  scrollLeft: number,
  viewWidth: number,
): { readonly first: number; readonly last: number } {
  let first = ends.findIndex((end) => end > scrollLeft);
  if (first === -1) first = 0;
  let last = first;
  while (last < ends.length && (last === 0 ? 0 : (ends[last - 1] ?? 0)) < scrollLeft + viewWidth)
    last++;
  return { first, last };
}
