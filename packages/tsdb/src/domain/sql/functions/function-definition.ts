import type { SqlType } from '../../../model/sql-type.js';
import type { BoundExpr } from '../bound-expr.js';

/** One function family is one file that exports `readonly FunctionDefinition[]`; `registry.ts` joins them. */
export interface FunctionDefinition {
  /** Lower case; the first is the name shown, the others are aliases. */
  readonly names: readonly string[];
  /** An aggregate may also be used as a window function; a `window` function needs OVER. */
  readonly kind: 'scalar' | 'aggregate' | 'window';
  /** Checks number and types of the arguments. Throws `plan_error` in the words of the specification. */
  bind(call: FunctionCall): FunctionResult;
}

export interface FunctionResult {
  readonly text: string;
  readonly type: SqlType;
  readonly constant?: BoundExpr['constant'];
  /** Computes the result from the aggregate in `text`: DuckDB binds an aggregate within a subquery to that subquery. */
  readonly finish?: (aggregate: string) => string;
}

export interface FunctionCall {
  /** As written, lower case (tells aliases apart). */
  readonly name: string;
  /** `count(*)` has no arguments and `isStar`. */
  readonly args: readonly BoundExpr[];
  readonly isStar: boolean;
  /** Named arguments or special syntax (`TRIM(BOTH x FROM y)`, `OVERLAY`, ...) are normalised to `args` by the binder. */
  readonly distinct: boolean;
  /** `ORDER BY` inside the brackets or `WITHIN GROUP (ORDER BY ...)`. */
  readonly orderBy: readonly OrderItem[];
  readonly ignoreNulls: boolean;
  /** OVER follows. The engine knows IGNORE NULLS only there: `aggregate` adds it only when this is set. */
  readonly isWindow: boolean;
  readonly nowNs: bigint;
  /**
   * Text of an aggregate or window call of the engine with this call's DISTINCT, FILTER, OVER and null treatment
   * attached, for example `aggregate('arg_min', ['v', 't'])`. Use it for every engine aggregate in the result.
   */
  aggregate(
    engineFunction: string,
    argTexts: readonly string[],
    options?: {
      /** Further condition, joined by AND with the call's own FILTER. */
      readonly filter?: string;
      readonly orderBy?: string;
      /** Of a window function: the rows of the frame count from its end. */
      readonly isFromEnd?: boolean;
      /** Leave DISTINCT out. */
      readonly ignoreDistinct?: boolean;
    },
  ): string;
  /** `arg` converted to `type` as DataFusion coerces arguments (string literal to timestamp or interval, int to float...). */
  coerce(arg: BoundExpr, type: SqlType): BoundExpr;
}

export interface OrderItem {
  readonly expr: BoundExpr;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}
