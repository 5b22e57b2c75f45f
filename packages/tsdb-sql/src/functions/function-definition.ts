import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import type { BoundExpr } from '../bound-expr.js';

/**
 * Definition of one SQL function. Each function family is one file that exports `readonly
 * FunctionDefinition[]`; `registry.ts` joins them.
 */
export interface FunctionDefinition {
  /** Names in lower case: the displayed name, then its aliases. */
  readonly names: readonly string[];
  /** An aggregate may also be used as a window function; a `window` function requires OVER. */
  readonly kind: 'scalar' | 'aggregate' | 'window';
  /**
   * Checks the number and types of the arguments. Throws `plan_error` with the message of the
   * specification.
   */
  bind(call: FunctionCall): FunctionResult;
}

export interface FunctionResult {
  readonly text: string;
  readonly type: SqlType;
  readonly constant?: BoundExpr['constant'];
  /**
   * Computes the result from the aggregate in `text`. DuckDB would bind an aggregate within a
   * subquery to that subquery.
   */
  readonly finish?: (aggregate: string) => string;
}

export interface FunctionCall {
  /** Name as written, in lower case. It distinguishes aliases. */
  readonly name: string;
  /** Empty for `count(*)`, which sets `isStar`. */
  readonly args: readonly BoundExpr[];
  readonly isStar: boolean;
  /**
   * Whether the call has DISTINCT. The binder converts named arguments and special syntax, such as
   * `TRIM(BOTH x FROM y)`, to `args`.
   */
  readonly distinct: boolean;
  /** `ORDER BY` inside the parentheses or `WITHIN GROUP (ORDER BY ...)`. */
  readonly orderBy: readonly OrderItem[];
  readonly ignoreNulls: boolean;
  /**
   * Whether OVER follows. `aggregate` adds IGNORE NULLS only then, because DuckDB supports it only
   * there.
   */
  readonly isWindow: boolean;
  readonly nowNs: bigint;
  /**
   * Returns the DuckDB SQL of an aggregate or window call, with this call's DISTINCT, FILTER, OVER
   * and null treatment. Use it for every DuckDB aggregate in the result. Example:
   * `aggregate('arg_min', ['v', 't'])`.
   */
  aggregate(
    duckDbFunction: string,
    argTexts: readonly string[],
    options?: {
      /** Further condition, combined by AND with the call's own FILTER. */
      readonly filter?: string;
      readonly orderBy?: string;
      /** For a window function: count the rows of the frame from its end. */
      readonly isFromEnd?: boolean;
      /** Replaces the call's own DISTINCT. */
      readonly distinct?: boolean;
    },
  ): string;
  /**
   * Converts `arg` to `type` with DataFusion's argument coercion, for example a string literal to a
   * timestamp.
   */
  coerce(arg: BoundExpr, type: SqlType): BoundExpr;
}

export interface OrderItem {
  readonly expr: BoundExpr;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}
