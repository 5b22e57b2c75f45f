import { dirname } from 'node:path';
import type { FileSystem } from '../../fs/file-system.js';
import { moveAside } from '../../fs/move-aside.js';
import type { LogLoss } from '../../journal/log-loss.js';
import { storeError } from '../relational-errors.js';
import { checkWal } from './wal-check.js';

/**
 * Before SQLite opens the database: refuses a damaged journal, or moves it aside and leaves what stands before the damage.
 * A torn tail stays where it is: SQLite writes over it.
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
