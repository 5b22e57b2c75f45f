import { statSync } from 'node:fs';

/**
 * Returns the URI for reading a database without changing its folder. `path` is absolute, and no other process has the
 * database open. Without a journal the file cannot change, and SQLite creates no files next to it. With a journal,
 * SQLite creates the index of the journal (`-shm`): see `readableStore`.
 */
export function readOnlyUri(path: string): string {
  const encoded = path.replace(/[%?#]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  return `file:${encoded}?${hasJournal(path) ? 'mode=ro' : 'immutable=1'}`;
}

/** An empty journal contains no changes. */
export const hasJournal = (path: string): boolean =>
  (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
