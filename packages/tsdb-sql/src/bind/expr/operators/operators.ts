import { arrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import { isSameType, isText, listDepth } from '@plinth/tsdb-model/sql-type.js';
import type { BoundExpr } from '../../../bound-expr.js';
import { textForRegexp } from '../../../emit/bounded-text.js';
import { duckDbType } from '../../../emit/duckdb-type.js';
import { callNode, type ExprNodes } from '../../../parse/ast.js';
import { operatorTree } from '../../../plan-tree.js';
import type { Env } from '../../session.js';
import {
  BOOLEAN,
  type Bound,
  type Choice,
  derive,
  INT64,
  UINT64,
  UTF8,
} from '../../types/bound.js';
import { numericType } from '../../types/common-type.js';
import { eitherCondition } from '../../types/row-conditions.js';
import { convert } from '../convert.js';
import { fieldOf } from '../fields.js';
import { bindFunction } from '../function-calls.js';
import { bindArithmetic, bindNegation } from './arithmetic.js';
import { bindComparison, type ComparisonOp } from './comparison.js';
import { condition } from './condition.js';
import type { ArithmeticOp } from './decimals.js';
import { bindLike } from './like.js';

const ARITHMETIC: Readonly<Record<string, ArithmeticOp>> = {
  Plus: '+',
  Minus: '-',
  Multiply: '*',
  Divide: '/',
  Modulo: '%',
};
/** Comparison operators in DuckDB and as displayed. */
export const COMPARISON: Readonly<Record<string, readonly [ComparisonOp, string]>> = {
  Eq: ['=', '='],
  NotEq: ['<>', '!='],
  Lt: ['<', '<'],
  LtEq: ['<=', '<='],
  Gt: ['>', '>'],
  GtEq: ['>=', '>='],
  Spaceship: ['IS NOT DISTINCT FROM', '<=>'],
};
const BITWISE: Readonly<Record<string, string>> = {
  BitwiseAnd: '&',
  BitwiseOr: '|',
  BitwiseXor: '^',
  PGBitwiseXor: '#',
  PGBitwiseShiftLeft: '<<',
  PGBitwiseShiftRight: '>>',
};
const REGEX: Readonly<
  Record<string, { readonly not: boolean; readonly ignoreCase: boolean; readonly shown: string }>
> = {
  PGRegexMatch: { not: false, ignoreCase: false, shown: '~' },
  PGRegexIMatch: { not: false, ignoreCase: true, shown: '~*' },
  PGRegexNotMatch: { not: true, ignoreCase: false, shown: '!~' },
  PGRegexNotIMatch: { not: true, ignoreCase: true, shown: '!~*' },
};

/** PostgreSQL operators for LIKE and ILIKE. */
const LIKE: Readonly<Record<string, LikeOperator>> = {
  PGLikeMatch: { keyword: 'LIKE', negated: false, shown: '~~' },
  PGILikeMatch: { keyword: 'ILIKE', negated: false, shown: '~~*' },
  PGNotLikeMatch: { keyword: 'LIKE', negated: true, shown: '!~~' },
  PGNotILikeMatch: { keyword: 'ILIKE', negated: true, shown: '!~~*' },
};

interface LikeOperator {
  readonly keyword: 'LIKE' | 'ILIKE';
  readonly negated: boolean;
  readonly shown: string;
}

export function bindBinaryOp(node: ExprNodes['BinaryOp'], env: Env): Bound {
  const { op } = node;
  const like = LIKE[op];
  if (like !== undefined)
    return bindLike({ ...like, expr: node.left, pattern: node.right }, like.keyword, env);
  const left = env.session.bindExpr(node.left, env);
  if (op === 'Arrow' && 'Value' in node.right) {
    const key = env.session.bindExpr(node.right, env).constant?.value;
    if (typeof key === 'string') return fieldOf(left, key);
  }
  const right = env.session.bindExpr(node.right, env);
  const listCall = listOperation(node, left, right);
  if (listCall !== undefined) {
    const args = listCall.isSwapped ? [right, left] : [left, right];
    return bindFunction(callNode(listCall.name, []).Function, env, { args, isStar: false });
  }
  if (op === 'And' || op === 'Or') return bindLogic(left, op, right);
  const arithmetic = ARITHMETIC[op];
  if (arithmetic !== undefined) return bindArithmetic(left, arithmetic, right);
  const comparison = COMPARISON[op];
  if (comparison !== undefined) return bindComparison(left, comparison[0], right, comparison[1]);
  const regex = REGEX[op];
  if (regex !== undefined) return bindRegex(left, right, regex);
  if (op === 'StringConcat') return bindConcat(left, right, env);
  const bitwise = BITWISE[op];
  if (bitwise !== undefined) return bindBitwise(left, bitwise, right);
  throw tsdbError('not_implemented', `Unsupported binary operator: ${op}`);
}

export function bindUnaryOp(node: ExprNodes['UnaryOp'], env: Env): Bound {
  const operand = env.session.bindExpr(node.expr, env);
  switch (node.op) {
    case 'Minus':
      return bindNegation(
        operand,
        /^U?(Int|Float)64\([^-]/.test(operand.displayName) && 'Value' in node.expr,
      );
    case 'Plus':
      return operand;
    case 'Not': {
      const checked = condition(operand);
      return derive([operand], {
        text: `(NOT ${checked.text})`,
        tree: operatorTree('NOT', [checked], BOOLEAN),
        type: BOOLEAN,
        displayName: `NOT ${operand.displayName}`,
      });
    }
    default:
      throw tsdbError('not_implemented', `Unsupported SQL unary operator ${node.op}`);
  }
}

function bindLogic(left: Bound, op: 'And' | 'Or', right: Bound): Bound {
  const [a, b] = [condition(left), condition(right)];
  const keyword = op === 'And' ? 'AND' : 'OR';
  const rowConditions =
    op === 'And'
      ? [...(left.rowConditions ?? []), ...(right.rowConditions ?? [])]
      : eitherCondition(left.rowConditions ?? [], right.rowConditions ?? []);
  const areExact = left.isExact === true && right.isExact === true;
  // True if both sides are conditions on the same tag and nothing else.
  const isOneTag =
    [left.rowConditions, right.rowConditions, rowConditions].every((side) => side?.length === 1) &&
    rowConditions[0]?.kind === 'tag';
  const choice = op === 'Or' ? eitherChoice(a.choice, b.choice) : undefined;
  return {
    ...derive([left, right], {
      text: choice === undefined ? `(${a.text} ${keyword} ${b.text})` : choiceText(choice),
      tree: operatorTree(keyword, [a, b], BOOLEAN),
      type: BOOLEAN,
      displayName: `${left.displayName} ${keyword} ${right.displayName}`,
    }),
    rowConditions,
    isExact: areExact && (op === 'And' || isOneTag),
    ...(choice && { choice }),
  };
}

/** DuckDB needs quadratic time for long OR chains of comparisons but little for an IN list. */
function eitherChoice(a: Choice | undefined, b: Choice | undefined): Choice | undefined {
  if (a === undefined || b === undefined || a.column !== b.column) return undefined;
  return isSameType(a.type, b.type) ? { ...a, values: [...a.values, ...b.values] } : undefined;
}

function choiceText({ column, values }: Choice): string {
  return `(${column} IN (${values.join(', ')}))`;
}

function bindRegex(
  left: Bound,
  right: Bound,
  { not, ignoreCase, shown }: (typeof REGEX)[string],
): Bound {
  const isText2 = [left, right].every(({ type }) => isText(type) || type.kind === 'null');
  if (!isText2) throw mismatch(left, shown, right);
  const [a, b] = [convert(left, UTF8), convert(right, UTF8)];
  const match = `regexp_matches(${textForRegexp(a.text, b)}, ${b.text}${ignoreCase ? ", 'i'" : ''})`;
  return derive([left, right], {
    text: not ? `(NOT ${match})` : match,
    type: BOOLEAN,
    displayName: `${left.displayName} ${shown} ${right.displayName}`,
  });
}

/** List operators are calls of the list functions, also in the display name. */
function listOperation(
  { op }: ExprNodes['BinaryOp'],
  a: Bound,
  b: Bound,
): { readonly name: string; readonly isSwapped?: boolean } | undefined {
  if (op === 'AtArrow') return { name: 'array_has_all' };
  if (op === 'ArrowAt') return { name: 'array_has_all', isSwapped: true };
  const [leftDepth, rightDepth] = [listDepth(a.type), listDepth(b.type)];
  if (op !== 'StringConcat' || leftDepth + rightDepth === 0) return undefined;
  if (leftDepth === rightDepth) return { name: 'array_concat' };
  return { name: leftDepth > rightDepth ? 'array_append' : 'array_prepend' };
}

function bindConcat(left: Bound, right: Bound, env: Env): Bound {
  const displayName = `${left.displayName} || ${right.displayName}`;
  const [a, b] = env.session.stringBudget.add([convert(left, UTF8), convert(right, UTF8)]) as [
    BoundExpr,
    BoundExpr,
  ];
  const text = `(${a.text} || ${b.text})`;
  const tree = operatorTree('||', [a, b], UTF8);
  const made = derive([left, right], { text, type: UTF8, displayName, tree }, { onlyOfNull: true });
  return { ...made, isCountedString: true };
}

function bindBitwise(left: Bound, op: string, right: Bound): Bound {
  const common = numericType(left.type, right.type);
  if (common?.kind !== 'int') throw mismatch(left, op, right);
  const isWide = [left.type, right.type].some(
    (t) => t.kind === 'int' && t.bits === 64 && !t.signed,
  );
  const type = isWide ? UINT64 : common;
  const isShift = op === '<<' || op === '>>';
  const resultType = isShift && left.type.kind === 'int' ? left.type : type;
  const [a, b] = [convert(left, resultType), convert(right, isShift ? INT64 : resultType)];
  const isXor = op === '^' || op === '#';
  // As in Arrow, the shift count is taken modulo the bit width.
  const count =
    isShift && resultType.kind === 'int' ? `(${b.text} & ${resultType.bits - 1})` : b.text;
  if (op === '<<' && resultType.kind === 'int') {
    const { bits, signed } = resultType;
    return derive([left, right], {
      text: `CAST(plinth_shift_left(${a.text}, ${b.text}, ${bits}, ${signed}) AS ${duckDbType(resultType)})`,
      type: resultType,
      displayName: `${left.displayName} << ${right.displayName}`,
    });
  }
  return derive([left, right], {
    text: isXor ? `xor(${a.text}, ${b.text})` : `(${a.text} ${op} ${count})`,
    type: resultType,
    displayName: `${left.displayName} ${isXor ? 'BIT_XOR' : op} ${right.displayName}`,
  });
}

function mismatch(left: Bound, op: string, right: Bound): TsdbError<'plan_error'> {
  return tsdbError(
    'plan_error',
    `Error during planning: Cannot infer common argument type for operation ` +
      `${arrowTypeName(left.type)} ${op} ${arrowTypeName(right.type)}`,
  );
}
