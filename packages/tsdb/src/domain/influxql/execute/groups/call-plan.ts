import type { ColumnRef, CompiledCall } from '../../plan/compile/compiled-select.js';
import { FORECASTS, LOOK_BACK, TRANSFORMATIONS } from '../../plan/functions.js';
import { isEngineCall } from './read-aggregates.js';

/** How one call is computed: its innermost call or column, and the transformations around that. */
export interface CallPlan {
  readonly call: CompiledCall;
  readonly leaf: CompiledCall;
  /** The innermost transformation is of a column: its points are the column's. */
  readonly ofColumn: ColumnRef | undefined;
  /** From the inside out. */
  readonly around: readonly CompiledCall[];
  /** Buckets before the range that are read as well. */
  readonly lookBack: number;
  readonly isInEngine: boolean;
}

/** @param canGroup the engine can form the groups that the statement asks for. */
export function planCall(call: CompiledCall, canGroup: boolean): CallPlan {
  const around: CompiledCall[] = [];
  let leaf = call;
  let lookBack = 0;
  for (;;) {
    const isAround = TRANSFORMATIONS.has(leaf.name) || FORECASTS.has(leaf.name);
    if (!isAround) break;
    around.unshift(leaf);
    if (leaf.argument.kind === 'column') {
      const { ref } = leaf.argument;
      return { call, leaf, ofColumn: ref, around, lookBack: 0, isInEngine: false };
    }
    if (LOOK_BACK.has(leaf.name)) lookBack++;
    leaf = leaf.argument.call;
  }
  return {
    call,
    leaf,
    ofColumn: undefined,
    around,
    lookBack,
    isInEngine: canGroup && isEngineCall(leaf),
  };
}

/** Empty buckets of these stay empty. */
const UNFILLED: ReadonlySet<string> = new Set(['top', 'bottom', 'sample', 'distinct', 'integral']);

/** Whether the statement says what stands in empty buckets of this call. */
export const isFillable = ({ name }: CompiledCall): boolean => !UNFILLED.has(name);
