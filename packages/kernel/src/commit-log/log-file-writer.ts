import { join } from 'node:path';
import type { Random } from '../clock/random.js';
import type { FileHandle, FileSystem } from '../fs/file-system.js';
import {
  encodeEndMark,
  encodeFileHeader,
  encodeSyncMark,
  FILE_HEADER_SIZE,
  type FileHeader,
  logFileName,
  SALT_SIZE,
} from './log-format.js';

export interface LogFileOptions {
  readonly fileSystem: FileSystem;
  readonly directory: string;
  readonly nodeId: string;
  readonly random: Random;
  /** Bytes of zeros to preallocate in one step after the records. With 0, the file grows with its records. */
  readonly zeroStepSize?: number;
}

/** Room for several thousand short records. One step takes the disk as long as about a dozen of these records. */
const DEFAULT_ZERO_STEP_SIZE = 8 * 1024 * 1024;

/** Longer writes extend the file themselves: with preallocated zeros, every byte would be written twice. */
const MAX_SHORT_SIZE = 128 * 1024;

const ZEROS = new Uint8Array(1024 * 1024);

/**
 * A log file that is open for writing. Each write is synced by the same system call. Writes overwrite zeros that are
 * already synced, so the disk has to record neither a new size nor new blocks.
 */
export class LogFileWriter {
  readonly file: number;
  /** Seed of this file's record headers. */
  readonly seed: number;
  readonly #records: FileHandle;
  /** Used to write the zeros: each write through `#records` would wait for the disk. */
  readonly #buffered: FileHandle;
  #zeroStepSize: number;
  /** Up to this offset, the file contains synced records or zeros. */
  #readyEnd = FILE_HEADER_SIZE;
  #recordsEnd = FILE_HEADER_SIZE;
  #zeroing: Promise<void> | undefined;
  #failure: unknown;

  private constructor(options: {
    readonly file: number;
    readonly seed: number;
    readonly records: FileHandle;
    readonly buffered: FileHandle;
    readonly zeroStepSize: number;
  }) {
    this.file = options.file;
    this.seed = options.seed;
    this.#records = options.records;
    this.#buffered = options.buffered;
    this.#zeroStepSize = options.zeroStepSize;
  }

  /**
   * When this resolves, the file, its header and its name are durable. When it fails, no file is left.
   * @param needsZeros if true, fails when there is only room for the header.
   */
  static async create(
    options: LogFileOptions,
    params: Pick<FileHeader, 'serverStartNumber' | 'file' | 'firstSequence'> & {
      readonly needsZeros?: boolean;
    },
  ): Promise<LogFileWriter> {
    const { fileSystem, directory, nodeId, random } = options;
    const { zeroStepSize = DEFAULT_ZERO_STEP_SIZE } = options;
    const { serverStartNumber, file, firstSequence, needsZeros = false } = params;
    const path = join(directory, logFileName(file));
    const opened = [await fileSystem.open(path, 'wx')] as [FileHandle, ...FileHandle[]];
    const [buffered] = opened;
    try {
      const salt = random.bytes(SALT_SIZE);
      const { bytes, seed } = encodeFileHeader({
        nodeId,
        serverStartNumber,
        file,
        firstSequence,
        salt,
      });
      await buffered.write([bytes], 0);
      const records = await fileSystem.open(path, 'r+', 'synced');
      opened.push(records);
      const writer = new LogFileWriter({ file, seed, records, buffered, zeroStepSize });
      // The first step is short: writes wait for this file, and a file of long records needs no zeros.
      const firstStepSize = Math.min(zeroStepSize, ZEROS.byteLength);
      await writer.#makeZeros(FILE_HEADER_SIZE, firstStepSize, needsZeros);
      await fileSystem.syncDirectory(directory);
      return writer;
    } catch (error) {
      for (const handle of opened) await handle.close();
      await fileSystem.remove(path);
      throw error;
    }
  }

  /**
   * Writes the parts; durable when it resolves. Only one call at a time is allowed; each starts
   * where the previous one ended.
   */
  async write(parts: readonly Uint8Array[], offset: number, sizeBytes: number): Promise<void> {
    const end = offset + sizeBytes;
    // Zeros that are still being written beyond `#readyEnd` must not overwrite these records.
    if (end > this.#readyEnd && this.#zeroing !== undefined) await this.#zeroing;
    if (this.#failure !== undefined) throw this.#failure;
    await this.#records.write(parts, offset);
    this.#recordsEnd = end;
    this.#readyEnd = Math.max(this.#readyEnd, end);
    if (sizeBytes <= MAX_SHORT_SIZE && this.#readyEnd - end <= this.#zeroStepSize / 2) {
      this.#startZeroing();
    }
  }

  /**
   * Marks the end of the synced records, so that corruption there can be distinguished from an incomplete write after a
   * crash. The mark itself needs no sync: it survives the process, and after a power failure it may be missing. The next
   * record overwrites it. Must not be called during a `write`.
   */
  async writeSyncMark(): Promise<void> {
    const end = this.#recordsEnd;
    const mark = encodeSyncMark(this.seed, end);
    // Zeros that are being written beyond `#readyEnd` must not overwrite the mark.
    if (end + mark.byteLength > this.#readyEnd) await this.#zeroing;
    if (this.#failure === undefined) await this.#buffered.write([mark], end);
  }

  /**
   * Releases the preallocated zeros. Not synced: zeros after the last record are not damage.
   * @param noteEnd set when no file follows. After it resolves, the end of the records is marked, so that corruption
   * there can be distinguished from a torn write at the next start.
   */
  async finish(noteEnd?: () => Promise<void>): Promise<void> {
    await this.#zeroing;
    try {
      if (this.#failure !== undefined) return;
      await this.#buffered.truncate(this.#recordsEnd);
      // All records are synced. Without the marker, the file is read as after a crash at the next start.
      const marked = noteEnd?.().then(() => this.#writeEndMark());
      await marked?.catch(() => undefined);
    } finally {
      await this.close();
    }
  }

  /**
   * After a write failed on a full disk, truncates the file to its last complete record. The records before it became durable
   * when they were acknowledged, so this sync only makes the file's end durable.
   */
  async endAfterRecords(): Promise<void> {
    await this.#zeroing;
    try {
      await this.#buffered.truncate(this.#recordsEnd);
      await this.#buffered.sync();
    } finally {
      await this.close();
    }
  }

  /** Offset after the last record. */
  get recordsEnd(): number {
    return this.#recordsEnd;
  }

  /** Closes the file without modifying it, for example after a failure. */
  async close(): Promise<void> {
    await this.#zeroing;
    await this.#records.close();
    await this.#buffered.close();
  }

  async #writeEndMark(): Promise<void> {
    await this.#buffered.write([encodeEndMark(this.seed, this.#recordsEnd)], this.#recordsEnd);
    await this.#buffered.sync();
  }

  #startZeroing(): void {
    if (this.#zeroing !== undefined || this.#zeroStepSize === 0) return;
    this.#zeroing = this.#makeZeros(this.#readyEnd, this.#zeroStepSize)
      .catch((error: unknown) => {
        this.#failure = error;
      })
      .finally(() => {
        this.#zeroing = undefined;
      });
  }

  async #makeZeros(from: number, sizeBytes: number, isNeeded = false): Promise<void> {
    try {
      await this.#buffered.write(zeroParts(sizeBytes), from);
    } catch (error) {
      if (isNeeded) throw error;
      // A disk without room for the zeros may still have room for records, whose own writes report a failure.
      this.#zeroStepSize = 0;
    }
    await this.#buffered.sync();
    if (this.#zeroStepSize > 0) this.#readyEnd = from + sizeBytes;
  }
}

function zeroParts(sizeBytes: number): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let rest = sizeBytes; rest > 0; rest -= ZEROS.byteLength) {
    parts.push(rest < ZEROS.byteLength ? ZEROS.subarray(0, rest) : ZEROS);
  }
  return parts;
}
