import { dirname } from 'node:path';
import type { FileSystem } from '../../fs/file-system.js';
import { moveAside } from '../../fs/move-aside.js';
import type { LogLoss } from '../../journal/log-loss.js';
import { storeError } from '../relational-errors.js';
import { checkWal } from './wal-check.js';

/**
 * Must run before SQLite opens the database. Rejects a corrupt journal, or quarantines it and keeps the frames before the
 * corruption. A torn tail is kept, because SQLite overwrites it.
 */
export async function recoverWal(options: {
  readonly fileSystem: FileSystem;
  readonly path: string;
  readonly repair: boolean;
}): Promise<LogLoss | undefined> {
  const { fileSystem, path, repair } = options;
  try {
    const tail = await checkWal(fileSystem, path);
    return tail && { kind: 'tail_cut', file: path, ...tail };
  } catch (error) {
    if (!repair || !storeError.is(error, 'store_damaged')) throw error;
    const { offset } = error.details;
    const lostBytes = ((await fileSystem.stat(path))?.sizeBytes ?? 0) - offset;
    await moveAside(fileSystem, dirname(path), path, offset);
    return { kind: 'moved_aside', file: path, offset, lostBytes };
  }
}
