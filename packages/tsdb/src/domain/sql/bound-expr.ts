import type { SqlType } from '../../model/sql-type.js';
import type { LiteralNode } from './parse/ast.js';
import type { PlanContext } from './planned-query.js';

/** A value known at plan time, in the form of `SqlType`'s table (`null` for NULL). */
export type ConstantValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | { readonly months: number; readonly days: number; readonly nanos: bigint };

/** What a statement is bound with anew when it comes again with other literals. */
export interface Values {
  readonly texts: ReadonlyMap<LiteralNode, string>;
  readonly context: Pick<PlanContext, 'nowNs' | 'params'>;
}

export interface Constant {
  readonly value: ConstantValue;
  /** The value with others in the place of those that were bound; `undefined`: they have another form. Not set: bind anew. */
  readonly again?: ((values: Values) => ConstantValue | undefined) | undefined;
}

/** A checked expression: the engine's text for it and all that later checks need to know. */
export interface BoundExpr {
  /** DuckDB text; may be put anywhere an operand may stand (bracketed where needed). */
  readonly text: string;
  readonly type: SqlType;
  /** Output name when no alias is given, in DataFusion's form: `avg(cpu.usage)`, `count(*)`. */
  readonly displayName: string;
  /** Set when the value does not depend on rows: literals, parameters, `now()`, and what folds from them. */
  readonly constant?: Constant;
  /** A call without anything around its arguments, when the expression is nothing else. */
  readonly call?: { readonly name: string; readonly args: readonly BoundExpr[] };
  /** A text made of others, which were counted for that (`TextMakers`). */
  readonly isMadeText?: boolean;
  readonly hasAggregate: boolean;
  readonly hasWindow: boolean;
}
