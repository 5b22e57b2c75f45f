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

/** Files of the lock: they may stand in a folder that holds nothing else, and stay there. */
export const FOLDER_LOCK_FILES: readonly string[] = [LOCK_FILE, OWNER_FILE];

/**
 * The right of one process, and of one holder in it, to a folder. SQLite's own lock of an empty database file: it means the same
 * on Linux, macOS and Windows, no child inherits it, and the system gives it back when the process dies, however it dies.
 * Nothing else may open `server.lock` in this process: closing it would give back the lock where locks are those of POSIX.
 * Nobody removes it, not even the last holder: who waits for the file that is gone and who makes the next one would both have it.
 */
export class FolderLock {
  readonly #files: FileSystem;
  readonly #folder: string;
  readonly #database: Database;
  /** Which file is locked, whatever stands under its name later. */
  readonly #file: FileIdentity | undefined;
  #isSigned = false;
  #isReleased = false;

  /** The folder must exist. Does not wait. Throws `folder_in_use` or `folder_not_locked`. */
  static async take(files: FileSystem, folder: string): Promise<FolderLock> {
    if (await isBereft(folder))
      throw fileError('folder_in_use', { folder, owner: await ownerOf(folder) });
    // Only here: commands that lock nothing need not load it. It is no module, and `import` would take ten milliseconds of a start.
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

  /** False: the folder was removed, moved, or another file system lies over it. What is written goes where nobody finds it. */
  async isInPlace(): Promise<boolean> {
    const now = await identityOf(this.#folder);
    return now !== undefined && now.dev === this.#file?.dev && now.ino === this.#file.ino;
  }

  /** Notes beside the lock whose it is, for the message that others get. */
  async sign(): Promise<void> {
    this.#isSigned = true;
    const file = await this.#files.open(join(this.#folder, OWNER_FILE), 'w');
    try {
      await file.write([Buffer.from(`${process.pid} ${hostname()}\n`)], 0);
    } finally {
      await file.close();
    }
  }

  /** Not given back before the process ends, when the system does it. `release` does nothing from then on. */
  keep(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    // The driver closes what the runtime collects: the listener is what refers to it.
    process.once('exit', () => this.#database);
  }

  /** Twice is harmless. */
  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    try {
      if (this.#isSigned) await this.#files.remove(join(this.#folder, OWNER_FILE));
    } finally {
      // The driver closes when the runtime collects; the end of the transaction is what gives the lock back.
      this.#database.exec('ROLLBACK');
      this.#database.close();
    }
  }
}

interface FileIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** Of the lock's file; it is not opened. */
const identityOf = (folder: string): Promise<FileIdentity | undefined> =>
  stat(join(folder, LOCK_FILE), { bigint: true }).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(String(Reflect.get(Object(error), 'code'))))
      return undefined;
    throw error;
  });

/**
 * Whether the lock's file was removed under a process that still runs here: a second one of that name would be free for
 * whoever comes. A process id alone says nothing: while the file is there the lock does.
 */
async function isBereft(folder: string): Promise<boolean> {
  const { pid, host } = (await readOwner(folder)) ?? {};
  if (pid === undefined || host !== hostname() || pid === process.pid) return false;
  if (existsSync(join(folder, LOCK_FILE))) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return Reflect.get(Object(error), 'code') === 'EPERM'; // somebody else's, and alive
  }
}

/** In words; what is read may be of an earlier owner when the present one has just begun. */
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
