import type { ResultStream } from '../../model/columns/result.js';
import type { Precision, RefusedLine } from '../../model/parsed-body.js';
import type { DatabaseAccess } from '../catalog/access/database-access.js';
import type { ParameterValue, PlannedQuery } from '../sql/planned-query.js';
import type { DeleteRowsRequest } from './deletion/row-deletions.js';
import type { QuerySession, SessionRequest } from './query/query-session.js';

/** What the HTTP edge asks of the time-series engine. Every expected failure is one of `TsdbError`. */
export interface Engine {
  write(request: WriteRequest): Promise<WriteOutcome>;
  query(request: QueryRequest): Promise<ResultStream>;
  /** What a query would answer with, and be asked with; nothing is read. */
  describe(request: Omit<QueryRequest, 'signal'>): Promise<QueryShape>;
  /** For languages that ask the engine several questions to answer one. */
  openSession(request: SessionRequest): Promise<QuerySession>;
  /** The whole answer as one Parquet file, also when it has no rows. The caller disposes of it. */
  queryToParquet(request: QueryRequest): Promise<ParquetFile>;
  /** Resolves when the deletion is durable and holds for every query that begins then. */
  deleteRows(request: DeleteRowsRequest): Promise<void>;
  /** Deletions of rows that are not carried out in all files yet. */
  readonly waitingDeletionCount: number;
  /** Starts in the background to remove the data of deleted things whose time has come. */
  removeDeletedSoon(): void;
}

/** A finished temporary file. */
export interface ParquetFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly rowCount: number;
  /** Removes the file; twice is harmless. */
  dispose(): Promise<void>;
}

export interface WriteRequest {
  /** Checked by the edge: the name rules differ by endpoint. */
  readonly database: string;
  /** Of who writes: refused with `not_permitted`. */
  readonly access: DatabaseAccess;
  /** As received. Ownership passes to the engine, except of shared memory, which it only reads and until it answers. */
  readonly body: Uint8Array;
  /** `gzip`: members one after the other; inflated off the main thread. */
  readonly encoding: 'identity' | 'gzip';
  /** Largest body after decoding; `body_too_large` beyond it. The edge has checked the size as received. */
  readonly maxSizeBytes: number;
  readonly precision: Precision;
  readonly acceptPartial: boolean;
  /** True: resolve when buffered and visible, before the log is durable. */
  readonly noSync: boolean;
  /** Arrival of the request: the time of lines without one. */
  readonly receivedNs: bigint;
  /** How many runs of plugins, one after the other, led to this write; absent for those of clients. */
  readonly pluginDepth?: number;
  /** The server writes into its own database, which nobody else may. */
  readonly isOwn?: boolean;
}

export interface WriteOutcome {
  readonly writtenCount: number;
  /** Lines that are not blank and no comment. */
  readonly lineCount: number;
  /** In order of the lines, at most `MAX_REFUSED_LINES`. Empty: everything was written. */
  readonly refused: readonly RefusedLine[];
}

export type QueryShape = Pick<PlannedQuery, 'columns' | 'parameterTypes'>;

export interface QueryRequest {
  readonly database: string;
  /** Of who asks: refused with `not_permitted`. */
  readonly access: DatabaseAccess;
  readonly language: 'sql';
  readonly text: string;
  readonly params: ReadonlyMap<string, ParameterValue>;
  /** Aborted when the client goes away: interrupts the query. */
  readonly signal: AbortSignal;
  /** Of the server itself: not in the log of queries. */
  readonly isOwn?: boolean;
}
