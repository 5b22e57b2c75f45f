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

/** Group and others: what the server keeps is for its own user alone. */
const OTHERS = 0o077;
const OWN_MODE = 0o700;
/** Is there from the begin of a restore to its end: nothing in the folder is to be believed meanwhile. */
export const RESTORE_MARKER = 'restore-under-way';
/** What a start says of files in forms that it does not know. */
const OF_FORMS: ReadonlySet<string> = new Set([
  'migrations_differ',
  'log_damaged',
  'store_damaged',
  'store_corrupt',
]);

/**
 * The folder that this server keeps everything in, locked before anything in it is read: one folder, one server. With
 * `object_store = memory` it is a temporary one that `release` removes.
 */
export class DataFolder {
  readonly files: FileSystem;
  /** Absolute; exists. */
  readonly path: string;
  readonly #lock: FolderLock | undefined;

  /** Throws `ConfigInvalid` when the folder cannot be made, is half restored or must not be written by root, `folder_in_use` when it is another's. */
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
      inUnit: 'start its unit; for --repair see docs/OPERATIONS.md, "Repair at a start"',
    });
    if (refusal !== undefined) throw new ConfigInvalid([`server.data_dir: ${refusal}`]);
    await makeFolder(files, path);
    const lock = await FolderLock.take(files, path);
    if ((await files.stat(join(path, RESTORE_MARKER))) === undefined) {
      return new DataFolder(files, path, lock);
    }
    await lock.release();
    throw new ConfigInvalid([
      `server.data_dir: a restore into ${path} has not ended; run \`plinth restore\` into it again, or empty it`,
    ]);
  }

  private constructor(files: FileSystem, path: string, lock: FolderLock | undefined) {
    this.files = files;
    this.path = path;
    this.#lock = lock;
  }

  /** From here on the folder may change: nothing that lies outside of it keeps the server from starting. */
  async occupy(log: Logger): Promise<void> {
    await this.#lock?.sign();
    if (process.platform === 'win32') return; // Rights are those of the folder above.
    const { mode } = await stat(this.path);
    if ((mode & OTHERS) === 0) return;
    try {
      await chmod(this.path, OWN_MODE);
    } catch (err) {
      // Of a volume that belongs to another user; who may write there is decided by whoever made it.
      log.warn({ err, folder: this.path }, 'other users of this machine may read the data folder');
    }
  }

  /** False: what is written there goes where the next start does not find it. */
  async isInPlace(): Promise<boolean> {
    return (await this.#lock?.isInPlace()) ?? true;
  }

  /** Throws `StoreMissing` when a server has used the folder and its relational store is missing or empty. */
  async requireStore(): Promise<void> {
    const signs = [VERSION_FILE, 'tsdb-log'].map((name) => this.files.stat(join(this.path, name)));
    if ((await Promise.all(signs)).every((sign) => sign === undefined)) return;
    const path = join(this.path, STORE_FILE);
    if (((await this.files.stat(path))?.sizeBytes ?? 0) === 0) throw new StoreMissing(path);
  }

  /** To be called when what is there is in this version's forms. */
  async noteVersion(): Promise<void> {
    if ((await this.#writtenBy()) === readVersion()) return;
    await writeFile(join(this.path, VERSION_FILE), `${readVersion()}\n`);
  }

  /** The failure of a start, with what a newer version has to do with it. */
  async explain(error: unknown): Promise<unknown> {
    const full = asDiskFull(error);
    if (full !== undefined) return new DataFolderUnwritable(this.path, full, FULL);
    if (error instanceof Error && Reflect.get(deepestOf(error), 'code') === 'EROFS') {
      return new DataFolderUnwritable(this.path, error, READ_ONLY);
    }
    const version = await this.#writtenBy();
    if (!isDomainError(error) || !OF_FORMS.has(error.kind) || version === undefined) return error;
    if (version.localeCompare(readVersion(), 'en', { numeric: true }) <= 0) return error;
    return new FolderOfNewerVersion(this.path, { writtenBy: version, own: readVersion() }, error);
  }

  async #writtenBy(): Promise<string | undefined> {
    const text = await readFile(join(this.path, VERSION_FILE), 'utf8').catch(() => undefined);
    return text?.trim() || undefined;
  }

  /** Something still works there, and will until the process ends: `release` does not give the lock back. */
  keep(): void {
    this.#lock?.keep();
  }

  /** Only when nothing writes there any more, or after `keep`. Twice is harmless. */
  async release(): Promise<void> {
    if (this.#lock === undefined) await this.files.removeTree(this.path);
    else await this.#lock.release();
  }
}

const FULL =
  'make room on its disk (or raise its quota) and start again; nothing that was acknowledged is lost';
const READ_ONLY =
  'its file system is read-only: mount it so that it can be written, or name another folder with --data-dir';

/** A start cannot write what it has to. */
class DataFolderUnwritable extends Error {
  override readonly name = 'DataFolderUnwritable';
  readonly kind = 'data_folder_unwritable';
  constructor(folder: string, cause: Error, advice: string) {
    super(`the data folder ${folder} cannot be written: ${deepestOf(cause).message}\n  ${advice}`, {
      cause,
    });
  }
}

/** Closer to the system there is nothing. */
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

/** The folder has forms that this version does not know. */
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
      `${cause.message}\n  ${folder} was written by version ${writtenBy} and this is ${own}: start ${writtenBy} or a newer one, or restore a backup that ${own} made`,
      { cause },
    );
  }
}

async function makeFolder(files: FileSystem, folder: string): Promise<void> {
  try {
    await files.makeDirectory(folder);
  } catch (error) {
    const why = messageOf(error);
    throw new ConfigInvalid([`server.data_dir: the folder cannot be made: ${why}`]);
  }
}
