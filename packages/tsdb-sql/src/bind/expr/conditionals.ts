import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { valueType } from '@plinth/tsdb-model/sql-type.js';
import type { ExprNodes } from '../../parse/ast.js';
import { treeOf } from '../../plan-tree.js';
import type { Env } from '../session.js';
import { type Bound, derive, withoutOrigin } from '../types/bound.js';
import { unionType } from '../types/common-type.js';
import { typeOfDataType } from '../types/data-type.js';
import { convert } from './convert.js';
import { bindComparison } from './operators/comparison.js';
import { castCondition } from './operators/condition.js';

export function bindCase(node: ExprNodes['Case'], env: Env): Bound {
  const bind = (expr: ExprNodes['Nested']) => env.session.bindExpr(expr, env);
  const operand = node.operand && bind(node.operand);
  const branches = node.conditions.map((branch) => {
    const test = bind(branch.condition);
    return {
      shown: test.displayName,
      test: operand === undefined ? castCondition(test) : bindComparison(operand, '=', test),
      result: bind(branch.result),
    };
  });
  const otherwise = node.else_result && bind(node.else_result);
  const results = [...branches.map((branch) => branch.result), ...(otherwise ? [otherwise] : [])];
  const common = unionType(
    results.map((result) => result.type),
    false,
  );
  if (common === undefined) {
    throw tsdbError(
      'plan_error',
      'Error during planning: Failed to coerce then and else of CASE expression to common types',
    );
  }
  const type = valueType(common);
  const typed = branches.map(({ test, result }) => ({ test, result: convert(result, type) }));
  const cases = typed.map(({ test, result }) => `WHEN ${test.text} THEN ${result.text}`);
  const typedOtherwise = otherwise && convert(otherwise, type);
  const last = typedOtherwise === undefined ? '' : ` ELSE ${typedOtherwise.text}`;
  const shownCases = branches
    .map(({ shown, result }) => ` WHEN ${shown} THEN ${result.displayName}`)
    .join('');
  const shownLast = otherwise === undefined ? '' : ` ELSE ${otherwise.displayName}`;
  const shownOperand = operand === undefined ? '' : ` ${operand.displayName}`;
  return derive([...branches.map(({ test }) => test), ...results], {
    text: `(CASE ${cases.join(' ')}${last} END)`,
    tree: () => ({
      kind: 'case',
      branches: typed.map(({ test, result }) => ({ test: treeOf(test), result: treeOf(result) })),
      otherwise: typedOtherwise && treeOf(typedOtherwise),
      type,
    }),
    type,
    displayName: `CASE${shownOperand}${shownCases}${shownLast} END`,
  });
}

/** Binds `CAST`, `TRY_CAST` or `::`, which keep the display name of the expression. */
export function bindCast(node: ExprNodes['Cast'], env: Env): Bound {
  const operand = env.session.bindExpr(node.expr, env);
  const type = typeOfDataType(node.data_type);
  return withoutOrigin(convert(operand, type, node.kind === 'TryCast' || node.kind === 'SafeCast'));
}
