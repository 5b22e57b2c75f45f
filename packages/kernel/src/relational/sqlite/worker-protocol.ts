/** What the main thread and the thread that owns the database say to each other: arrays of these, in order. */
export type Command =
  /** Opens the group: the database transaction that all writers waiting at the moment share. */
  | { readonly op: 'open_group' }
  /** Starts one caller's transaction in the group; it ends by `keep` or `undo`. */
  | { readonly op: 'begin' }
  | { readonly op: 'keep' }
  | { readonly op: 'undo' }
  /** Commits and syncs the group. */
  | { readonly op: 'commit_group'; readonly id: number }
  | {
      readonly op: 'query';
      readonly id: number;
      readonly on: 'writer' | 'reader';
      readonly sql: string;
      readonly parameters: readonly SqlValue[];
    }
  /** Copies what is committed to a file. */
  | { readonly op: 'snapshot'; readonly id: number; readonly path: string }
  | { readonly op: 'close'; readonly id: number };

/** What a row can hold. An integer is a `number` when that is exact and a `bigint` beyond. */
export type SqlValue = string | number | bigint | null | Uint8Array;

export interface QueryAnswer {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly SqlValue[])[];
  readonly changedRowCount: number | undefined;
  readonly insertId: number | bigint | undefined;
  readonly changedSchema: boolean;
}

export interface CommandFailure {
  /** SQLite's extended result code, for example `SQLITE_CONSTRAINT_UNIQUE`. */
  readonly code: string;
  readonly message: string;
  /** The database can no longer be trusted, so the store stops for good. */
  readonly isFatal: boolean;
}

export type Reply =
  | { readonly id: number; readonly answer: QueryAnswer | undefined }
  | { readonly id: number; readonly failure: CommandFailure };

/** Sent instead of the first reply: the database is not opened, because its pages contradict each other. */
export interface OpeningFault {
  readonly corruption: string;
}

export interface WorkerSettings {
  readonly path: string;
  /** Nothing is written, and no other process has the database open. */
  readonly isReadOnly?: boolean;
  /** Reads all pages before anything else does. */
  readonly isChecked: boolean;
  readonly maxStatementCount: number;
  readonly maxRowCount: number;
}
