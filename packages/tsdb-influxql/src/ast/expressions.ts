/** `/source/` with `\/` already unescaped. */
export interface RegexLiteral {
  readonly kind: 'regex';
  readonly source: string;
}

/** Types that may follow `::` after a column name. */
export type CastType = 'float' | 'integer' | 'unsigned' | 'string' | 'boolean' | 'tag' | 'field';

/** Reference to a column by name. */
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

/** `name(arguments)`, with the name in lower case. */
export interface Call {
  readonly kind: 'call';
  readonly name: string;
  readonly args: readonly Expr[];
}

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%' | '&' | '|' | '^';
export type ComparisonOperator = '=' | '!=' | '<' | '<=' | '>' | '>=' | '=~' | '!~';
export type LogicalOperator = 'AND' | 'OR';
export type BinaryOperator = ArithmeticOperator | ComparisonOperator | LogicalOperator;

export interface BinaryExpr {
  readonly kind: 'binary';
  readonly op: BinaryOperator;
  readonly left: Expr;
  readonly right: Expr;
}

export type Literal =
  | { readonly kind: 'string'; readonly value: string }
  /** An integer that fits in 64 signed bits. */
  | { readonly kind: 'integer'; readonly value: bigint }
  /** An integer above 2^63 - 1. */
  | { readonly kind: 'unsigned'; readonly value: bigint }
  /** A number with a fraction. */
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'boolean'; readonly value: boolean }
  /** A duration such as `1h30m`, in nanoseconds. */
  | { readonly kind: 'duration'; readonly ns: bigint }
  | RegexLiteral;

export type Expr =
  | BinaryExpr
  /** Parentheses are kept because column names and printed statements contain them. */
  | { readonly kind: 'paren'; readonly inner: Expr }
  | Call
  | VarRef
  | Wildcard
  /** `DISTINCT column`, the form without parentheses. */
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
