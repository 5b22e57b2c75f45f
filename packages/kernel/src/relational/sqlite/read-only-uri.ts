import { existsSync } from 'node:fs';

/**
 * What SQLite opens to read a database without changing the folder. `path` is absolute, and no other process has it open: without
 * a journal the file cannot change, and SQLite then creates none of its own files beside it. With a journal, it may create the
 * index of the journal (`-shm`), which gets the owner of the database.
 */
export function readOnlyUri(path: string): string {
  const encoded = path.replace(/[%?#]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  return `file:${encoded}?${existsSync(`${path}-wal`) ? 'mode=ro' : 'immutable=1'}`;
}
