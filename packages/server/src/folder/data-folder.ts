import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  asDiskFull,
  ConfigInvalid,
  causesOf,
  type FileSystem,
  FolderLock,
  isDomainError,
  type Logger,
  messageOf,
  NodeFileSystem,
  SystemClock,
  SystemRandom,
} from '@plinth/kernel';
import { readVersion } from '../product-version.js';
import type { ServerSettings } from '../settings.js';
import { shellWord } from '../shell-word.js';
import { STORE_FILE, VERSION_FILE } from './file-names.js';
import { refusalForRoot } from './folder-owner.js';

/** Permissions of group and others, which no file here has. */
const OTHERS = 0o077;
const OWN_MODE = 0o700;
/** Exists during a restore, while the contents of the folder are not reliable. */
export const RESTORE_MARKER = 'restore-under-way';
/** Error kinds for files in unknown formats. */
const FORMAT_ERRORS: ReadonlySet<string> = new Set([
  'migrations_differ',
  'log_damaged',
  'store_damaged',
  'store_corrupt',
]);

/**
 * The data folder, locked before anything in it is read: one server per folder. With `object_store = memory` it is a temporary
 * folder that `release` removes.
 */
export class DataFolder {
  readonly files: FileSystem;
  /** Absolute; exists. */
  readonly path: string;
  readonly #lock: FolderLock | undefined;

  /**
   * Throws `ConfigInvalid` if the folder cannot be created, is half restored or must not be written by root;
   * `folder_in_use` if another server uses it.
   */
  static async open(settings: ServerSettings): Promise<DataFolder> {
    const files = new NodeFileSystem();
    if (settings.object_store === 'memory') {
      const name = `plinth-${new SystemRandom(new SystemClock()).uuidV4()}`;
      const path = join(tmpdir(), name);
      await makeFolder(files, path);
      return new DataFolder(files, path, undefined);
    }
    const path = resolve(settings.data_dir);
    const refusal = await refusalForRoot(path, {
      command: `plinth serve --data-dir ${shellWord(path)}, with the other options of this start`,
      inUnit: 'start its unit; for --repair see docs/DATA-RECOVERY.md, "Repair at startup"',
    });
    if (refusal !== undefined) throw new ConfigInvalid([`server.data_dir: ${refusal}`]);
    await makeFolder(files, path);
    const lock = await FolderLock.take(files, path);
    if ((await files.stat(join(path, RESTORE_MARKER))) === undefined) {
      return new DataFolder(files, path, lock);
    }
    await lock.release();
    throw new ConfigInvalid([
      `server.data_dir: the restore into ${path} is incomplete; run \`plinth restore\` again, or empty the folder`,
    ]);
  }

  private constructor(files: FileSystem, path: string, lock: FolderLock | undefined) {
    this.files = files;
    this.path = path;
    this.#lock = lock;
  }

  /**
   * Writes the owner next to the lock and restricts permissions. Afterwards, the folder may be changed, because no
   * external condition can prevent startup.
   */
  async prepareForUse(log: Logger): Promise<void> {
    await this.#lock?.sign();
    if (process.platform === 'win32') return; // Permissions are inherited from the parent folder.
    const { mode } = await stat(this.path);
    if ((mode & OTHERS) === 0) return;
    try {
      await chmod(this.path, OWN_MODE);
    } catch (err) {
      // The volume belongs to another user, who controls its permissions.
      log.warn(
        { err, folder: this.path },
        'cannot restrict data folder permissions; other users of this machine may read it',
      );
    }
  }

  /** False if files written now would not be found at the next start. */
  async isInPlace(): Promise<boolean> {
    return (await this.#lock?.isInPlace()) ?? true;
  }

  /** Throws `StoreMissing` when a server has used the folder and its relational store is missing or empty. */
  async requireStore(): Promise<void> {
    const traces = [VERSION_FILE, 'tsdb-log'].map((name) => this.files.stat(join(this.path, name)));
    if ((await Promise.all(traces)).every((trace) => trace === undefined)) return;
    const path = join(this.path, STORE_FILE);
    if (((await this.files.stat(path))?.sizeBytes ?? 0) === 0) throw new StoreMissing(path);
  }

  /** Must be called once the contents have this version's formats. */
  async noteVersion(): Promise<void> {
    if ((await this.#writtenBy()) === readVersion()) return;
    await writeFile(join(this.path, VERSION_FILE), `${readVersion()}\n`);
  }

  /** Explains a failed start, including formats of a newer version. */
  async explain(error: unknown): Promise<unknown> {
    const full = asDiskFull(error);
    if (full !== undefined) return new DataFolderUnwritable(this.path, full, FULL);
    if (error instanceof Error && Reflect.get(deepestOf(error), 'code') === 'EROFS') {
      return new DataFolderUnwritable(this.path, error, READ_ONLY);
    }
    const version = await this.#writtenBy();
    if (!isDomainError(error) || !FORMAT_ERRORS.has(error.kind) || version === undefined)
      return error;
    if (version.localeCompare(readVersion(), 'en', { numeric: true }) <= 0) return error;
    return new FolderOfNewerVersion(this.path, { writtenBy: version, own: readVersion() }, error);
  }

  async #writtenBy(): Promise<string | undefined> {
    const text = await readFile(join(this.path, VERSION_FILE), 'utf8').catch(() => undefined);
    return text?.trim() || undefined;
  }

  /** Call if a task cannot be stopped and works in the folder until the process exits: `release` then keeps the lock. */
  keepLocked(): void {
    this.#lock?.keep();
  }

  /** Must only be called when all writes have ended, or after `keepLocked`. Safe to call twice. */
  async release(): Promise<void> {
    if (this.#lock === undefined) await this.files.removeTree(this.path);
    else await this.#lock.release();
  }
}

const FULL =
  'free some disk space (or raise the quota) and start again; no acknowledged data is lost';
const READ_ONLY =
  'the file system is read-only: remount it writable, or use another folder with --data-dir';

/** Startup cannot write required files. */
class DataFolderUnwritable extends Error {
  override readonly name = 'DataFolderUnwritable';
  readonly kind = 'data_folder_unwritable';
  constructor(folder: string, cause: Error, advice: string) {
    super(`the data folder ${folder} cannot be written: ${deepestOf(cause).message}\n  ${advice}`, {
      cause,
    });
  }
}

/** Returns the innermost cause, closest to the system. */
const deepestOf = (error: Error): Error => causesOf(error).at(-1) ?? error;

/** A start would create a new store, and with it a server without tokens. */
class StoreMissing extends Error {
  override readonly name = 'StoreMissing';
  readonly kind = 'store_missing';
  constructor(path: string) {
    super(
      `${path} is missing or empty in a used data folder\n` +
        '  Restore a backup (`plinth restore`) or a snapshot (`plinth snapshot --restore`), or start with --repair to create an empty one',
    );
  }
}

/** The folder contains formats of a newer version. */
class FolderOfNewerVersion extends Error {
  override readonly name = 'FolderOfNewerVersion';
  readonly kind = 'folder_of_newer_version';
  constructor(
    folder: string,
    versions: { readonly writtenBy: string; readonly own: string },
    cause: Error,
  ) {
    const { writtenBy, own } = versions;
    super(
      `${cause.message}\n  ${folder} was written by version ${writtenBy}, but this is version ${own}: start version ${writtenBy} or later, or restore a backup created by ${own}`,
      { cause },
    );
  }
}

async function makeFolder(files: FileSystem, folder: string): Promise<void> {
  try {
    await files.makeDirectory(folder);
  } catch (error) {
    const why = messageOf(error);
    throw new ConfigInvalid([`server.data_dir: the folder cannot be created: ${why}`]);
  }
}
