import type { ResultStream } from './columns/result.js';
import type { DatabaseAccess } from './database/database-access.js';
import type { MessageFormat, Precision } from './parsed-body.js';
import type { ParameterValue, PlannedQuery } from './query/planned-query.js';
import type { QuerySession, SessionRequest } from './query/query-session.js';
import type { RefusedLine } from './refused-line.js';
import type { SeriesPoint, TagCondition } from './scan.js';

/**
 * The operations that the HTTP layer uses. Every expected failure is a `TsdbError`,
 * a `RequestError` (a body that is too large or cannot be decompressed) or `DiskFull`.
 */
export interface Engine {
  write(request: WriteRequest): Promise<WriteOutcome>;
  query(request: QueryRequest): Promise<ResultStream>;
  /** Plans a query, with the columns of its result and its parameters, without reading data. */
  describe(request: Omit<QueryRequest, 'signal'>): Promise<PlannedQuery>;
  /** Opens a session for query languages that need several DuckDB statements for one result. */
  openSession(request: SessionRequest): Promise<QuerySession>;
  /** Returns the complete result as one Parquet file, even without rows. The caller must dispose of it. */
  queryToParquet(request: QueryRequest): Promise<ParquetFile>;
  /** Resolves when the deletion is durable and applies to every query that starts afterwards. */
  deleteRows(request: DeleteRowsRequest): Promise<void>;
  /**
   * Like `deleteRows`, for the points that `find` returns. Throws `too_many_points`,
   * `deletion_timed_out`.
   */
  deletePoints(request: DeletePointsRequest): Promise<void>;
  /** Number of row deletions that have not been carried out in all files yet. */
  readonly waitingDeletionCount: number;
  /** Starts removing due data of deleted objects in the background. */
  removeDeletedSoon(): void;
}

/** A finished temporary file. */
export interface ParquetFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly rowCount: number;
  /** Removes the file; calling it twice is harmless. */
  dispose(): Promise<void>;
}

export interface WriteRequest {
  /** Validated by the HTTP layer, because the rules for names depend on the endpoint. */
  readonly database: string;
  /** Permissions of the writer; throws `not_permitted` without write permission. */
  readonly access: DatabaseAccess;
  /**
   * The body as received. The storage engine takes ownership, except of shared memory, which it only reads, and only
   * until the write resolves.
   */
  readonly body: Uint8Array;
  /** With `gzip`, the body may consist of concatenated members, which are decompressed off the main thread. */
  readonly encoding: 'identity' | 'gzip' | 'snappy';
  /** Absent for line protocol. Remote write is always in `snappy` encoding. */
  readonly format?: MessageFormat;
  /**
   * Maximum body size after decoding; throws `body_too_large` above it. The HTTP layer has checked
   * the received size.
   */
  readonly maxSizeBytes: number;
  readonly precision: Precision;
  readonly acceptPartial: boolean;
  /** If true, the write resolves when rows are buffered and visible, before the log is durable. */
  readonly noSync: boolean;
  /** Time at which the request arrived; used for lines without a timestamp. */
  readonly receivedNs: bigint;
  /** Number of consecutive plugin runs that led to this write; absent for client writes. */
  readonly pluginDepth?: number;
  /** True if the server writes to its own database, which is read-only for clients. */
  readonly isInternal?: boolean;
  /** Reported with refused rows; absent for writes of the server itself. */
  readonly clientAddress?: string;
}

export interface WriteOutcome {
  readonly writtenCount: number;
  /** Lines that are neither blank nor comments, samples, or data points. */
  readonly lineCount: number;
  /** Number of written rows that are native histograms. */
  readonly histogramCount?: number;
  /** Exemplars in the body, which are not stored. */
  readonly exemplarCount?: number;
  /** In line order, at most `MAX_REFUSED_LINES`. Empty if everything was written. */
  readonly refused: readonly RefusedLine[];
}

export interface QueryRequest {
  readonly database: string;
  /** Permissions of the client; throws `not_permitted` without read permission. */
  readonly access: DatabaseAccess;
  readonly language: 'sql';
  readonly text: string;
  readonly params: ReadonlyMap<string, ParameterValue>;
  /** Aborted when the client disconnects; interrupts the query. */
  readonly signal: AbortSignal;
  /** True for the server's own queries, which are not in the query log. */
  readonly isInternal?: boolean;
}

/** Points to delete. Rows written after the snapshot are kept. */
export interface DeletePointsRequest {
  readonly database: string;
  readonly table: string;
  /** See `DeleteRowsRequest.fields`. */
  readonly fields?: readonly string[] | undefined;
  /**
   * Returns the points, each once. Must read them with a scan that receives `onSnapshot`, and should
   * stop after `maxPoints + 1`.
   */
  find(options: {
    readonly onSnapshot: () => void;
    readonly maxPoints: number;
  }): Promise<readonly SeriesPoint[]>;
}

/** Rows to delete. Rows written after the deletion are kept. */
export interface DeleteRowsRequest {
  readonly database: string;
  /** `undefined` means every table of the database. An unknown table throws `table_not_known`. */
  readonly tables: readonly string[] | undefined;
  /**
   * Fields whose values are deleted; rows without another value are deleted too. Absent deletes
   * complete rows. Tables without these fields do not change.
   */
  readonly fields?: readonly string[] | undefined;
  /** True if the server deletes rows of its own database. */
  readonly isInternal?: boolean;
  /** Both bounds are inclusive. */
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  /**
   * A series matches if it meets all conditions of one entry; an entry without conditions matches
   * every series. A regular expression is passed as the list of the values that it matches
   * (`values: [undefined]` is an absent tag).
   */
  readonly anyOf: readonly (readonly TagCondition[])[];
}
