import type { QuerySession } from '../../engine/query/query-session.js';
import type { CompiledSelect } from '../plan/compile/compiled-select.js';
import type { Series } from './series/series.js';

/** What a statement under way needs of the engine. */
export interface Session extends Omit<QuerySession, 'end' | 'cancel' | 'returned'> {
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
