/** The messages between the main thread and the database thread: arrays of these, in order. */
export type Command =
  /** Opens the group: the database transaction that all waiting writers share. */
  | { readonly op: 'open_group' }
  /** Starts the transaction of one caller in the group; it ends with `keep` or `undo`. */
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
  /** Copies the committed state to a file. */
  | { readonly op: 'snapshot'; readonly id: number; readonly path: string }
  | { readonly op: 'close'; readonly id: number };

/** A column value. An integer is a `number` when that is exact, otherwise a `bigint`. */
export type SqlValue = string | number | bigint | null | Uint8Array;

export interface QueryResponse {
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
  /** The database can no longer be trusted, so the store stops permanently. */
  readonly isFatal: boolean;
}

export type Reply =
  | { readonly id: number; readonly response: QueryResponse | undefined }
  | { readonly id: number; readonly failure: CommandFailure };

/** Sent instead of the first reply when the database is not opened because its pages are corrupt. */
export interface OpeningFault {
  readonly corruption: string;
}

export interface WorkerSettings {
  readonly path: string;
  /** Nothing is written, and no other process has the database open. */
  readonly isReadOnly?: boolean;
  /** Checks all pages before anything else. */
  readonly isChecked: boolean;
  readonly maxStatementCount: number;
  readonly maxRowCount: number;
}
