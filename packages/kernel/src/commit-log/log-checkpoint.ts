/** Identifies a record, which may not be written yet. */
export interface RecordRef {
  readonly file: number;
  readonly sequence: number;
}

/** The end of the records at a clean shutdown. */
export interface LogEnd {
  /** Number of the newest file; 0 without files. */
  readonly file: number;
  /** Sequence number of the next record. */
  readonly sequence: number;
  /** Checksum of that file's header; `undefined` when the disk was full and no file was open. */
  readonly checksum: number | undefined;
}

/**
 * Copy of the log's state, stored outside the log in the relational store (`plinth.db`). It is compared at startup,
 * because a truncated log looks complete.
 */
export interface LogCheckpoint {
  /**
   * Number of the last start; files created by later starts prove that the store is an older copy. `undefined`: not
   * compared.
   */
  readonly serverStartNumber: number | undefined;
  /** This file or a later one must exist, unless it is 0. */
  readonly newestFile: number;
  /** The first record that is not stored elsewhere: from it on, no record may be missing; `undefined` if not compared. */
  readonly first: RecordRef | undefined;
  /** `undefined` if records may have been written since the last start. */
  readonly end: LogEnd | undefined;
}

export const NO_CHECKPOINT: LogCheckpoint = {
  serverStartNumber: undefined,
  newestFile: 0,
  first: undefined,
  end: undefined,
};

/**
 * Stores the expected state of the log: docs/formats/commit-log.md, "Log state in the relational store". Both calls
 * resolve when the state is durable.
 */
export interface LogCheckpointStore {
  /** The state that the log must have when it is opened. */
  readonly expected: LogCheckpoint;
  /** Called before the first file of this start is created. Stores the number of this start and clears the expected end. */
  storeStart(serverStartNumber: number): Promise<void>;
  /** Called after the last record and before the clean-shutdown marker. */
  storeStop(end: LogEnd): Promise<void>;
}
