import type { BinaryExpr, Expr } from '../../ast/expressions.js';
import { printExpr } from '../../ast/print.js';
import { arithmeticType } from '../arithmetic.js';
import type { ColumnRef, RowExpr } from '../compile/compiled-select.js';
import type { SourceColumns } from '../compile/source.js';
import { typeOfRef } from '../compile/source-columns.js';
import type { DataType } from '../data-type.js';
import { isNumeric } from '../data-type.js';
import { scalarType } from '../functions.js';
import { planFailure } from '../plan-failure.js';
import { compileRegex, type Matcher } from './regex.js';

export type Operand = RowExpr<
  | { readonly kind: 'column'; readonly ref: ColumnRef; readonly type: DataType }
  | { readonly kind: 'date_part'; readonly part: string; readonly type: 'integer' }
>;

export type CompareOp = '=' | '!=' | '<' | '<=' | '>' | '>=';

/** A condition in which meaningless comparisons are replaced by false. NULL compares as false. */
export type Filter =
  | { readonly kind: 'constant'; readonly value: boolean }
  | { readonly kind: 'and' | 'or'; readonly left: Filter; readonly right: Filter }
  | {
      readonly kind: 'compare';
      readonly op: CompareOp;
      readonly left: Operand;
      readonly right: Operand;
    }
  | {
      readonly kind: 'match';
      readonly operand: Operand;
      readonly matcher: Matcher;
      readonly isNegated: boolean;
    };

const FALSE: Filter = { kind: 'constant', value: false };

/**
 * Builds the filter of a statement for the columns of one source. Source: query-languages,
 * "Conditions on values".
 */
export function buildFilter(expr: Expr, columns: SourceColumns): Filter {
  switch (expr.kind) {
    case 'paren':
      return buildFilter(expr.inner, columns);
    case 'boolean':
      return { kind: 'constant', value: expr.value };
    case 'binary':
      return buildBinary(expr, columns);
    default:
      throw planFailure(`invalid condition expression: ${printExpr(expr)}`);
  }
}

function buildBinary(expr: BinaryExpr, columns: SourceColumns): Filter {
  switch (expr.op) {
    case 'AND':
    case 'OR':
      return joined(
        expr.op === 'AND' ? 'and' : 'or',
        buildFilter(expr.left, columns),
        buildFilter(expr.right, columns),
      );
    case '=~':
    case '!~':
      return buildMatch(expr, columns);
    case '=':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return buildComparison(expr.op, expr, columns);
    default:
      throw planFailure(`invalid condition expression: ${printExpr(expr)}`);
  }
}

function joined(kind: 'and' | 'or', left: Filter, right: Filter): Filter {
  for (const [side, other] of [
    [left, right],
    [right, left],
  ] as const) {
    if (side.kind === 'constant') return side.value === (kind === 'and') ? other : side;
  }
  return { kind, left, right };
}

function buildMatch(expr: BinaryExpr, columns: SourceColumns): Filter {
  if (expr.right.kind !== 'regex')
    throw planFailure('invalid conditional, expected regular expression');
  const operand = buildOperand(expr.left, columns);
  const matcher = compileRegex(expr.right.source);
  const isNegated = expr.op === '!~';
  if (operand === undefined) return FALSE;
  if (operand.kind === 'constant') {
    if (typeof operand.value !== 'string') return FALSE;
    return { kind: 'constant', value: matcher.test(operand.value) !== isNegated };
  }
  if (!isText(operand.type)) return FALSE;
  return { kind: 'match', operand, matcher, isNegated };
}

function buildComparison(op: CompareOp, expr: BinaryExpr, columns: SourceColumns): Filter {
  const left = buildOperand(expr.left, columns);
  const right = buildOperand(expr.right, columns);
  if (left === undefined || right === undefined) return FALSE;
  if (!isComparable(op, left.type, right.type)) return FALSE;
  if (left.kind === 'constant' && right.kind === 'constant' && isText(left.type)) {
    return { kind: 'constant', value: (left.value === right.value) === (op === '=') };
  }
  return { kind: 'compare', op, left, right };
}

function isText(type: DataType): boolean {
  return type === 'tag' || type === 'string';
}

function isComparable(op: CompareOp, left: DataType, right: DataType): boolean {
  const isEquality = op === '=' || op === '!=';
  if (isText(left) && isText(right)) return isEquality;
  if (left === 'boolean' && right === 'boolean') return isEquality;
  return isNumeric(left) && isNumeric(right);
}

/** Returns `undefined` for an operand without a value, for which every comparison is false. */
function buildOperand(expr: Expr, columns: SourceColumns): Operand | undefined {
  switch (expr.kind) {
    case 'paren':
      return buildOperand(expr.inner, columns);
    case 'var_ref': {
      const type = typeOfRef(expr, columns);
      // An unknown name is an absent tag.
      if (type === 'unknown') {
        return expr.cast === undefined || expr.cast === 'tag'
          ? { kind: 'constant', value: '', type: 'tag' }
          : undefined;
      }
      return { kind: 'column', ref: { name: expr.name, type, isTag: type === 'tag' }, type };
    }
    case 'integer':
      return { kind: 'constant', value: expr.value, type: 'integer' };
    case 'unsigned':
      return { kind: 'constant', value: expr.value, type: 'unsigned' };
    case 'number':
      return { kind: 'constant', value: expr.value, type: 'float' };
    case 'string':
      return { kind: 'constant', value: expr.value, type: 'string' };
    case 'boolean':
      return { kind: 'constant', value: expr.value, type: 'boolean' };
    case 'duration':
      return { kind: 'constant', value: expr.ns, type: 'integer' };
    case 'call':
      return buildCall(expr, columns);
    case 'binary': {
      const left = buildOperand(expr.left, columns);
      const right = buildOperand(expr.right, columns);
      if (left === undefined || right === undefined) return undefined;
      const type = arithmeticType(expr.op, left.type, right.type);
      if (type === undefined || type === 'unknown') return undefined;
      const op = expr.op as Extract<Operand, { kind: 'binary' }>['op']; // arithmeticType accepts no others
      return { kind: 'binary', op, left, right, type };
    }
    default:
      return undefined;
  }
}

function buildCall(
  call: Extract<Expr, { kind: 'call' }>,
  columns: SourceColumns,
): Operand | undefined {
  if (call.name === 'date_part') {
    const [part] = call.args;
    return {
      kind: 'date_part',
      part: part?.kind === 'string' ? part.value.toLowerCase() : '',
      type: 'integer',
    };
  }
  const args: Operand[] = [];
  for (const arg of call.args) {
    const operand = buildOperand(arg, columns);
    if (operand === undefined) return undefined;
    args.push(operand);
  }
  const type = scalarType(
    call.name,
    args.map((arg) => arg.type),
  );
  return type === 'unknown' ? undefined : { kind: 'scalar', name: call.name, args, type };
}

/** Returns the columns that a condition reads. */
export function filterColumns(filter: Filter): ColumnRef[] {
  switch (filter.kind) {
    case 'constant':
      return [];
    case 'and':
    case 'or':
      return [...filterColumns(filter.left), ...filterColumns(filter.right)];
    case 'compare':
      return [...operandColumns(filter.left), ...operandColumns(filter.right)];
    case 'match':
      return operandColumns(filter.operand);
  }
}

function operandColumns(operand: Operand): ColumnRef[] {
  switch (operand.kind) {
    case 'column':
      return [operand.ref];
    case 'binary':
      return [...operandColumns(operand.left), ...operandColumns(operand.right)];
    case 'scalar':
      return operand.args.flatMap(operandColumns);
    default:
      return [];
  }
}
