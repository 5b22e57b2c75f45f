import type { Expr } from './expr.js';

/** One item of the select list. */
export interface Field {
  readonly expr: Expr;
  readonly alias?: string;
}
