/** The first record that is not stored elsewhere, or will be written next. */
export interface LogStart {
  readonly file: number;
  readonly sequence: number;
}

/** Where the records ended at a clean stop. */
export interface LogEnd {
  /** Number of the newest file; 0: there was none. */
  readonly file: number;
  /** Of the record that would have been next. */
  readonly sequence: number;
  /** Of the header of that file; `undefined`: the disk was full, so none was open. */
  readonly checksum: number | undefined;
}

/** What a catalog outside of the log's folder knows. A start compares, because a log that was cut looks like a complete one. */
export interface KnownLog {
  /** Number of the last start; files of later ones prove that the catalog is an older copy. `undefined`: not compared. */
  readonly epoch: number | undefined;
  /** There must be this file or a later one, unless it is 0. */
  readonly newestFile: number;
  /** There must be no record missing from here on; `undefined`: not compared. */
  readonly first: LogStart | undefined;
  /** `undefined`: records may have been written since the last start. */
  readonly end: LogEnd | undefined;
}

export const NOTHING_KNOWN: KnownLog = {
  epoch: undefined,
  newestFile: 0,
  first: undefined,
  end: undefined,
};

/** Keeps what is known of the log: docs/formats/commit-log.md, "Log state in the catalog". Both calls resolve when it is durable. */
export interface LogCatalog {
  /** At the opening of the log. */
  readonly known: KnownLog;
  /** Before the first file of this start is created: its `epoch`, and that the end is not known any more. */
  noteStart(epoch: number): Promise<void>;
  /** After the last record and before the mark of a clean stop. */
  noteStop(end: LogEnd): Promise<void>;
}
