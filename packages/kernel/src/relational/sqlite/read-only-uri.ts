import { statSync } from 'node:fs';

/**
 * What SQLite opens to read a database without changing the folder. `path` is absolute, and no other process has it open: without
 * a journal the file cannot change, and SQLite then creates none of its own files beside it. With a journal, it creates the
 * index of the journal (`-shm`): see `readableStore`.
 */
export function readOnlyUri(path: string): string {
  const encoded = path.replace(/[%?#]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  return `file:${encoded}?${hasJournal(path) ? 'mode=ro' : 'immutable=1'}`;
}

/** An empty one has nothing that the database lacks. */
export const hasJournal = (path: string): boolean =>
  (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
