import { join } from 'node:path';
import type { FileSystem } from '../fs/file-system.js';
import type { RecordRef } from './log-checkpoint.js';
import { FILE_HEADER_SIZE, logFileName } from './log-format.js';
import type { RetainedLogFiles } from './retained-log-files.js';

interface KnownFile {
  sizeBytes: number;
  readonly firstSequence: number;
}

/** The files of an open log: on the disk, or about to be created. */
export class LogFiles {
  readonly #fileSystem: FileSystem;
  readonly #directory: string;
  readonly #files = new Map<number, KnownFile>();

  readonly #retained: RetainedLogFiles | undefined;

  /** @param retained receives removed files. */
  constructor(fileSystem: FileSystem, directory: string, retained?: RetainedLogFiles) {
    this.#fileSystem = fileSystem;
    this.#directory = directory;
    this.#retained = retained;
  }

  add(file: number, firstSequence: number, sizeBytes = FILE_HEADER_SIZE): void {
    this.#files.set(file, { sizeBytes, firstSequence });
  }

  resize(file: number, sizeBytes: number): void {
    const known = this.#files.get(file);
    if (known !== undefined) known.sizeBytes = sizeBytes;
  }

  drop(file: number): void {
    this.#files.delete(file);
  }

  /** `Infinity` without files. */
  get first(): number {
    return Math.min(...this.#files.keys());
  }

  /** 0 without files. */
  get newest(): number {
    return Math.max(0, ...this.#files.keys());
  }

  get sizeBytes(): number {
    let sum = 0;
    for (const { sizeBytes } of this.#files.values()) sum += sizeBytes;
    return sum;
  }

  /** Returns the first record after file `file`; `undefined` when no file follows. */
  firstRecordAfter(file: number): RecordRef | undefined {
    const [next] = this.numbers().filter((number) => number > file);
    const known = next === undefined ? undefined : this.#files.get(next);
    if (next === undefined || known === undefined) return undefined;
    return { file: next, sequence: known.firstSequence };
  }

  /** See `CommitLog`. */
  async link(file: number, folder: string): Promise<readonly string[]> {
    const names: string[] = [];
    // Newest first, because `remove` starts with the oldest: the linked files have no gaps.
    for (const number of this.numbers().reverse()) {
      if (number > file) continue;
      const name = logFileName(number);
      try {
        await this.#fileSystem.link(join(this.#directory, name), join(folder, name));
      } catch (error) {
        if (Reflect.get(Object(error), 'code') === 'ENOENT') break;
        throw error;
      }
      names.push(name);
    }
    return names.reverse();
  }

  /** Removes files up to and including number `file`. */
  async remove(file: number): Promise<void> {
    // Oldest first, each removal durable before the next. An interruption, also by a power failure, leaves
    // a log without its beginning and never a log with a gap. Usually there is only one file.
    for (const number of this.numbers()) {
      if (number > file) break;
      const path = this.pathOf(number);
      if (this.#retained === undefined) await this.#fileSystem.remove(path);
      else await this.#retained.take(path, number);
      await this.#fileSystem.syncDirectory(this.#directory);
      this.#files.delete(number);
    }
  }

  pathOf(file: number): string {
    return join(this.#directory, logFileName(file));
  }

  /** Ascending. */
  numbers(): number[] {
    return [...this.#files.keys()].sort((a, b) => a - b);
  }
}
