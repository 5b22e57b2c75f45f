import { setImmediate } from 'node:timers/promises';
import type { DomainError } from '../errors/domain-error.js';
import { invariant } from '../errors/invariant.js';
import { asDiskFull, type DiskFull } from '../fs/disk-full.js';
import type { WriteRoom } from '../fs/disk-space.js';
import type { AppendedRecord, CommitLog, LogPosition, ReplayedRecord } from './commit-log.js';
import { crc32c } from './crc32c.js';
import { encodeBatch, type WaitingRecord } from './log-batch.js';
import { type LogCatalog, type LogStart, NOTHING_KNOWN } from './log-catalog.js';
import { logError } from './log-errors.js';
import { LogFileReader } from './log-file-reader.js';
import { type LogFileOptions, LogFileWriter } from './log-file-writer.js';
import { LogFiles } from './log-files.js';
import { FILE_HEADER_SIZE, type FileHeader, RECORD_HEADER_SIZE } from './log-format.js';
import type { LogFile, LogLoss } from './log-loss.js';
import { type RecoveredLog, recoverLog } from './log-recovery.js';
import { replayFile } from './replay-file.js';

/** The folder is the log's own and made when it is missing; the UUID of this node is written into each file. */
export interface CommitLogOptions extends LogFileOptions {
  /** Moves damaged files aside instead of throwing `log_damaged`; see `losses`. */
  readonly repair?: boolean;
  /** Called for each loss found at the start, so that it is never silent. */
  readonly onLoss: (loss: LogLoss) => void;
  /** Numbers of new files begin here, 1 unless given: a log without files does not know how many it had. */
  readonly firstFile?: number;
  /** Without one, nothing is compared: a log that was cut looks like a complete one. */
  readonly catalog?: LogCatalog;
  /** While it has an obstacle, records are refused as on a full disk. */
  readonly room?: WriteRoom | undefined;
  /** When a record was written, if its payload says so: for reports of what is lost around it. */
  readonly writtenMs?: (payload: Uint8Array) => number | undefined;
  readonly maxRecordSize?: number;
  /** Bytes that may wait for the disk; `append` throws `log_overloaded` beyond. */
  readonly maxWaitingSize?: number;
}

/** One write takes what waits, up to this size; small enough that its sync is not much slower than a short one. */
const MAX_BATCH_SIZE = 8 * 1024 * 1024;

/** Up to so many bytes a write costs its sync and its hand-over to a thread, whatever is in it: more that waits is not held back. */
const MAX_GATHERED_SIZE = 128 * 1024;

interface Rotation {
  readonly file: number;
  readonly resolve: (file: number) => void;
  readonly reject: (error: Error) => void;
}

/** The log in numbered files of one folder. Checks all of it when opened; new records always go to a new file. */
export async function openCommitLog(options: CommitLogOptions): Promise<FileCommitLog> {
  const { fileSystem, directory, nodeId, repair = false, firstFile = 1, catalog } = options;
  const { known = NOTHING_KNOWN } = catalog ?? {};
  await fileSystem.makeDirectory(directory);
  const recovered = await recoverLog({
    ...{ fileSystem, directory, nodeId, repair, known },
    ...(options.writtenMs === undefined ? {} : { writtenMs: options.writtenMs }),
  });
  for (const loss of recovered.losses) options.onLoss(loss);
  const next = {
    epoch: catalog === undefined ? 0 : recovered.newestEpoch + 1,
    file: Math.max(recovered.nextFile, firstFile),
    firstSequence: recovered.nextSequence,
  };
  // After the mark of the last stop was cut off: a mark without a known end is refused.
  await catalog?.noteStart(next.epoch);
  const active = await createUnlessFull(options, next);
  return new FileCommitLog(options, recovered, { ...next, active });
}

/** On a full disk a log opens without a file of its own: what is there can be read, and records are refused. */
async function createUnlessFull(
  options: CommitLogOptions,
  next: Pick<FileHeader, 'epoch' | 'file' | 'firstSequence'>,
): Promise<LogFileWriter | DiskFull> {
  const { obstacle } = options.room ?? {};
  if (obstacle !== undefined) return obstacle;
  try {
    return await LogFileWriter.create(options, next);
  } catch (error) {
    const full = asDiskFull(error);
    if (full === undefined) throw error;
    return full;
  }
}

/**
 * Made by `openCommitLog`. After a failed sync it takes nothing more: what is on disk is not known then. A full disk ends the file
 * behind its last acknowledged record, and the log goes on in a new one when there is room: no file is synced again that refused.
 */
export class FileCommitLog implements CommitLog {
  readonly #options: CommitLogOptions;
  readonly hasGaps: boolean;
  readonly #recovered: readonly LogFile[];
  readonly #files: LogFiles;
  readonly #epoch: number;
  /** None while the disk is full. */
  #active: LogFileWriter | undefined;
  #full: DiskFull | undefined;
  #looksForRoom = false;
  /** Where the next record will stand, and its number; ahead of the disk by what waits. */
  #tail: LogPosition;
  #nextSequence: number;
  #queue: (WaitingRecord | Rotation)[] = [];
  #waitingSize = 0;
  #running: Promise<void> | undefined;
  #failure: DomainError | undefined;
  #hasAppended = false;
  #closing: Promise<void> | undefined;

  constructor(
    options: CommitLogOptions,
    recovered: RecoveredLog,
    next: {
      readonly epoch: number;
      readonly file: number;
      readonly active: LogFileWriter | DiskFull;
    },
  ) {
    this.#options = options;
    this.hasGaps = recovered.hasGaps;
    this.#recovered = recovered.files;
    this.#files = new LogFiles(options.fileSystem, options.directory);
    for (const each of recovered.files)
      this.#files.add(each.file, each.firstSequence, each.sizeBytes);
    const { epoch, file, active } = next;
    this.#epoch = epoch;
    if (active instanceof LogFileWriter) {
      this.#active = active;
      this.#files.add(file, recovered.nextSequence);
    } else this.#full = active;
    this.#tail = { file, offset: FILE_HEADER_SIZE };
    this.#nextSequence = recovered.nextSequence;
  }

  get firstFile(): number {
    return Math.min(this.#tail.file, this.#files.first);
  }

  get tailFile(): number {
    return this.#tail.file;
  }

  get newestFile(): number {
    return this.#active?.file ?? this.#files.newest;
  }

  get sizeBytes(): number {
    return this.#files.sizeBytes;
  }

  startAfter(file: number): LogStart {
    return this.#files.startAfter(file) ?? { file: this.#tail.file, sequence: this.#nextSequence };
  }

  get isReadOnly(): boolean {
    return this.#failure !== undefined;
  }

  get fullBy(): DiskFull | undefined {
    return this.#full ?? this.#options.room?.obstacle;
  }

  tryAgain(): void {
    if (this.#full === undefined || this.isReadOnly || this.#closing !== undefined) return;
    if (this.#options.room?.obstacle !== undefined) return;
    this.#looksForRoom = true;
    this.#running ??= this.#run();
  }

  append(parts: readonly Uint8Array[]): AppendedRecord {
    this.#throwIfUnusable();
    const { fullBy } = this;
    if (fullBy !== undefined) throw fullBy;
    const payloadSize = parts.reduce((sum, part) => sum + part.byteLength, 0);
    this.#throwIfOverloaded(payloadSize);
    this.#hasAppended = true;
    const position = this.#tail;
    const sizeBytes = RECORD_HEADER_SIZE + payloadSize;
    const sequence = this.#nextSequence;
    this.#nextSequence += 1;
    this.#tail = { file: position.file, offset: position.offset + sizeBytes };
    this.#files.resize(position.file, this.#tail.offset);
    this.#waitingSize += sizeBytes;
    const payloadCrc = crc32c(parts);
    const durable = new Promise<void>((resolve, reject) => {
      const { offset } = position;
      this.#enqueue({ parts, payloadSize, payloadCrc, sequence, offset, resolve, reject });
    });
    // Whoever does not wait for the sync must not end the process by that; `isReadOnly` tells everyone.
    durable.catch(() => {});
    return { position, durable };
  }

  async *replay(): AsyncIterable<ReplayedRecord> {
    invariant(!this.#hasAppended, 'replay comes before the first append');
    for (const { file, path } of this.#recovered) {
      const handle = await this.#options.fileSystem.open(path, 'r');
      try {
        yield* replayFile(await LogFileReader.over(handle), file, path);
      } finally {
        await handle.close();
      }
    }
  }

  async rotate(): Promise<number> {
    this.#throwIfUnusable();
    const file = this.#tail.file + 1;
    this.#tail = { file, offset: FILE_HEADER_SIZE };
    this.#files.add(file, this.#nextSequence);
    return await new Promise((resolve, reject) => {
      this.#enqueue({ file, resolve, reject });
    });
  }

  async linkFiles(file: number, folder: string): Promise<readonly string[]> {
    return await this.#files.link(file, folder);
  }

  async seal(file: number): Promise<void> {
    invariant(
      file < (this.#active ?? this.#tail).file,
      'only files that were rotated away can be removed',
    );
    await this.#files.remove(file);
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  #enqueue(entry: WaitingRecord | Rotation): void {
    this.#queue.push(entry);
    this.#running ??= this.#run();
  }

  /** One synced write at a time; whatever arrives meanwhile goes together into the next. */
  async #run(): Promise<void> {
    await setImmediate(); // what comes in the same turn of the event loop shares the first write
    while ((this.#queue.length > 0 || this.#looksForRoom) && this.#failure === undefined) {
      const batch = this.#takeBatch();
      const first = this.#queue[0];
      try {
        if (batch.length > 0) {
          await this.#write(batch);
          await this.#gather();
        } else if (first !== undefined && !('parts' in first)) await this.#startFile(first);
        else await this.#goOn();
      } catch (error) {
        await this.#endBy(error, batch);
      }
    }
    this.#running = undefined;
  }

  #takeBatch(): readonly WaitingRecord[] {
    const batch: WaitingRecord[] = [];
    let sizeBytes = 0;
    for (const entry of this.#queue) {
      if (!('parts' in entry)) break;
      sizeBytes += RECORD_HEADER_SIZE + entry.payloadSize;
      if (batch.length > 0 && sizeBytes > MAX_BATCH_SIZE) break;
      batch.push(entry);
    }
    this.#queue.splice(0, batch.length);
    return batch;
  }

  async #write(batch: readonly WaitingRecord[]): Promise<void> {
    const active = this.#active;
    invariant(active !== undefined, 'records wait only where there is a file');
    const { parts, sizeBytes, offset } = encodeBatch(batch, active.seed);
    await active.write(parts, offset, sizeBytes);
    this.#waitingSize -= sizeBytes;
    this.#options.room?.noteWritten(sizeBytes);
    for (const { resolve } of batch) resolve();
  }

  /**
   * Between two writes the event loop looks at its sockets once: whoever was acknowledged just now often has its next record
   * ready, which goes with those that wait. Otherwise few clients would stay in two halves for good, each waiting for the
   * other's sync, in twice as many writes. Nobody waits here for what may not come.
   */
  async #gather(): Promise<void> {
    if (this.#queue.length === 0 || this.#waitingSize > MAX_GATHERED_SIZE) return;
    await setImmediate(); // the end of this turn, in which answers go out
    await setImmediate(); // the end of the next, which begins with what came
  }

  async #startFile(rotation: Rotation): Promise<void> {
    const closed = this.#active;
    if (closed !== undefined) {
      const later = this.#queue.find((entry) => 'parts' in entry);
      const isWaiting = later !== undefined && 'parts' in later;
      // Taken before the wait: what is appended meanwhile belongs to the new file.
      const firstSequence = isWaiting ? later.sequence : this.#nextSequence;
      try {
        await closed.finish();
      } finally {
        this.#active = undefined; // It is closed, also when its zeros could not be given back.
      }
      this.#active = await LogFileWriter.create(this.#options, {
        epoch: this.#epoch,
        file: rotation.file,
        firstSequence,
      });
    }
    // On a full disk the number is all there is to change: nobody shall look for a file of that name.
    else this.#files.drop(rotation.file);
    this.#queue.shift();
    rotation.resolve(rotation.file - 1);
  }

  /** In a new file, when there is room for some records and not just for its header. */
  async #goOn(): Promise<void> {
    this.#looksForRoom = false;
    if (this.#full === undefined) return;
    const { file } = this.#tail;
    const firstSequence = this.#nextSequence;
    this.#active = await LogFileWriter.create(this.#options, {
      ...{ epoch: this.#epoch, file, firstSequence },
      needsZeros: true,
    });
    this.#files.add(file, firstSequence);
    this.#full = undefined;
  }

  async #endBy(cause: unknown, batch: readonly WaitingRecord[]): Promise<void> {
    const full = asDiskFull(cause);
    if (full === undefined) {
      this.#fail(cause, batch);
      return;
    }
    this.#full = full;
    const records = [...batch, ...this.#queue.filter((entry) => 'parts' in entry)];
    this.#queue = this.#queue.filter((entry) => !('parts' in entry));
    // As if they had never been appended: the next record is the one behind the last that was written.
    this.#nextSequence = records[0]?.sequence ?? this.#nextSequence;
    this.#waitingSize = 0;
    for (const { reject } of records) reject(full);
    const active = this.#active;
    this.#active = undefined;
    const file = Math.max(this.#tail.file, active === undefined ? 0 : active.file + 1);
    this.#tail = { file, offset: FILE_HEADER_SIZE };
    if (active === undefined) return;
    this.#files.resize(active.file, active.recordsEnd);
    await active.endAfterRecords().catch((error: unknown) => this.#fail(error, []));
  }

  #fail(cause: unknown, batch: readonly WaitingRecord[]): void {
    const failure = logError('log_read_only', undefined, cause);
    this.#failure = failure;
    for (const { reject } of [...batch, ...this.#queue]) reject(failure);
    this.#queue = [];
  }

  #throwIfUnusable(): void {
    if (this.#failure !== undefined) throw this.#failure;
    invariant(this.#closing === undefined, 'the log is not used after its close');
  }

  #throwIfOverloaded(payloadSize: number): void {
    const { maxRecordSize = 256 * 1024 * 1024, maxWaitingSize = 512 * 1024 * 1024 } = this.#options;
    if (payloadSize > maxRecordSize) {
      throw logError(
        'log_overloaded',
        `a record of ${payloadSize} bytes is over the limit of ${maxRecordSize}`,
      );
    }
    if (this.#waitingSize + payloadSize > maxWaitingSize) {
      throw logError('log_overloaded', `${this.#waitingSize} bytes wait for the disk`);
    }
  }

  async #close(): Promise<void> {
    await this.#running;
    const active = this.#active;
    if (this.#failure !== undefined) await active?.close();
    else if (active !== undefined) await active.finish(() => this.#noteEnd(active.seed));
    else await this.#noteEnd().catch(() => undefined); // As after a crash.
  }

  async #noteEnd(checksum?: number): Promise<void> {
    const end = { file: this.newestFile, sequence: this.#nextSequence, checksum };
    await this.#options.catalog?.noteStop(end);
  }
}
