import type { QuerySession } from '@plinth/tsdb-model/query/query-session.js';
import type { CompiledSelect } from '../plan/compile/compiled-select.js';
import type { Series } from './series/series.js';

/**
 * Storage access and limits for a running InfluxQL statement: the `QuerySession` of its request,
 * plus InfluxQL-specific members.
 */
export interface Session extends Omit<QuerySession, 'end' | 'cancel' | 'returned'> {
  /** Runs a subquery. */
  select(select: CompiledSelect): AsyncIterable<Series>;
  /** Returns a uniformly distributed random number in [0, 1). */
  random(): number;
  /**
   * If true, row functions run in ORDER BY direction, as in InfluxDB 1.x. InfluxDB 3 reverses the
   * rows afterwards.
   */
  readonly runsBackward: boolean;
  readonly limits: SelectLimits;
}

/** Limits beyond which a statement is rejected. */
export interface SelectLimits {
  /** Maximum number of GROUP BY time buckets per series. */
  readonly bucketCountPerSeries: number;
  /** Maximum number of buckets in all series of a statement. */
  readonly bucketCount: number;
  /** Maximum number of values in memory for functions that DuckDB cannot compute. */
  readonly heldValueCount: number;
}
