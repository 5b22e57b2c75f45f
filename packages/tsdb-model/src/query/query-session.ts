import type { Principal } from '@plinth/kernel';
import type { ResultChunk } from '../columns/result.js';
import type { TableSchema } from '../schema.js';
import type { SeriesLookup } from '../series/series-lookup.js';
import type { ColumnQuery } from './column-query.js';
import type { PlannedQuery, RowsStatement } from './planned-query.js';
import type { QueryOutcome } from './query-outcome.js';

/** One statement of a session: the parts of a planned query that execution needs. */
export type SessionStatement = RowsStatement & Pick<PlannedQuery, 'columnQuery'>;

/** Determines which series of a table have visible rows. */
export interface Liveness {
  /** Series without a later row have no visible rows. */
  readonly visibleFromNs: bigint;
  /** True if rows were deleted: only the rows themselves then show which series have any. */
  readonly hasDeletions: boolean;
}

/**
 * Several DuckDB statements that count as one query: one query slot, one entry in the query log,
 * one `now()`. Call `end` exactly once.
 */
export interface QuerySession {
  readonly nowNs: bigint;
  /** Aborted when the client disconnects, the query is canceled or its time limit expires. */
  readonly signal: AbortSignal;
  read(statement: SessionStatement): AsyncIterable<ResultChunk>;
  /** Returns the result from columns in memory; `undefined` if they cannot provide it. */
  readFromColumns(request: ColumnQuery): Promise<Iterable<ResultChunk> | undefined>;
  /**
   * Yields the query slot between two items, and yields to the event loop if items are produced
   * synchronously.
   */
  yieldingSlot<T>(items: AsyncIterable<T> | Iterable<T>): AsyncIterable<T>;
  /**
   * Resolves when the series of these tables are in memory, as `seriesOf` requires; `undefined` if
   * they already are.
   */
  indexed(tables: readonly TableSchema[]): Promise<void> | undefined;
  /** Returns the distinct tag sets of a table; see `indexed`. */
  seriesOf(table: TableSchema): SeriesLookup;
  livenessOf(table: TableSchema): Liveness;
  /** Adds to the number of rows passed to the encoder. */
  returned(rowCount: number): void;
  /** Cancels the query on request: its signal is aborted. */
  cancel(): void;
  end(outcome: QueryOutcome): void;
}

export interface SessionRequest {
  /** Owner of the query. */
  readonly owner: string;
  readonly principal?: Principal | undefined;
  readonly language: string;
  readonly text: string;
  /** Database that the request names. */
  readonly database?: string | undefined;
  readonly signal: AbortSignal;
  /** True for the server's own queries, which are not in the query log. */
  readonly isInternal?: boolean;
}
