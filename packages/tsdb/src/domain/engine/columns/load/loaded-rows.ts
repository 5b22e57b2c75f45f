import type { CachedRows } from '../cache/cached-rows.js';
import type { Part, StoredColumn } from '../cache/part.js';

/** Rows of a source, ready to be looked at. */
export interface LoadedRows {
  readonly part: Part;
  /** `undefined`: all NULL. */
  column(id: number): StoredColumn | undefined;
  /** For answers that are made while their client takes them: returns what lets the memory go, to be called once. */
  hold?(): () => void;
}

/** `undefined`: something of it is not in memory. */
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
  return { part, column: (id) => stored.get(id), hold: rows.holder(stored.keys()) };
}
