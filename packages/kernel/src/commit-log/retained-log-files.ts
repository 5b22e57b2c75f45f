import { join } from 'node:path';
import type { FreeDiskSpace } from '../fs/disk-space.js';
import type { FileSystem } from '../fs/file-system.js';
import { logFileName, logFileNumber } from './log-format.js';

/** An empty file in the folder: retention was started and not stopped. */
const MARKER = 'retain';
/** Limits the number of small files that frequent flushes create. */
const MAX_FILES = 1000;

export interface RetainedLogFilesOptions {
  /** Must be on the same volume as the log. */
  readonly folder: string;
  /** The oldest files above this size are deleted, but never the newest file. With 0, no file is retained. */
  readonly maxBytes: number;
}

/**
 * Files that the log has removed, retained between `start` and `stop` so that live queries can read rows that they have
 * missed. They are never replayed.
 */
export class RetainedLogFiles {
  readonly #fileSystem: FileSystem;
  readonly #options: RetainedLogFilesOptions;
  readonly #diskSpace: FreeDiskSpace | undefined;
  /** Sizes by number; `undefined` until the folder is read. */
  #sizes: Promise<Map<number, number>> | undefined;
  /** Whether files are retained, as between `start` and `stop`; `undefined` until the folder is read. */
  #isStarted: boolean | undefined;
  /** Files up to this number are not retained. */
  #clearedFile = 0;

  constructor(
    fileSystem: FileSystem,
    options: RetainedLogFilesOptions,
    diskSpace: FreeDiskSpace | undefined,
  ) {
    this.#fileSystem = fileSystem;
    this.#options = options;
    this.#diskSpace = diskSpace;
  }

  pathOf(file: number): string {
    return join(this.#options.folder, logFileName(file));
  }

  /** Ascending. */
  async numbers(): Promise<readonly number[]> {
    return [...(await this.#load()).keys()].sort((a, b) => a - b);
  }

  /** Retains the files that the log removes from now on, also after a restart. */
  async start(): Promise<void> {
    this.#isStarted = true;
    await this.#load();
    const marker = await this.#fileSystem.open(join(this.#options.folder, MARKER), 'w');
    await marker.close();
    await this.#fileSystem.syncDirectory(this.#options.folder);
  }

  /** Deletes all retained files, and retains no others. */
  async stop(): Promise<void> {
    this.#isStarted = false;
    await this.#fileSystem.remove(join(this.#options.folder, MARKER));
    await this.clear();
  }

  /** Moves a file of the log here, or deletes it if it is not retained. */
  async take(path: string, file: number): Promise<void> {
    const size = (await this.#isRetained(file)) ? await this.#sizeToKeep(path) : undefined;
    if (size === undefined) {
      // Readers expect files without a hole, so earlier files may not remain.
      await this.clear();
      await this.#fileSystem.remove(path);
      return;
    }
    const sizes = await this.#load();
    await this.#fileSystem.rename(path, this.pathOf(file));
    sizes.set(file, size);
    // A deletion may have been stored in the meantime.
    if (!(await this.#isRetained(file))) await this.clear();
    await this.#prune(sizes);
  }

  /** Deletes all retained files. Files up to number `file` will not be retained when the log removes them. */
  async clear(file = 0): Promise<void> {
    this.#clearedFile = Math.max(this.#clearedFile, file);
    const sizes = await this.#load();
    for (const file of [...sizes.keys()].sort((a, b) => a - b)) await this.#remove(sizes, file);
  }

  async #isRetained(file: number): Promise<boolean> {
    await this.#load();
    return this.#isStarted === true && file > this.#clearedFile;
  }

  /** Returns the file size; `undefined` if the file is not retained. On a full disk, no file is retained. */
  async #sizeToKeep(path: string): Promise<number | undefined> {
    if (this.#options.maxBytes === 0 || this.#diskSpace?.obstacle !== undefined) return undefined;
    return (await this.#fileSystem.stat(path))?.sizeBytes;
  }

  async #prune(sizes: Map<number, number>): Promise<void> {
    let sum = 0;
    const newestFirst = [...sizes].sort(([a], [b]) => b - a);
    const old: number[] = [];
    for (const [index, [file, sizeBytes]] of newestFirst.entries()) {
      sum += sizeBytes;
      if (index > 0 && (sum > this.#options.maxBytes || index >= MAX_FILES)) old.push(file);
    }
    // Ascending, so that readers never find a hole.
    for (const file of old.reverse()) await this.#remove(sizes, file);
  }

  async #remove(sizes: Map<number, number>, file: number): Promise<void> {
    await this.#fileSystem.remove(this.pathOf(file));
    sizes.delete(file);
  }

  /** All callers share one map. */
  async #load(): Promise<Map<number, number>> {
    this.#sizes ??= this.#read();
    try {
      return await this.#sizes;
    } catch (error) {
      this.#sizes = undefined;
      throw error;
    }
  }

  async #read(): Promise<Map<number, number>> {
    const { folder } = this.#options;
    await this.#fileSystem.makeDirectory(folder);
    const sizes = new Map<number, number>();
    for (const name of await this.#fileSystem.list(folder)) {
      const file = logFileNumber(name);
      const stat = await this.#fileSystem.stat(join(folder, name));
      if (file !== undefined && stat !== undefined) sizes.set(file, stat.sizeBytes);
      if (name === MARKER) this.#isStarted ??= true;
    }
    return sizes;
  }
}
