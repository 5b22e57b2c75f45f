import type { CachedRows } from '../cache/cached-rows.js';
import type { Part, StoredColumn } from '../cache/part.js';

/** Rows of a source that can be read from memory. */
export interface LoadedRows {
  /** Series and timestamps of the rows; the columns follow its row order. */
  readonly part: Part;
  /** `undefined` if all values are NULL. */
  column(id: number): StoredColumn | undefined;
  /**
   * Keeps the memory counted while a result is streamed to its client. Returns the unpin function; call
   * it exactly once.
   */
  pin?(): () => void;
}

/** Returns `undefined` if some of the rows or columns are not in memory. */
export function loadedRows(
  rows: CachedRows,
  columns: readonly { readonly id: number }[],
): LoadedRows | undefined {
  const { part } = rows;
  if (part === undefined) return undefined;
  const stored = new Map<number, StoredColumn>();
  for (const { id } of columns) {
    const column = rows.column(id);
    if (column === undefined) return undefined;
    stored.set(id, column);
  }
  return { part, column: (id) => stored.get(id), pin: rows.pinner(stored.keys()) };
}
