import type { PlanContext } from '@plinth/tsdb-model/query/planned-query.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import type { ConstantValue } from './constant-value.js';
import type { LiteralNode } from './parse/ast.js';
import type { ExprTree, Lazy } from './plan-tree.js';

export type { ConstantValue };

/** New literals for a statement that is planned again. */
export interface Values {
  readonly texts: ReadonlyMap<LiteralNode, string>;
  readonly context: Pick<PlanContext, 'nowNs' | 'params'>;
}

export interface Constant {
  readonly value: ConstantValue;
  /**
   * Recomputes the value for other literals; `undefined` means that their form differs. If absent,
   * the statement must be bound again.
   */
  readonly recompute?: ((values: Values) => ConstantValue | undefined) | undefined;
}

export type Folding = 'value' | 'null';

/** A checked expression with its DuckDB SQL and properties for later checks. */
export interface BoundExpr {
  /** DuckDB SQL, parenthesized where needed so that it can be used as an operand. */
  readonly text: string;
  readonly type: SqlType;
  /** The expression as data; absent if only DuckDB can compute it. See `treeOf`. */
  readonly tree?: Lazy<ExprTree> | undefined;
  /** Output name without an alias, in DataFusion's form: `avg(cpu.usage)`, `count(*)`. */
  readonly displayName: string;
  /**
   * Set if the value does not depend on rows: literals, parameters, `now()`, and expressions folded
   * from them.
   */
  readonly constant?: Constant;
  /**
   * Set if DuckDB computes the value during planning; `null` means that the result may be NULL. A
   * function of NULL loses its type there, so the text needs a cast.
   */
  readonly folds?: Folding;
  /** The plain call, if the expression consists of it. */
  readonly call?: { readonly name: string; readonly args: readonly BoundExpr[] };
  /** True for a string computed from other strings, whose call `StringBudget` counts. */
  readonly isCountedString?: boolean;
  readonly hasAggregate: boolean;
  readonly hasWindow: boolean;
}
