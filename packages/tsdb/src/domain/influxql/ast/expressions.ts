/** `/source/` with `\/` already unescaped. */
export interface RegexLiteral {
  readonly kind: 'regex';
  readonly source: string;
}

/** What `::` may name behind a reference. */
export type CastType = 'float' | 'integer' | 'unsigned' | 'string' | 'boolean' | 'tag' | 'field';

/** A column by name. */
export interface VarRef {
  readonly kind: 'var_ref';
  readonly name: string;
  readonly cast?: CastType;
}

/** `*`, `*::tag`, `*::field`. */
export interface Wildcard {
  readonly kind: 'wildcard';
  readonly of?: 'tag' | 'field';
}

/** `name(arguments)`; the name is in lower case. */
export interface Call {
  readonly kind: 'call';
  readonly name: string;
  readonly args: readonly Expr[];
}

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

export type Literal =
  | { readonly kind: 'string'; readonly value: string }
  /** A whole number within 64 signed bits. */
  | { readonly kind: 'integer'; readonly value: bigint }
  /** A whole number above 2^63 - 1. */
  | { readonly kind: 'unsigned'; readonly value: bigint }
  /** A number with a fraction. */
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'boolean'; readonly value: boolean }
  /** Nanoseconds; `1h30m`. */
  | { readonly kind: 'duration'; readonly ns: bigint }
  | RegexLiteral;

export type Expr =
  | BinaryExpr
  /** Brackets are kept: they decide column names and how a statement prints. */
  | { readonly kind: 'paren'; readonly inner: Expr }
  | Call
  | VarRef
  | Wildcard
  /** `DISTINCT column`, the form without brackets. */
  | { readonly kind: 'distinct'; readonly column: string }
  /** `$name`; replaced by a literal before a statement is planned. */
  | { readonly kind: 'parameter'; readonly name: string }
  | Literal;

const LITERALS: ReadonlySet<Expr['kind']> = new Set([
  'string',
  'integer',
  'unsigned',
  'number',
  'boolean',
  'duration',
  'regex',
]);

export function isLiteral(expr: Expr): expr is Literal {
  return LITERALS.has(expr.kind);
}
