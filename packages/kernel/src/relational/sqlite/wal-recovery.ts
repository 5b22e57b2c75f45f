import { dirname } from 'node:path';
import type { LogLoss } from '../../commit-log/log-loss.js';
import { asDiskFull } from '../../fs/disk-full.js';
import type { FileSystem } from '../../fs/file-system.js';
import { asideName, copyRange, moveAside } from '../../fs/move-aside.js';
import { storeError } from '../relational-errors.js';
import { checkWal } from './wal-check.js';

/**
 * Must run before SQLite opens the database. Rejects a corrupt journal, or quarantines it and keeps the frames before the
 * corruption. A torn tail stays in the journal, because SQLite overwrites it; unless `isReadOnly`, the journal is copied
 * first, because the tail can be a corrupt acknowledged transaction.
 */
export async function recoverWal(options: {
  readonly fileSystem: FileSystem;
  readonly path: string;
  readonly repair: boolean;
  readonly isReadOnly?: boolean;
}): Promise<LogLoss | undefined> {
  const { fileSystem, path, repair, isReadOnly = false } = options;
  try {
    const tail = await checkWal(fileSystem, path);
    if (tail === undefined) return undefined;
    const quarantined = isReadOnly ? undefined : await keepJournal(fileSystem, path);
    return {
      ...{ kind: 'tail_cut', file: path, ...tail },
      ...(quarantined === undefined ? {} : { quarantined }),
    };
  } catch (error) {
    if (!repair || !storeError.is(error, 'store_damaged')) throw error;
    const { offset } = error.details;
    const lostBytes = ((await fileSystem.stat(path))?.sizeBytes ?? 0) - offset;
    await moveAside(fileSystem, dirname(path), path, offset);
    return { kind: 'moved_aside', file: path, offset, lostBytes };
  }
}

/**
 * Copies the complete journal, because its frames can be read only with its header. Replaces an earlier copy, so that
 * repeated crashes do not fill the disk.
 * @returns the copy; `undefined` if the disk is full, because the server must still start.
 */
async function keepJournal(fileSystem: FileSystem, path: string): Promise<string | undefined> {
  const copy = asideName(`${path}.tail`);
  const end = (await fileSystem.stat(path))?.sizeBytes ?? 0;
  try {
    await copyRange(fileSystem, path, copy, { start: 0, end });
    await fileSystem.syncDirectory(dirname(path));
    return copy;
  } catch (error) {
    if (asDiskFull(error) === undefined) throw error;
    await fileSystem.remove(copy);
    return undefined;
  }
}
