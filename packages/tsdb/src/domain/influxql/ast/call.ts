import type { Expr } from './expr.js';

/** `name(arguments)`; the name is in lower case. */
export interface Call {
  readonly kind: 'call';
  readonly name: string;
  readonly args: readonly Expr[];
}
