import { constants } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { LogLoss } from '../../commit-log/log-loss.js';
import type { FileSystem } from '../../fs/file-system.js';
import { hasJournal } from './read-only-uri.js';
import { RunMark } from './run-mark.js';
import { recoverWal } from './wal-recovery.js';

interface ReadableStore extends AsyncDisposable {
  readonly path: string;
  /** A last transaction that the next start ignores; it may have been acknowledged. */
  readonly loss: LogLoss | undefined;
}

/**
 * Returns a database file to read for `path`, which no process has open. Does not modify its folder: if there is a
 * journal, the file is a copy in a temporary folder, because SQLite would write next to `path`. Throws `store_damaged`
 * as at startup.
 */
export async function readableStore(fileSystem: FileSystem, path: string): Promise<ReadableStore> {
  await new RunMark(fileSystem, path).check(false);
  const loss = await recoverWal({
    ...{ fileSystem, path: `${path}-wal`, repair: false, isReadOnly: true },
  });
  if (!hasJournal(path)) return { path, loss, async [Symbol.asyncDispose]() {} };
  const folder = await mkdtemp(join(tmpdir(), 'plinth-store-')); // Only this user can read it.
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const copy = join(folder, basename(path));
  try {
    await copyFile(path, copy, constants.COPYFILE_FICLONE);
    await copyFile(`${path}-wal`, `${copy}-wal`, constants.COPYFILE_FICLONE);
  } catch (error) {
    await remove();
    throw error;
  }
  return { path: copy, loss, [Symbol.asyncDispose]: remove };
}
