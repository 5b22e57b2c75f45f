import { join } from 'node:path';
import type { Random } from '../clock/random.js';
import type { FileHandle, FileSystem } from '../fs/file-system.js';
import {
  encodeEndMark,
  encodeFileHeader,
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
  /** How many bytes of zeros are made ready at once behind the records; 0 lets the file grow by its records. */
  readonly zeroStepSize?: number;
}

/** Some thousand short records; a step takes the disk about as long as a dozen of them. */
const DEFAULT_ZERO_STEP_SIZE = 8 * 1024 * 1024;

/** Longer writes pay for the growth of the file themselves: zeros first would be every byte written twice. */
const MAX_SHORT_SIZE = 128 * 1024;

const ZEROS = new Uint8Array(1024 * 1024);

/**
 * One file of the log while records are written to it. Writes are synced by the system within the call, and fall on
 * zeros that were synced before, so that the disk has neither a size nor a place to record besides the bytes.
 */
export class LogFileWriter {
  readonly file: number;
  /** Of the record headers of this file. */
  readonly seed: number;
  readonly #records: FileHandle;
  /** For the zeros: through `#records` each piece of them would wait for the disk. */
  readonly #buffered: FileHandle;
  #zeroStepSize: number;
  /** Bytes up to here are records or zeros, and synced. */
  #readyEnd = FILE_HEADER_SIZE;
  #recordsEnd = FILE_HEADER_SIZE;
  #zeroing: Promise<void> | undefined;
  #failure: unknown;

  private constructor(at: {
    readonly file: number;
    readonly seed: number;
    readonly records: FileHandle;
    readonly buffered: FileHandle;
    readonly zeroStepSize: number;
  }) {
    this.file = at.file;
    this.seed = at.seed;
    this.#records = at.records;
    this.#buffered = at.buffered;
    this.#zeroStepSize = at.zeroStepSize;
  }

  /**
   * The file, its header and its name are durable when this resolves; when it fails there is none.
   * @param needsZeros fails where there is room for the header and no more.
   */
  static async create(
    options: LogFileOptions,
    at: Pick<FileHeader, 'epoch' | 'file' | 'firstSequence'> & { readonly needsZeros?: boolean },
  ): Promise<LogFileWriter> {
    const { fileSystem, directory, nodeId, random } = options;
    const { zeroStepSize = DEFAULT_ZERO_STEP_SIZE } = options;
    const { epoch, file, firstSequence, needsZeros = false } = at;
    const path = join(directory, logFileName(file));
    const opened = [await fileSystem.open(path, 'wx')] as [FileHandle, ...FileHandle[]];
    const [buffered] = opened;
    try {
      const salt = random.bytes(SALT_SIZE);
      const { bytes, seed } = encodeFileHeader({ nodeId, epoch, file, firstSequence, salt });
      await buffered.write([bytes], 0);
      const records = await fileSystem.open(path, 'r+', 'synced');
      opened.push(records);
      const writer = new LogFileWriter({ file, seed, records, buffered, zeroStepSize });
      // A short first step: writes wait for this file, and one that takes long records only needs no zeros.
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

  /** Durable when it resolves. One call at a time, each beginning where the one before ended. */
  async write(parts: readonly Uint8Array[], offset: number, sizeBytes: number): Promise<void> {
    const end = offset + sizeBytes;
    // Zeros that are under way behind `#readyEnd` must not fall on these records.
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
   * Gives back the zeros. Not synced: zeros behind the last record are no damage.
   * @param noteEnd no file follows: when it resolves, the end of the records is marked, so that the next start distinguishes damage
   * there from a torn write.
   */
  async finish(noteEnd?: () => Promise<void>): Promise<void> {
    await this.#zeroing;
    try {
      if (this.#failure !== undefined) return;
      await this.#buffered.truncate(this.#recordsEnd);
      // All records are synced. Without the mark the next start reads the file as after a crash.
      const marked = noteEnd?.().then(() => this.#markEnd());
      await marked?.catch(() => undefined);
    } finally {
      await this.close();
    }
  }

  /**
   * After a write that met a full disk: takes away what it left behind the last whole record. The records before it were durable
   * when they were acknowledged, so this sync has nothing to say but that the file ends there.
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

  /** Behind the last record. */
  get recordsEnd(): number {
    return this.#recordsEnd;
  }

  /** Leaves the file as it is, as after a failure. */
  async close(): Promise<void> {
    await this.#zeroing;
    await this.#records.close();
    await this.#buffered.close();
  }

  async #markEnd(): Promise<void> {
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
      // A disk without room for so many zeros may have some for records, whose own writes will tell.
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
