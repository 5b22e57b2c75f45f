import type { BinaryExpr } from './binary-expr.js';
import type { BooleanLiteral } from './boolean-literal.js';
import type { BoundParameter } from './bound-parameter.js';
import type { Call } from './call.js';
import type { DistinctExpr } from './distinct-expr.js';
import type { DurationLiteral } from './duration-literal.js';
import type { IntegerLiteral } from './integer-literal.js';
import type { NumberLiteral } from './number-literal.js';
import type { ParenExpr } from './paren-expr.js';
import type { RegexLiteral } from './regex-literal.js';
import type { StringLiteral } from './string-literal.js';
import type { UnsignedLiteral } from './unsigned-literal.js';
import type { VarRef } from './var-ref.js';
import type { Wildcard } from './wildcard.js';

export type Literal =
  | StringLiteral
  | IntegerLiteral
  | UnsignedLiteral
  | NumberLiteral
  | BooleanLiteral
  | DurationLiteral
  | RegexLiteral;

export type Expr =
  | BinaryExpr
  | ParenExpr
  | Call
  | VarRef
  | Wildcard
  | DistinctExpr
  | BoundParameter
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
