import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { type Expr, type ExprNodes, nameOf, variantOf } from '../../parse/ast.js';
import type { Env } from '../session.js';
import type { Bound } from '../types/bound.js';
import { bindCompoundIdentifier, bindIdentifier } from './columns.js';
import { bindCase, bindCast } from './conditionals.js';
import { bindFieldAccess } from './fields.js';
import { bindFunction } from './function-calls.js';
import { bindInterval, bindTypedString, bindValue } from './literals.js';
import { bindLike } from './operators/like.js';
import { bindBinaryOp, bindUnaryOp } from './operators/operators.js';
import {
  bindBetween,
  bindDistinctTest,
  bindInList,
  bindNullTest,
  bindTruthTest,
} from './operators/predicates.js';
import { bindAllOp, bindAnyOp } from './operators/quantified.js';
import {
  bindArray,
  bindAtTimeZone,
  bindDictionary,
  bindExtract,
  bindMap,
  bindOverlay,
  bindPosition,
  bindRounding,
  bindStruct,
  bindSubstring,
  bindTrim,
  bindTuple,
} from './special-syntax.js';
import { bindExists, bindInSubquery, bindScalarSubquery } from './subqueries.js';

type Handlers = { readonly [Tag in keyof ExprNodes]: (node: ExprNodes[Tag], env: Env) => Bound };

const HANDLERS: Handlers = {
  Identifier: bindIdentifier,
  CompoundIdentifier: bindCompoundIdentifier,
  CompoundFieldAccess: bindFieldAccess,
  Value: bindValue,
  TypedString: bindTypedString,
  Interval: bindInterval,
  Nested: (node, env) => env.session.bindExpr(node, env),
  BinaryOp: bindBinaryOp,
  UnaryOp: bindUnaryOp,
  IsNull: (node, env) => bindNullTest(node, true, env),
  IsNotNull: (node, env) => bindNullTest(node, false, env),
  IsTrue: (node, env) => bindTruthTest(node, 'IS TRUE', env),
  IsNotTrue: (node, env) => bindTruthTest(node, 'IS NOT TRUE', env),
  IsFalse: (node, env) => bindTruthTest(node, 'IS FALSE', env),
  IsNotFalse: (node, env) => bindTruthTest(node, 'IS NOT FALSE', env),
  IsUnknown: (node, env) => bindTruthTest(node, 'IS UNKNOWN', env),
  IsNotUnknown: (node, env) => bindTruthTest(node, 'IS NOT UNKNOWN', env),
  IsDistinctFrom: (node, env) => bindDistinctTest(node, false, env),
  IsNotDistinctFrom: (node, env) => bindDistinctTest(node, true, env),
  Between: bindBetween,
  InList: bindInList,
  InSubquery: bindInSubquery,
  Exists: bindExists,
  Subquery: bindScalarSubquery,
  Like: (node, env) => bindLike(node, 'LIKE', env),
  ILike: (node, env) => bindLike(node, 'ILIKE', env),
  SimilarTo: (node, env) => bindLike(node, 'SIMILAR TO', env),
  Case: bindCase,
  Cast: bindCast,
  Function: bindFunction,
  Extract: bindExtract,
  Trim: bindTrim,
  Position: bindPosition,
  Substring: bindSubstring,
  Overlay: bindOverlay,
  Ceil: (node, env) => bindRounding('ceil', node, env),
  Floor: (node, env) => bindRounding('floor', node, env),
  AtTimeZone: bindAtTimeZone,
  Array: bindArray,
  Struct: bindStruct,
  Tuple: bindTuple,
  Dictionary: bindDictionary,
  Map: bindMap,
  AnyOp: bindAnyOp,
  AllOp: bindAllOp,
};

export function bindExpr(expr: Expr, env: Env): Bound {
  const key = isAlias(expr, env) ? undefined : env.aggregation?.keyOf(expr);
  if (key !== undefined) return key.output;
  const variant = variantOf(expr);
  if (!Object.hasOwn(HANDLERS, variant))
    throw tsdbError('not_implemented', `Unsupported ast node in sqltorel: ${variant}`);
  // A node has its variant as the only key; the handler of the variant takes the value.
  const handler = HANDLERS[variant as keyof ExprNodes] as (node: unknown, env: Env) => Bound;
  return handler((expr as Readonly<Record<string, unknown>>)[variant], env);
}

/** In ORDER BY, an alias of the select list takes precedence over a grouped column. */
function isAlias(expr: Expr, { aliases }: Env): boolean {
  return (
    aliases?.first === true && 'Identifier' in expr && aliases.items.has(nameOf(expr.Identifier))
  );
}
