import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type DatabaseClass from 'libsql';
import type { Database } from 'libsql';
import { messageOf } from '../errors/message-of.js';
import { fileError } from './file-error.js';
import type { FileSystem } from './file-system.js';
import { obstacleOf } from './obstacle-of.js';

const LOCK_FILE = 'server.lock';
const OWNER_FILE = 'server.pid';

/** Files of the lock. They may exist in an otherwise empty folder and are never removed. */
export const FOLDER_LOCK_FILES: readonly string[] = [LOCK_FILE, OWNER_FILE];

/**
 * Exclusive lock of one holder in one process on a folder. It is SQLite's own lock of an empty database file: the
 * semantics are the same on Linux, macOS and Windows, no child inherits it, and the system releases it when the
 * process dies for any reason. Nothing else may open `server.lock` in this process: with POSIX locks, closing the
 * file would release the lock. The file is never removed, not even by the last holder. Otherwise a process that waits
 * for the removed file and a process that creates the next one would both hold the lock.
 */
export class FolderLock {
  readonly #files: FileSystem;
  readonly #folder: string;
  readonly #database: Database;
  /** Identity of the locked file, even if its path later names another file. */
  readonly #file: FileIdentity | undefined;
  #isSigned = false;
  #isReleased = false;

  /** The folder must exist. Does not wait. Throws `folder_in_use` or `folder_not_locked`. */
  static async take(files: FileSystem, folder: string): Promise<FolderLock> {
    if (await isBereft(folder))
      throw fileError('folder_in_use', { folder, owner: await ownerOf(folder) });
    // Loaded here because most commands lock nothing. The module is CommonJS, and `import` would add ten milliseconds to startup.
    const SqliteDatabase = createRequire(import.meta.url)('libsql') as typeof DatabaseClass;
    let database: Database | undefined;
    try {
      database = new SqliteDatabase(join(folder, LOCK_FILE));
      database.pragma('busy_timeout = 0');
      database.pragma('journal_mode = MEMORY');
      database.exec('BEGIN EXCLUSIVE');
      return new FolderLock(files, folder, database, await identityOf(folder));
    } catch (error) {
      database?.close();
      const code = String(Reflect.get(Object(error), 'code'));
      if (code.startsWith('SQLITE_BUSY'))
        throw fileError('folder_in_use', { folder, owner: await ownerOf(folder) });
      const obstacle = await obstacleOf(join(folder, LOCK_FILE));
      const why = obstacle ?? messageOf(error);
      throw fileError('folder_not_locked', { folder, why }, error);
    }
  }

  private constructor(
    files: FileSystem,
    folder: string,
    database: Database,
    file: FileIdentity | undefined,
  ) {
    this.#files = files;
    this.#folder = folder;
    this.#database = database;
    this.#file = file;
  }

  /** False when the folder was removed, moved, or hidden by another mount. Data written from then on cannot be found. */
  async isInPlace(): Promise<boolean> {
    const now = await identityOf(this.#folder);
    return now !== undefined && now.dev === this.#file?.dev && now.ino === this.#file.ino;
  }

  /** Writes the owner next to the lock, for the error message of other processes. */
  async sign(): Promise<void> {
    this.#isSigned = true;
    const file = await this.#files.open(join(this.#folder, OWNER_FILE), 'w');
    try {
      await file.write([Buffer.from(`${process.pid} ${hostname()}\n`)], 0);
    } finally {
      await file.close();
    }
  }

  /** Holds the lock until the process ends, when the system releases it. `release` does nothing from then on. */
  keep(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    // The driver closes databases that are garbage-collected; this listener keeps a reference.
    process.once('exit', () => this.#database);
  }

  /** Idempotent. */
  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    try {
      if (this.#isSigned) await this.#files.remove(join(this.#folder, OWNER_FILE));
    } finally {
      // The driver closes the file only at garbage collection; ending the transaction releases the lock.
      this.#database.exec('ROLLBACK');
      this.#database.close();
    }
  }
}

interface FileIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** Returns the identity of the lock file, which is not opened. */
const identityOf = (folder: string): Promise<FileIdentity | undefined> =>
  stat(join(folder, LOCK_FILE), { bigint: true }).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(String(Reflect.get(Object(error), 'code'))))
      return undefined;
    throw error;
  });

/**
 * Whether the lock file was removed while its owner still runs here: a new file of that name would be unlocked.
 * A process id may have been reused, so it counts only when the file is missing.
 */
async function isBereft(folder: string): Promise<boolean> {
  const { pid, host } = (await readOwner(folder)) ?? {};
  if (pid === undefined || host !== hostname() || pid === process.pid) return false;
  if (existsSync(join(folder, LOCK_FILE))) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return Reflect.get(Object(error), 'code') === 'EPERM'; // another user's process, which is alive
  }
}

/** Describes the owner. Immediately after the lock is acquired, the file may still name the previous owner. */
async function ownerOf(folder: string): Promise<string | undefined> {
  const owner = await readOwner(folder);
  if (owner === undefined) return undefined;
  const { pid, host } = owner;
  return host === hostname() ? `pid ${pid}` : `pid ${pid} on ${host}`;
}

async function readOwner(
  folder: string,
): Promise<{ readonly pid: number; readonly host: string } | undefined> {
  const text = await readFile(join(folder, OWNER_FILE), 'utf8').catch(() => '');
  const [, pid, host = ''] = /^(\d{1,9}) (\S+)\n$/.exec(text) ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), host };
}
