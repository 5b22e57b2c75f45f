import { arrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { callNode, type ExprNodes } from '../../../parse/ast.js';
import type { Env } from '../../session.js';
import { BOOLEAN, type Bound, derive } from '../../types/bound.js';
import { memberOf } from '../subqueries.js';
import { bindComparison, type ComparisonOp } from './comparison.js';
import { COMPARISON } from './operators.js';

/** Binds `x = ANY (...)`: true if some member of a list or subquery matches. */
export function bindAnyOp(node: ExprNodes['AnyOp'], env: Env): Bound {
  if (node.compare_op === 'Eq' && !('Subquery' in node.right)) {
    return env.session.bindExpr(callNode('array_has', [node.right, node.left]), env);
  }
  return bindQuantified(node, 'ANY', env);
}

/** Binds `x = ALL (...)`: true if every member matches or there are none. */
export function bindAllOp(node: ExprNodes['AnyOp'], env: Env): Bound {
  return bindQuantified(node, 'ALL', env);
}

function bindQuantified(
  { left, compare_op, right }: ExprNodes['AnyOp'],
  keyword: 'ANY' | 'ALL',
  env: Env,
): Bound {
  const [op, shown] = COMPARISON[compare_op] ?? [];
  if (op === undefined || shown === undefined || op.startsWith('IS')) {
    throw tsdbError('not_implemented', `${keyword} with the operator ${compare_op}`);
  }
  const value = env.session.bindExpr(left, env);
  const displayName = `${value.displayName} ${shown} ${keyword}(`;
  if ('Subquery' in right) {
    const { member, from } = memberOf(right.Subquery, env);
    return derive([value], {
      text: quantified(
        `SELECT ${bindComparison(value, op, member).text} AS c FROM ${from}`,
        keyword,
      ),
      type: BOOLEAN,
      displayName: `${displayName}<subquery>)`,
    });
  }
  const list = env.session.bindExpr(right, env);
  return derive([value, list], {
    text: overList(value, op, list, { keyword, element: env.session.newName('e') }),
    type: BOOLEAN,
    displayName: `${displayName}${list.displayName})`,
  });
}

/** With NULL members the result may be NULL, as in SQL. */
const quantified = (comparisons: string, keyword: 'ANY' | 'ALL'): string =>
  `(SELECT CASE WHEN ${keyword === 'ANY' ? 'bool_or(c) THEN true' : 'NOT bool_and(c) THEN false'} ` +
  `WHEN count(c) < count(*) THEN NULL ELSE ${keyword === 'ALL'} END FROM (${comparisons}))`;

function overList(
  value: Bound,
  op: ComparisonOp,
  list: Bound,
  { keyword, element }: { readonly keyword: 'ANY' | 'ALL'; readonly element: string },
): string {
  if (list.type.kind !== 'list') {
    throw tsdbError(
      'plan_error',
      `Error during planning: ${keyword} needs a list, got ${arrowTypeName(list.type)}`,
    );
  }
  const member = derive([], { text: element, type: list.type.element, displayName: '' });
  const compared = `list_transform(${list.text}, lambda ${element}: ${bindComparison(value, op, member).text})`;
  const decisive = keyword === 'ANY';
  return (
    `list_transform([${compared}], lambda c: CASE WHEN c IS NULL THEN NULL ` +
    `WHEN list_contains(c, ${decisive}) THEN ${decisive} ` +
    `WHEN list_count(c) < len(c) THEN NULL ELSE ${!decisive} END)[1]`
  );
}
