import type { Clock } from '../clock/clock.js';
import type { FreeDiskSpace } from '../fs/disk-space.js';
import type { LogCheckpointStore } from './log-checkpoint.js';
import type { LogFileOptions } from './log-file-writer.js';
import type { LogLoss } from './log-loss.js';
import type { RetainedLogFilesOptions } from './retained-log-files.js';

/** The folder belongs to the log and is created when missing. The UUID of this node is written into each file. */
export interface CommitLogOptions extends LogFileOptions {
  /** Quarantines damaged files instead of throwing `log_damaged`; see `losses`. */
  readonly repair?: boolean;
  /** Called for each loss found at startup, so that every loss is reported. */
  readonly onLoss: (loss: LogLoss) => void;
  /** Number of the first new file, 1 by default: a log without files cannot derive the number of earlier files. */
  readonly firstFile?: number;
  /**
   * The log state that the relational store contains. It is compared at startup, because a truncated log looks
   * complete.
   */
  readonly logCheckpoint?: LogCheckpointStore;
  /** While its `obstacle` is set, records are refused as on a full disk. */
  readonly diskSpace?: FreeDiskSpace | undefined;
  /** Returns the time at which a record was written, if its payload contains a timestamp. Used in loss reports. */
  readonly writtenMs?: (payload: Uint8Array) => number | undefined;
  /** Describes a lost record from its payload, which may be corrupt. Used in loss reports. */
  readonly describe?: (payload: Uint8Array) => string | undefined;
  /** Retains removed files for `recordsOf`; absent means that they are deleted. */
  readonly retained?: RetainedLogFilesOptions;
  /** Without a clock, the records of an idle log are not marked as synced. */
  readonly clock?: Clock;
  readonly maxRecordSize?: number;
  /** Maximum number of bytes waiting to be written. Above this limit, `append` throws `log_overloaded`. */
  readonly maxWaitingSize?: number;
}
