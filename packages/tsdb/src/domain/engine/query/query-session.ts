import type { Principal } from '@plinth/kernel';
import type { ResultChunk } from '../../../model/columns/result.js';
import type { InMemoryRequest } from '../../../model/in-memory-request.js';
import type { TableSchema } from '../../../model/schema.js';
import type { PlannedQuery, RowsStatement } from '../../sql/planned-query.js';
import type { QueryOutcome } from '../../system-tables/logged-query.js';
import type { SeriesIndex } from '../series/series-index.js';

/** One question of a session: what of a planned query concerns the engine. */
export type SessionStatement = RowsStatement & Pick<PlannedQuery, 'inMemory'>;

/** Which of the series of a table have rows that can be seen. */
export interface Liveness {
  /** Series without a row since then have none. */
  readonly visibleFromNs: bigint;
  /** Rows were deleted: only the rows themselves tell which series have any. */
  readonly hasDeletions: boolean;
}

/**
 * Several questions to the engine that are one query to the outside: one place among the running queries, one entry in
 * the log of queries, one `now()`. `end` must be called once.
 */
export interface QuerySession {
  readonly nowNs: bigint;
  /** Aborted when the client leaves, somebody ends the query or its time is over. */
  readonly signal: AbortSignal;
  read(statement: SessionStatement): AsyncIterable<ResultChunk>;
  /** The answer of rows in memory; `undefined`: they do not answer this. */
  readInMemory(request: InMemoryRequest): Promise<Iterable<ResultChunk> | undefined>;
  /** Between two of the items others may have the query's place, and their turn where the items are made at once. */
  lending<T>(items: AsyncIterable<T> | Iterable<T>): AsyncIterable<T>;
  /** Resolves when the series of these tables are in memory, as `seriesOf` needs them; `undefined`: they are. */
  indexed(tables: readonly TableSchema[]): Promise<void> | undefined;
  /** The distinct tag sets of a table; see `indexed`. */
  seriesOf(table: TableSchema): SeriesIndex;
  livenessOf(table: TableSchema): Liveness;
  /** So many more rows are handed to the encoder. */
  returned(rowCount: number): void;
  /** Somebody else has asked for its end: its signal is aborted. */
  cancel(): void;
  end(outcome: QueryOutcome): void;
}

export interface SessionRequest {
  /** Whose it is. */
  readonly owner: string;
  readonly principal?: Principal | undefined;
  readonly language: string;
  readonly text: string;
  /** That the request names. */
  readonly database?: string | undefined;
  readonly signal: AbortSignal;
  /** Of the server itself: not in the log of queries. */
  readonly isOwn?: boolean;
}
