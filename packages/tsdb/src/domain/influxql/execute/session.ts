import type { ResultChunk } from '../../../model/columns/result.js';
import type { InMemoryRequest } from '../../../model/in-memory-request.js';
import type { TableSchema } from '../../../model/schema.js';
import type { Liveness, SessionStatement } from '../../engine/query/query-session.js';
import type { SeriesIndex } from '../../engine/series/series-index.js';
import type { CompiledSelect } from '../plan/compile/compiled-select.js';
import type { Series } from './series/series.js';

/** What a statement under way needs of the engine. */
export interface Session {
  readonly nowNs: bigint;
  readonly signal: AbortSignal;
  read(statement: SessionStatement): AsyncIterable<ResultChunk>;
  /** The answer of rows in memory; `undefined`: they do not answer this. */
  readInMemory(request: InMemoryRequest): Promise<Iterable<ResultChunk> | undefined>;
  /** Between two of the items others may have the query's place. */
  lending<T>(items: AsyncIterable<T> | Iterable<T>): AsyncIterable<T>;
  /** Resolves when the series of these tables are in memory, as `seriesOf` needs them; `undefined`: they are. */
  indexed(tables: readonly TableSchema[]): Promise<void> | undefined;
  /** The distinct tag sets of a table; see `indexed`. */
  seriesOf(table: TableSchema): SeriesIndex;
  livenessOf(table: TableSchema): Liveness;
  /** Runs a subquery. */
  select(select: CompiledSelect): AsyncIterable<Series>;
  /** Uniform in [0, 1). */
  random(): number;
  /** Functions of rows run in the direction of ORDER BY, as in 1.x; version 3 turns their rows round afterwards. */
  readonly runsBackward: boolean;
  readonly limits: SelectLimits;
}

/** Beyond these a statement is refused. */
export interface SelectLimits {
  /** Buckets of GROUP BY time in one series. */
  readonly bucketCountPerSeries: number;
  /** Buckets of all series of a statement. */
  readonly bucketCount: number;
  /** Values that functions without a form in the engine hold in memory. */
  readonly heldValueCount: number;
}
