import { arrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import type { FieldCondition } from '@plinth/tsdb-model/query/column-query.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import { isNumeric, isSameType, isText, type SqlType } from '@plinth/tsdb-model/sql-type.js';
import type { ConstantValue } from '../../../bound-expr.js';
import { quoteString } from '../../../emit/quote.js';
import { operatorTree } from '../../../plan-tree.js';
import type { PlainRowCondition, RowCondition } from '../../scan-draft.js';
import type { ScopeColumn } from '../../scope.js';
import { BOOLEAN, type Bound, derive, mapped, UTF8 } from '../../types/bound.js';
import { comparisonType } from '../../types/common-type.js';
import { convert } from '../convert.js';
import { fieldOf } from '../fields.js';

export type ComparisonOp =
  | '='
  | '<>'
  | '<'
  | '<='
  | '>'
  | '>='
  | 'IS DISTINCT FROM'
  | 'IS NOT DISTINCT FROM';

const MIRRORED: Readonly<Record<string, FieldCondition['op']>> = {
  '=': '=',
  '<>': '<>',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

export function bindComparison(
  left: Bound,
  op: ComparisonOp,
  right: Bound,
  shownOp: string = op,
): Bound {
  const [a, b] = ordered(comparable(left, shownOp, right), op);
  const mirrored = MIRRORED[op] ?? op;
  // Compare a number with a field in its original form.
  const [x, y] = isField(left) || isField(right) ? [left, right] : [a, b];
  const rowConditions = [
    ...comparisonConditions(x, op, y),
    ...comparisonConditions(y, mirrored, x),
  ];
  return {
    ...derive([left, right], {
      text: `(${a.text} ${op} ${b.text})`,
      tree: operatorTree(op, [a, b], BOOLEAN),
      type: BOOLEAN,
      displayName: `${left.displayName} ${shownOp} ${right.displayName}`,
    }),
    rowConditions,
    isExact: rowConditions.length === 1,
    ...(op === '=' && choiceOf(a, b)),
  };
}

function choiceOf(a: Bound, b: Bound): Pick<Bound, 'choice'> | undefined {
  const [column, value] = a.column === undefined ? [b, a] : [a, b];
  if (column.column === undefined || value.constant === undefined) return undefined;
  return { choice: { column: column.text, type: value.type, values: [value.text] } };
}

function isField({ column }: Bound): boolean {
  return ['int64', 'uint64', 'float64'].includes(column?.tableColumnKind ?? '');
}

/** Converts both sides to the type in which they are compared. */
export function comparable(left: Bound, shownOp: string, right: Bound): readonly [Bound, Bound] {
  if (isUnknownText(left) && isNumeric(right.type)) return [left, convert(right, UTF8)];
  if (isUnknownText(right) && isNumeric(left.type)) return [convert(left, UTF8), right];
  const rows = comparableRows(left, shownOp, right);
  if (rows !== undefined) return rows;
  const type = comparisonType(left.type, right.type);
  if (type === undefined) throw incomparable(left, shownOp, right);
  // DuckDB compares integers of different sizes exactly, and a cast would prevent pruning by the
  // column.
  if (left.type.kind === 'int' && right.type.kind === 'int') return [left, right];
  if (isText(left.type) && isText(right.type)) return [left, right];
  if (isNumeric(type) && left.type.kind === 'decimal' && right.type.kind === 'int')
    return [left, right];
  return [convert(left, type), convert(right, type)];
}

function incomparable(left: Bound, shownOp: string, right: Bound): TsdbError<'plan_error'> {
  return tsdbError(
    'plan_error',
    `Error during planning: Cannot infer common argument type for comparison operation ` +
      `${arrowTypeName(left.type)} ${shownOp} ${arrowTypeName(right.type)}`,
  );
}

/**
 * Compares rows such as `(a, b) = (1, 'x')` field by field. Returns `undefined` if both have one
 * type or are not rows.
 */
function comparableRows(
  left: Bound,
  shownOp: string,
  right: Bound,
): readonly [Bound, Bound] | undefined {
  const [a, b] = [left.type, right.type];
  if (a.kind !== 'struct' || b.kind !== 'struct' || isSameType(a, b)) return undefined;
  const fields = b.fields.map(({ name }) => name);
  if (a.fields.length !== fields.length || a.fields.some(({ name }) => !fields.includes(name))) {
    throw incomparable(left, shownOp, right);
  }
  const pairs = a.fields.map(({ name }) =>
    comparable(rowField(left, name), shownOp, rowField(right, name)),
  );
  const rowOf = (row: Bound, side: 0 | 1): Bound => {
    const values = pairs.map((pair, index) => ({
      ...pair[side],
      name: a.fields[index]?.name ?? '',
    }));
    const text = `{${values.map(({ name, text }) => `${quoteString(name)}: ${text}`).join(', ')}}`;
    const made =
      row.call === undefined ? `CASE WHEN ${row.text} IS NOT NULL THEN ${text} END` : text;
    return {
      ...row,
      text: made,
      type: { kind: 'struct', fields: values.map(({ name, type }) => ({ name, type })) },
    };
  };
  return [rowOf(left, 0), rowOf(right, 1)];
}

/**
 * Returns the original expression of a row's field if known, because a literal may take the type of
 * the other side.
 */
function rowField(row: Bound, name: string): Bound {
  const isTuple = row.call?.name === 'struct' || row.call?.name === 'row';
  const value = isTuple ? row.call?.args[Number(name.slice(1))] : undefined;
  return value ?? fieldOf(row, name);
}

/** Within rows and lists NULL sorts first. In DuckDB it sorts last. */
function ordered([a, b]: readonly [Bound, Bound], op: ComparisonOp): readonly [Bound, Bound] {
  if (!/^[<>]=?$/.test(op)) return [a, b];
  const orderable = (side: Bound): Bound => ({
    ...side,
    text: orderableText(side.text, side.type),
  });
  return [orderable(a), orderable(b)];
}

/**
 * Replaces each field and element with a pair of its presence and its value.
 * @param depth number of enclosing rows and lists.
 */
function orderableText(text: string, type: SqlType, depth = 0): string {
  const name = `r${depth}`;
  const keyed = (value: string, of: SqlType): string =>
    `${value} IS NOT NULL, v: ${orderableText(value, of, depth + 1)}`;
  if (type.kind === 'list')
    return `list_transform(${text}, lambda ${name}: {p: ${keyed(name, type.element)}})`;
  if (type.kind !== 'struct') return text;
  const fields = type.fields.map(
    (field, index) =>
      `f${index}: {p: ${keyed(`struct_extract(${name}, ${quoteString(field.name)})`, field.type)}}`,
  );
  return `list_transform([${text}], lambda ${name}: CASE WHEN ${name} IS NOT NULL THEN {${fields.join(', ')}} END)[1]`;
}

/**
 * Returns whether a string is not a constant. A number is then compared as a string, since a tag
 * that is not numeric must not fail the query. A string constant is converted to a number instead.
 */
function isUnknownText(side: Bound): boolean {
  return isText(side.type) && side.constant === undefined;
}

/** Returns the row conditions that `column op constant` implies for the rows of the column's table. */
function comparisonConditions(
  side: Bound,
  op: ComparisonOp,
  { type, constant }: Bound,
): readonly RowCondition[] {
  const conditionOf = (value: ConstantValue) => rowConditionOf(side, op, value, type);
  const found = constant && conditionOf(constant.value);
  return found === undefined
    ? []
    : [{ ...found, recompute: constant && mapped(constant, conditionOf) }];
}

/**
 * Returns the time range, both ends inclusive, in which `left op right` may be true. One side is
 * `column`, the other a constant.
 */
export function timeRangeFor(
  column: ScopeColumn,
  comparison: { readonly left: Bound; readonly op: ComparisonOp; readonly right: Bound },
): TimeRange | undefined {
  const [left, right] = comparable(comparison.left, comparison.op, comparison.right);
  const isMirrored = right.column?.text === column.text;
  const [of, other] = isMirrored ? [right, left] : [left, right];
  const value = other.constant?.value;
  if (of.column?.text !== column.text || typeof value !== 'bigint') return undefined;
  return timeRangeOf(
    isMirrored ? (MIRRORED[comparison.op] ?? comparison.op) : comparison.op,
    value,
  );
}

function rowConditionOf(
  { column: of }: Bound,
  op: ComparisonOp,
  value: ConstantValue,
  type: SqlType,
): PlainRowCondition | undefined {
  const { origin, tableColumnKind } = of ?? {};
  if (origin === undefined || !(op in MIRRORED)) return undefined;
  const { scan, column: name } = origin;
  switch (tableColumnKind) {
    case 'tag': {
      if (typeof value !== 'string' || (op !== '=' && op !== '<>')) return undefined;
      const [is, values] =
        op === '=' ? (['in', [value]] as const) : (['not_in', [value, undefined]] as const);
      return { scan, kind: 'tag', condition: { tag: name, op: is, values } };
    }
    case 'time': {
      const range = typeof value === 'bigint' ? timeRangeOf(op, value) : undefined;
      return range && { scan, kind: 'time', ...range };
    }
    case 'int64':
    case 'uint64':
    case 'float64': {
      const column = scan.table.columns.get(name);
      const number = Number(value);
      const isExact =
        typeof value === 'bigint' ? Number.isSafeInteger(number) : Number.isFinite(value);
      if (column === undefined || (type.kind !== 'int' && type.kind !== 'float') || !isExact)
        return undefined;
      const condition = { column, op: op as FieldCondition['op'], value: number };
      return { scan, kind: 'field', condition };
    }
    default:
      return undefined;
  }
}

export interface TimeRange {
  readonly minNs: bigint;
  readonly maxNs: bigint;
}

function timeRangeOf(op: ComparisonOp, value: bigint): TimeRange | undefined {
  switch (op) {
    case '=':
      return { minNs: value, maxNs: value };
    case '<':
      return { minNs: MIN_TIME_NS, maxNs: value - 1n };
    case '<=':
      return { minNs: MIN_TIME_NS, maxNs: value };
    case '>':
      return { minNs: value + 1n, maxNs: MAX_TIME_NS };
    case '>=':
      return { minNs: value, maxNs: MAX_TIME_NS };
    default:
      return undefined;
  }
}
