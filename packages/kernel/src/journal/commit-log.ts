import type { DiskFull } from '../fs/disk-full.js';
import type { LogStart } from './log-catalog.js';

/** Where a record stands in the log. Records are totally ordered by (`file`, `offset`). */
export interface LogPosition {
  readonly file: number;
  readonly offset: number;
}

export interface AppendedRecord {
  readonly position: LogPosition;
  /** Resolves when the record and all before it are on stable storage; rejects when the sync failed. */
  readonly durable: Promise<void>;
}

export interface ReplayedRecord {
  readonly position: LogPosition;
  readonly payload: Uint8Array;
  /** Set for files whose header has a salt; the writer of an earlier release may have used definitions of an earlier file. */
  readonly isSalted: boolean;
}

/**
 * An append-only log of opaque records. One writer. Each record carries its length and a CRC32C.
 * Acknowledgement order is append order: when a record is durable, all before it are.
 */
export interface CommitLog {
  /**
   * Takes its place in the log at once (synchronously, in call order); all records waiting share one sync.
   * The parts must not be changed until `durable` settles. Throws `log_read_only` after a failed sync, and `DiskFull` while there
   * is no room: records that were waiting then are not in the log, in whatever order they had.
   */
  append(parts: readonly Uint8Array[]): AppendedRecord;
  /** All records from the oldest file on, in order. Only before the first append. Damage: see `log_damaged`. */
  replay(): AsyncIterable<ReplayedRecord>;
  /** Later records go to a new file. Returns the number of the file that was closed (all its records durable). */
  rotate(): Promise<number>;
  /**
   * Gives the files up to and with number `file`, of which none is written any more, a second name in `folder`, which is on the
   * same volume. Returns their names. Files that are being removed may be left out, and then all before them.
   */
  linkFiles(file: number, folder: string): Promise<readonly string[]>;
  /** Removes files up to and with number `file`. */
  seal(file: number): Promise<void>;
  /** Number of the oldest file that there is. */
  readonly firstFile: number;
  /** The first record behind the files up to and with number `file`. */
  startAfter(file: number): LogStart;
  /** Number of the newest file that there is on the disk; 0: none, because that is full. */
  readonly newestFile: number;
  /** Number of the file that the next record is written to; changes in the call of `rotate`. */
  readonly tailFile: number;
  /** A repair, now or earlier, went on without records that should be in the files that there were at the start. */
  readonly hasGaps: boolean;
  /** Bytes in all files, written or waiting. */
  readonly sizeBytes: number;
  /** Set for good by the first write or sync that failed for another reason than a full disk. */
  readonly isReadOnly: boolean;
  /** The disk has no room, or no file can be opened. Nothing is taken until `tryAgain` has found some. */
  readonly fullBy: DiskFull | undefined;
  /** Begins to look for room when the disk was full. Cheap and harmless at any time. */
  tryAgain(): void;
  close(): Promise<void>;
}
