import type { Fill } from '../../ast/select.js';
import type { ColumnRef, CompiledCall } from '../../plan/compile/compiled-select.js';
import { FORECASTS, LOOK_BACK, TECHNICAL, TRANSFORMATIONS } from '../../plan/functions.js';
import { isDuckDbCall } from './read-aggregates.js';

/**
 * Execution plan of one call: its innermost call or column, and the transformations around it. In
 * `difference(mean(x))`, `mean(x)` is the innermost call and `difference` a transformation.
 */
export interface CallPlan {
  readonly call: CompiledCall;
  readonly innermost: CompiledCall;
  /** Set if the innermost transformation reads a column directly. */
  readonly ofColumn: ColumnRef | undefined;
  /** Transformations from the innermost to the outermost. */
  readonly transformations: readonly CompiledCall[];
  /** Number of buckets before the time range that are always read, even without a look-back. */
  readonly bucketsBefore: number;
  readonly isInDuckDb: boolean;
}

/** @param canGroup whether DuckDB can form the groups of the statement. */
export function planCall(call: CompiledCall, canGroup: boolean): CallPlan {
  const transformations: CompiledCall[] = [];
  let innermost = call;
  let bucketsBefore = 0;
  for (;;) {
    const isTransformation = TRANSFORMATIONS.has(innermost.name) || FORECASTS.has(innermost.name);
    if (!isTransformation) break;
    transformations.unshift(innermost);
    if (innermost.argument.kind === 'column') {
      const { ref } = innermost.argument;
      return {
        call,
        innermost,
        ofColumn: ref,
        transformations,
        bucketsBefore: 0,
        isInDuckDb: false,
      };
    }
    if (LOOK_BACK.has(innermost.name)) bucketsBefore++;
    innermost = innermost.argument.call;
  }
  return {
    call,
    innermost,
    ofColumn: undefined,
    transformations,
    bucketsBefore,
    isInDuckDb: canGroup && isDuckDbCall(innermost),
  };
}

/** Calls whose empty buckets are never filled. */
const UNFILLED: ReadonlySet<string> = new Set(['top', 'bottom', 'sample', 'distinct', 'integral']);

/** Returns whether `fill` applies to empty buckets of this call. */
export const isFillable = ({ name }: CompiledCall): boolean => !UNFILLED.has(name);

/**
 * Returns how many points before the time range the transformations of a call use, or `undefined` if
 * a look-back does not change its result. `fill(previous)` needs a point even if no transformation
 * does.
 */
export function pointsBefore(
  { innermost, ofColumn, transformations }: CallPlan,
  fill: Fill,
): number | undefined {
  // The results of these functions depend on all earlier points.
  if (transformations.some(({ name }) => TECHNICAL.has(name))) return undefined;
  const count = transformations.reduce((total, call) => total + pointsBeforeCall(call), 0);
  if (count > 0) return count;
  return ofColumn === undefined && isFillable(innermost) && fill.kind === 'previous'
    ? 0
    : undefined;
}

/** Returns how many earlier points the first result of a transformation uses. */
export function pointsBeforeCall({ name, options }: CompiledCall): number {
  if (name === 'cumulative_sum' || FORECASTS.has(name)) return 0;
  return name === 'moving_average' ? Number(options[0] ?? 2n) - 1 : 1;
}
