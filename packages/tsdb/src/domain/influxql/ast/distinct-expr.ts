/** `DISTINCT column`, the form without brackets. */
export interface DistinctExpr {
  readonly kind: 'distinct';
  readonly column: string;
}
