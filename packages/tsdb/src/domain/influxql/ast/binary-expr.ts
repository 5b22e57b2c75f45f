import type { Expr } from './expr.js';

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%' | '&' | '|' | '^';
export type ComparisonOperator = '=' | '!=' | '<' | '<=' | '>' | '>=' | '=~' | '!~';
export type LogicalOperator = 'AND' | 'OR';
export type BinaryOperator = ArithmeticOperator | ComparisonOperator | LogicalOperator;

/** Two operands and what stands between them. */
export interface BinaryExpr {
  readonly kind: 'binary';
  readonly op: BinaryOperator;
  readonly left: Expr;
  readonly right: Expr;
}
