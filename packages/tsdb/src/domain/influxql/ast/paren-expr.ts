import type { Expr } from './expr.js';

/** Brackets are kept: they decide column names and how a statement prints. */
export interface ParenExpr {
  readonly kind: 'paren';
  readonly inner: Expr;
}
