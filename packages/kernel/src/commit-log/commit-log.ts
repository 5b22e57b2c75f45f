import type { DiskFull } from '../fs/disk-full.js';
import type { RecordRef } from './log-checkpoint.js';

/** Position of a record in the log. Records are totally ordered by (`file`, `offset`). */
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
  /** True for files whose header has a salt; records of earlier releases may use definitions from an earlier file. */
  readonly isSalted: boolean;
}

/**
 * An append-only log of opaque records. One writer. Each record carries its length and a CRC32C.
 * Acknowledgement order is append order: when a record is durable, all before it are.
 */
export interface CommitLog {
  /**
   * Reserves the record's position synchronously, in call order. All waiting records share one sync.
   * The parts must not change until `durable` settles. Throws `log_read_only` after a failed sync, and `DiskFull` while the disk
   * is full. Records that were waiting at the time of the failure are not in the log.
   */
  append(parts: readonly Uint8Array[]): AppendedRecord;
  /**
   * Returns all records in order, starting with the oldest file. Call only before the first append. Throws
   * `log_damaged`.
   */
  replay(): AsyncIterable<ReplayedRecord>;
  /** Starts a new file for later records. Returns the number of the closed file, whose records are all durable. */
  rotate(): Promise<number>;
  /**
   * Creates hard links in `folder` (on the same volume) to the files up to and including `file`, all of which are
   * closed. Returns their names. A file that is being removed may be omitted, together with all earlier files.
   */
  linkFiles(file: number, folder: string): Promise<readonly string[]>;
  /**
   * Removes files up to and including number `file`. They are never replayed, but `recordsOf` can read those that are
   * retained.
   */
  removeThrough(file: number): Promise<void>;
  /** Numbers of the files that `recordsOf` can read, ascending. */
  readableFiles(): Promise<readonly number[]>;
  /**
   * Yields the records of one file in order, up to the first that is not written yet. Yields nothing if the file was
   * deleted in the meantime. May be called while records are appended.
   */
  recordsOf(file: number): AsyncIterable<ReplayedRecord>;
  /** Retains the files that are removed from now on, also after a restart. */
  startRetaining(): Promise<void>;
  /** Deletes the removed files that are retained, and retains no others. */
  stopRetaining(): Promise<void>;
  /** Deletes the removed files that are retained. Files with records up to now will not be retained. */
  clearRetained(): Promise<void>;
  /** Number of the oldest existing file. */
  readonly firstFile: number;
  /** Returns the first record after file `file`, or the next one to be written. */
  firstRecordAfter(file: number): RecordRef;
  /** Number of the newest file on the disk; 0 when the disk is full and no file exists. */
  readonly newestFile: number;
  /** Number of the file for the next record; changes synchronously in `rotate`. */
  readonly tailFile: number;
  /** Whether this repair or an earlier one dropped records from the files that were found at startup. */
  readonly hasGaps: boolean;
  /** Bytes in all files, including waiting records. */
  readonly sizeBytes: number;
  /** Set permanently by the first failed write or sync, unless the cause was a full disk. */
  readonly isReadOnly: boolean;
  /** Set while the disk is full or no file can be opened. Records are refused until `recheckFreeSpace` has found space. */
  readonly diskFullError: DiskFull | undefined;
  /** Starts checking for free space after the disk was full. Cheap, and safe to call at any time. */
  recheckFreeSpace(): void;
  close(): Promise<void>;
}
