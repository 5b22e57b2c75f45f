import { setImmediate } from 'node:timers/promises';
import { crc32c } from '../checksum/crc32c.js';
import type { DomainError } from '../errors/domain-error.js';
import { invariant } from '../errors/invariant.js';
import { asDiskFull, type DiskFull } from '../fs/disk-full.js';
import type { AppendedRecord, CommitLog, LogPosition, ReplayedRecord } from './commit-log.js';
import type { CommitLogOptions } from './commit-log-options.js';
import { IdleLog } from './idle-log.js';
import { encodeBatch, type WaitingRecord } from './log-batch.js';
import { NO_CHECKPOINT, type RecordRef } from './log-checkpoint.js';
import { logError } from './log-errors.js';
import { LogFileReader } from './log-file-reader.js';
import { LogFileWriter } from './log-file-writer.js';
import { LogFiles } from './log-files.js';
import { FILE_HEADER_SIZE, type FileHeader, RECORD_HEADER_SIZE } from './log-format.js';
import type { LogFile } from './log-loss.js';
import { type RecoveredLog, recoverLog } from './recovery/log-recovery.js';
import { recordsOfFile, replayFile } from './replay-file.js';
import { RetainedLogFiles } from './retained-log-files.js';

/**
 * Maximum size of one write of waiting records. Syncing this many bytes is not much slower than syncing a
 * short write.
 */
const MAX_BATCH_SIZE = 8 * 1024 * 1024;

/**
 * Up to this size, the sync and the transfer to a thread dominate the cost of a write. Larger batches do not wait for
 * more records.
 */
const MAX_GATHERED_SIZE = 128 * 1024;

interface Rotation {
  readonly file: number;
  readonly resolve: (file: number) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Opens the log, which is a set of numbered files in one folder. Opening checks all files; new records always
 * go to a new file.
 */
export async function openCommitLog(options: CommitLogOptions): Promise<FileCommitLog> {
  const { fileSystem, directory, nodeId, repair = false, firstFile = 1, logCheckpoint } = options;
  // The log state that the relational store (`plinth.db`) contains.
  const { expected = NO_CHECKPOINT } = logCheckpoint ?? {};
  await fileSystem.makeDirectory(directory);
  const recovered = await recoverLog({
    ...{ fileSystem, directory, nodeId, repair, expected },
    ...(options.writtenMs === undefined ? {} : { writtenMs: options.writtenMs }),
    ...(options.describe === undefined ? {} : { describe: options.describe }),
  });
  for (const loss of recovered.losses) options.onLoss(loss);
  const next = {
    // Number of this server start.
    serverStartNumber: logCheckpoint === undefined ? 0 : recovered.newestServerStartNumber + 1,
    file: Math.max(recovered.nextFile, firstFile),
    firstSequence: recovered.nextSequence,
  };
  // Must run after the clean-shutdown marker of the last run (docs/formats/commit-log.md) is truncated: the log refuses
  // to open with this marker if the store does not contain the end.
  await logCheckpoint?.storeStart(next.serverStartNumber);
  const active = await createUnlessFull(options, next);
  return new FileCommitLog(options, recovered, { ...next, active });
}

/** On a full disk the log opens without a new file: existing records can be read, and new ones are refused. */
async function createUnlessFull(
  options: CommitLogOptions,
  next: Pick<FileHeader, 'serverStartNumber' | 'file' | 'firstSequence'>,
): Promise<LogFileWriter | DiskFull> {
  const { obstacle } = options.diskSpace ?? {};
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
 * Created by `openCommitLog`. After a failed sync it refuses all records, because the content of the disk is unknown.
 * When the disk is full, the current file is closed after its last acknowledged record. The log continues in a new
 * file once space is free, because a file whose sync failed is never synced again.
 */
export class FileCommitLog implements CommitLog {
  readonly #options: CommitLogOptions;
  readonly hasGaps: boolean;
  readonly #recovered: readonly LogFile[];
  readonly #files: LogFiles;
  /**
   * Files already removed from the log, kept so that live queries can read missed rows. They are never replayed and
   * may be deleted at any time.
   */
  readonly #retained: RetainedLogFiles | undefined;
  readonly #serverStartNumber: number;
  /** Undefined while the disk is full. */
  #active: LogFileWriter | undefined;
  #full: DiskFull | undefined;
  #retriesOnFullDisk = false;
  /** Position and number of the next record, including all records that are waiting to be written. */
  #tail: LogPosition;
  #nextSequence: number;
  #queue: (WaitingRecord | Rotation)[] = [];
  #waitingSize = 0;
  #running: Promise<void> | undefined;
  #failure: DomainError | undefined;
  #hasAppended = false;
  readonly #idleTicker: Disposable | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    options: CommitLogOptions,
    recovered: RecoveredLog,
    next: {
      readonly serverStartNumber: number;
      readonly file: number;
      readonly active: LogFileWriter | DiskFull;
    },
  ) {
    this.#options = options;
    this.hasGaps = recovered.hasGaps;
    this.#recovered = recovered.files;
    const { fileSystem, directory, retained, diskSpace } = options;
    this.#retained = retained && new RetainedLogFiles(fileSystem, retained, diskSpace);
    this.#files = new LogFiles(fileSystem, directory, this.#retained);
    for (const each of recovered.files)
      this.#files.add(each.file, each.firstSequence, each.sizeBytes);
    const { serverStartNumber, file, active } = next;
    this.#serverStartNumber = serverStartNumber;
    if (active instanceof LogFileWriter) {
      this.#active = active;
      this.#files.add(file, recovered.nextSequence);
    } else this.#full = active;
    this.#tail = { file, offset: FILE_HEADER_SIZE };
    this.#nextSequence = recovered.nextSequence;
    this.#idleTicker =
      options.clock && new IdleLog().watch(options.clock, this.#idleFile, this.#writeSyncMark);
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

  firstRecordAfter(file: number): RecordRef {
    return (
      this.#files.firstRecordAfter(file) ?? { file: this.#tail.file, sequence: this.#nextSequence }
    );
  }

  get isReadOnly(): boolean {
    return this.#failure !== undefined;
  }

  get diskFullError(): DiskFull | undefined {
    return this.#full ?? this.#options.diskSpace?.obstacle;
  }

  recheckFreeSpace(): void {
    // Retained files are deleted first to free space; failed deletions are retried.
    if (this.#options.diskSpace?.obstacle !== undefined)
      this.#retained?.clear().catch(() => undefined);
    if (this.#full === undefined || this.isReadOnly || this.#closing !== undefined) return;
    if (this.#options.diskSpace?.obstacle !== undefined) return;
    this.#retriesOnFullDisk = true;
    this.#running ??= this.#run();
  }

  append(parts: readonly Uint8Array[]): AppendedRecord {
    this.#throwIfUnusable();
    const { diskFullError } = this;
    if (diskFullError !== undefined) throw diskFullError;
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
    // A caller may ignore the promise, which must not crash the process; `isReadOnly` reports the failure to all callers.
    durable.catch(() => {});
    return { position, durable };
  }

  async *replay(): AsyncIterable<ReplayedRecord> {
    invariant(!this.#hasAppended, 'replay must run before the first append');
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

  async removeThrough(file: number): Promise<void> {
    invariant(file < (this.#active ?? this.#tail).file, 'the current log file cannot be removed');
    await this.#files.remove(file);
  }

  async readableFiles(): Promise<readonly number[]> {
    const retained = (await this.#retained?.numbers()) ?? [];
    return [...new Set([...retained, ...this.#files.numbers()])].sort((a, b) => a - b);
  }

  async *recordsOf(file: number): AsyncIterable<ReplayedRecord> {
    // A file may be moved between the two attempts to open it.
    const paths = [
      this.#files.pathOf(file),
      ...(this.#retained ? [this.#retained.pathOf(file)] : []),
    ];
    for (const path of paths) {
      const handle = await this.#options.fileSystem.open(path, 'r').catch(undefinedIfMissing);
      if (handle === undefined) continue;
      try {
        yield* recordsOfFile(await LogFileReader.over(handle), file, this.#options.nodeId);
        return;
      } finally {
        await handle.close();
      }
    }
  }

  async startRetaining(): Promise<void> {
    await this.#retained?.start();
  }

  async stopRetaining(): Promise<void> {
    await this.#retained?.stop();
  }

  async clearRetained(): Promise<void> {
    await this.#retained?.clear(this.#tail.file);
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  /** The current file, unless it is being written or cannot be used. */
  readonly #idleFile = (): LogFileWriter | undefined => {
    const isUsable = !this.isReadOnly && this.#closing === undefined;
    return this.#running === undefined && isUsable ? this.#active : undefined;
  };

  /** Records that arrive in the meantime are written afterwards. */
  readonly #writeSyncMark = (active: LogFileWriter): void => {
    this.#running = active
      .writeSyncMark()
      .catch(() => undefined) // The end is then read as after a crash during a write.
      .then(() => this.#run());
  };

  #enqueue(entry: WaitingRecord | Rotation): void {
    this.#queue.push(entry);
    this.#running ??= this.#run();
  }

  /** One synced write at a time; records that arrive in the meantime share the next write. */
  async #run(): Promise<void> {
    await setImmediate(); // records of the same event-loop tick share the first write
    while ((this.#queue.length > 0 || this.#retriesOnFullDisk) && this.#failure === undefined) {
      const batch = this.#takeBatch();
      const first = this.#queue[0];
      try {
        if (batch.length > 0) {
          await this.#write(batch);
          await this.#gather();
        } else if (first !== undefined && !('parts' in first)) await this.#startFile(first);
        else await this.#continueInNewFile();
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
    invariant(active !== undefined, 'pending records require an open log file');
    const { parts, sizeBytes, offset } = encodeBatch(batch, active.seed);
    await active.write(parts, offset, sizeBytes);
    this.#waitingSize -= sizeBytes;
    this.#options.diskSpace?.noteWritten(sizeBytes);
    for (const { resolve } of batch) resolve();
  }

  /**
   * Polls the sockets once between two writes. A client that has just received its acknowledgement often sends its
   * next record immediately, which can then join the waiting records. Otherwise, a few clients would permanently
   * split into two groups, each waiting for the other's sync, which would double the number of writes. The log never
   * waits for records that may not arrive.
   */
  async #gather(): Promise<void> {
    if (this.#queue.length === 0 || this.#waitingSize > MAX_GATHERED_SIZE) return;
    await setImmediate(); // the end of this tick, which sends responses
    await setImmediate(); // the end of the next tick, which starts with new input
  }

  async #startFile(rotation: Rotation): Promise<void> {
    const closed = this.#active;
    if (closed !== undefined) {
      const later = this.#queue.find((entry) => 'parts' in entry);
      const isWaiting = later !== undefined && 'parts' in later;
      // Read before the wait: records appended in the meantime belong to the new file.
      const firstSequence = isWaiting ? later.sequence : this.#nextSequence;
      try {
        await closed.finish();
      } finally {
        this.#active = undefined; // The file is closed even if its zeros could not be released.
      }
      this.#active = await LogFileWriter.create(this.#options, {
        serverStartNumber: this.#serverStartNumber,
        file: rotation.file,
        firstSequence,
      });
    }
    // On a full disk, only the number changes, and no file with that number exists.
    else this.#files.drop(rotation.file);
    this.#queue.shift();
    rotation.resolve(rotation.file - 1);
  }

  /** Continues in a new file when the disk has space for records in addition to the header. */
  async #continueInNewFile(): Promise<void> {
    this.#retriesOnFullDisk = false;
    if (this.#full === undefined) return;
    const { file } = this.#tail;
    const firstSequence = this.#nextSequence;
    this.#active = await LogFileWriter.create(this.#options, {
      ...{ serverStartNumber: this.#serverStartNumber, file, firstSequence },
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
    // The records are treated as never appended: the next number follows the last written record.
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
    invariant(this.#closing === undefined, 'the log must not be used after it is closed');
  }

  #throwIfOverloaded(payloadSize: number): void {
    const { maxRecordSize = 256 * 1024 * 1024, maxWaitingSize = 512 * 1024 * 1024 } = this.#options;
    if (payloadSize > maxRecordSize) {
      throw logError(
        'log_overloaded',
        `a record of ${payloadSize} bytes exceeds the limit of ${maxRecordSize}`,
      );
    }
    if (this.#waitingSize + payloadSize > maxWaitingSize) {
      throw logError('log_overloaded', `${this.#waitingSize} bytes are queued for the disk`);
    }
  }

  async #close(): Promise<void> {
    this.#idleTicker?.[Symbol.dispose]();
    await this.#running;
    const active = this.#active;
    if (this.#failure !== undefined) await active?.close();
    else if (active !== undefined) await active.finish(() => this.#noteEnd(active.seed));
    else await this.#noteEnd().catch(() => undefined); // The next startup then detects a crash.
  }

  async #noteEnd(checksum?: number): Promise<void> {
    const end = { file: this.newestFile, sequence: this.#nextSequence, checksum };
    await this.#options.logCheckpoint?.storeStop(end);
  }
}

function undefinedIfMissing(error: unknown): undefined {
  if (Reflect.get(Object(error), 'code') !== 'ENOENT') throw error;
}
