import type { Call, Expr, RegexLiteral, VarRef, Wildcard } from './expressions.js';

/**
 * A table name or a pattern for table names, optionally qualified by database and retention policy.
 */
export interface Measurement {
  readonly kind: 'measurement';
  readonly database?: string;
  readonly policy?: string;
  readonly name: string | RegexLiteral;
}

export interface Subquery {
  readonly kind: 'subquery';
  readonly select: SelectStatement;
}

/** One item of the select list. */
export interface Field {
  readonly expr: Expr;
  readonly alias?: string;
}

/** One item of GROUP BY; a call is `time(interval, offset)`. */
export type Dimension = VarRef | Wildcard | RegexLiteral | Call;

/** Value of an empty bucket. `undefined` means that the statement has no `fill`. */
export type Fill =
  | { readonly kind: 'null' }
  | { readonly kind: 'none' }
  | { readonly kind: 'previous' }
  | { readonly kind: 'linear' }
  | { readonly kind: 'number'; readonly value: number | bigint };

export type Source = Measurement | Subquery;

export interface SelectStatement {
  readonly kind: 'select';
  /** Look-back distance from the `lookback` hint. `undefined` if the statement has no such hint. */
  readonly lookbackNs?: bigint;
  readonly fields: readonly Field[];
  /**
   * Target of `INTO`. With the name `:MEASUREMENT`, each row is written to the measurement with the
   * name of its source.
   */
  readonly into?: Measurement;
  readonly sources: readonly Source[];
  readonly condition?: Expr;
  readonly dimensions: readonly Dimension[];
  readonly fill?: Fill;
  /** `undefined` means that the statement has no ORDER BY. */
  readonly order?: 'ASC' | 'DESC';
  readonly limit?: number;
  readonly offset?: number;
  readonly seriesLimit?: number;
  readonly seriesOffset?: number;
  readonly zone?: string;
}
