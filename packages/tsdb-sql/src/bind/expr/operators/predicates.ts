import type { ConstantValue, Values } from '../../../bound-expr.js';
import type { Expr, ExprNodes } from '../../../parse/ast.js';
import { type ExprTree, type Lazy, negatedIf, operatorTree, treeOf } from '../../../plan-tree.js';
import type { PlainRowCondition, RowCondition } from '../../scan-draft.js';
import type { Env } from '../../session.js';
import { BOOLEAN, type Bound, constantExpr, derive } from '../../types/bound.js';
import { unionType } from '../../types/common-type.js';
import { convert } from '../convert.js';
import { bindComparison, comparable } from './comparison.js';
import { condition } from './condition.js';

export function bindNullTest(expr: Expr, isNull: boolean, env: Env): Bound {
  const operand = env.session.bindExpr(expr, env);
  const keyword = isNull ? 'IS NULL' : 'IS NOT NULL';
  const origin = operand.column?.tableColumnKind === 'tag' ? operand.column.origin : undefined;
  const rowConditions: readonly RowCondition[] =
    origin === undefined
      ? []
      : [
          {
            scan: origin.scan,
            kind: 'tag',
            condition: { tag: origin.column, op: isNull ? 'in' : 'not_in', values: [undefined] },
          },
        ];
  return {
    ...derive([operand], {
      text: `(${operand.text} ${keyword})`,
      tree: negatedIf(!isNull, operatorTree('IS NULL', [operand], BOOLEAN)),
      type: BOOLEAN,
      displayName: `${operand.displayName} ${keyword}`,
    }),
    rowConditions,
  };
}

/** Binds `IS TRUE`, `IS NOT FALSE`, `IS UNKNOWN` and similar tests. */
export function bindTruthTest(expr: Expr, test: string, env: Env): Bound {
  const operand = env.session.bindExpr(expr, env);
  return derive([operand], {
    text: `(${condition(operand).text} ${test.replace('UNKNOWN', 'NULL')})`,
    tree: truthTree(operand, test),
    type: BOOLEAN,
    displayName: `${operand.displayName} ${test}`,
  });
}

function truthTree(operand: Bound, test: string): Lazy<ExprTree> {
  const isNegated = test.startsWith('IS NOT');
  if (test.endsWith('UNKNOWN'))
    return negatedIf(isNegated, operatorTree('IS NULL', [condition(operand)], BOOLEAN));
  const value = constantExpr(test.endsWith('TRUE'), BOOLEAN, '');
  const operator = isNegated ? 'IS DISTINCT FROM' : 'IS NOT DISTINCT FROM';
  return operatorTree(operator, [condition(operand), value], BOOLEAN);
}

export function bindDistinctTest(pair: readonly [Expr, Expr], isNegated: boolean, env: Env): Bound {
  const [left, right] = pair;
  return bindComparison(
    env.session.bindExpr(left, env),
    isNegated ? 'IS NOT DISTINCT FROM' : 'IS DISTINCT FROM',
    env.session.bindExpr(right, env),
  );
}

export function bindBetween(node: ExprNodes['Between'], env: Env): Bound {
  const value = env.session.bindExpr(node.expr, env);
  const low = bindComparison(value, '>=', env.session.bindExpr(node.low, env));
  const high = bindComparison(value, '<=', env.session.bindExpr(node.high, env));
  const keyword = node.negated ? 'NOT BETWEEN' : 'BETWEEN';
  const text = `(${low.text} AND ${high.text})`;
  const lowName = low.displayName.split(' >= ').at(-1);
  const highName = high.displayName.split(' <= ').at(-1);
  return {
    ...derive([low, high], {
      text: node.negated ? `(NOT ${text})` : text,
      tree: negatedIf(node.negated, operatorTree('AND', [low, high], BOOLEAN)),
      type: BOOLEAN,
      displayName: `${value.displayName} ${keyword} ${lowName} AND ${highName}`,
    }),
    rowConditions: node.negated
      ? []
      : [...(low.rowConditions ?? []), ...(high.rowConditions ?? [])],
    isExact: !node.negated && low.isExact === true && high.isExact === true,
  };
}

export function bindInList(node: ExprNodes['InList'], env: Env): Bound {
  const value = env.session.bindExpr(node.expr, env);
  const items = node.list.map((item) => env.session.bindExpr(item, env));
  const typed = items.map((item) => comparable(value, node.negated ? 'NOT IN' : 'IN', item));
  // If an item needs another type (`5 IN (1.5)`), all items are compared in that type.
  const type =
    unionType(
      typed.map(([left]) => left.type),
      true,
    ) ?? value.type;
  const left = typed.some(([side]) => side.text !== value.text) ? convert(value, type) : value;
  const keyword = node.negated ? 'NOT IN' : 'IN';
  const rows = value.type.kind === 'struct' ? rowInList(value, items, node.negated) : undefined;
  const texts = typed.map(([, right]) => right.text).join(', ');
  const inTree: Lazy<ExprTree> = () => ({
    ...{ kind: 'in', value: treeOf(left), items: typed.map(([, right]) => treeOf(right)) },
    type: BOOLEAN,
  });
  const rowConditions = inListConditions(value, items, node.negated);
  return {
    ...derive([value, ...items], {
      text:
        rows ??
        (items.length === 0 ? String(node.negated) : `(${left.text} ${keyword} (${texts}))`),
      tree: negatedIf(node.negated, inTree),
      type: BOOLEAN,
      displayName: `${value.displayName} ${keyword} ${items.map((item) => item.displayName).join(', ')}`,
    }),
    rowConditions,
    isExact: rowConditions.length === 1,
  };
}

/** Compares a row with each item field by field, in the types of both. */
function rowInList(value: Bound, items: readonly Bound[], isNegated: boolean): string | undefined {
  if (items.length === 0) return undefined;
  const any = items.map((item) => bindComparison(value, '=', item, 'IN').text).join(' OR ');
  return `(${isNegated ? 'NOT ' : ''}(${any}))`;
}

function inListConditions(
  value: Bound,
  items: readonly Bound[],
  isNegated: boolean,
): readonly RowCondition[] {
  const origin = value.column?.tableColumnKind === 'tag' ? value.column.origin : undefined;
  if (origin === undefined || items.length === 0) return [];
  const rowConditionOf = (
    texts: readonly (ConstantValue | undefined)[],
  ): PlainRowCondition | undefined => {
    if (!texts.every((text) => typeof text === 'string')) return undefined;
    const [op, values] = isNegated
      ? (['not_in', [...texts, undefined]] as const)
      : (['in', texts] as const);
    return { scan: origin.scan, kind: 'tag', condition: { tag: origin.column, op, values } };
  };
  const rowCondition = rowConditionOf(items.map(({ constant }) => constant?.value));
  if (rowCondition === undefined) return [];
  const texts = items.map(({ constant }) => constant?.recompute);
  const recompute = (values: Values) => rowConditionOf(texts.map((text) => text?.(values)));
  return [{ ...rowCondition, recompute }];
}
