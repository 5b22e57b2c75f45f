import { type TsdbError, tsdbError } from '../../../../../errors.js';
import type { FieldCondition } from '../../../../../model/in-memory-request.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '../../../../../model/scan.js';
import { isNumeric, isSameType, isText, type SqlType } from '../../../../../model/sql-type.js';
import { arrowTypeName } from '../../../arrow-type-name.js';
import type { ConstantValue } from '../../../bound-expr.js';
import { quoteString } from '../../../emit/quote.js';
import type { Fact, PlainFact } from '../../scan-draft.js';
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
  // A number is compared with a field as it was written.
  const [x, y] = isField(left) || isField(right) ? [left, right] : [a, b];
  const facts = [...comparisonFacts(x, op, y), ...comparisonFacts(y, mirrored, x)];
  return {
    ...derive([left, right], {
      text: `(${a.text} ${op} ${b.text})`,
      type: BOOLEAN,
      displayName: `${left.displayName} ${shownOp} ${right.displayName}`,
    }),
    facts,
    isExact: facts.length === 1,
    ...(op === '=' && choiceOf(a, b)),
  };
}

function choiceOf(a: Bound, b: Bound): Pick<Bound, 'choice'> | undefined {
  const [column, value] = a.column === undefined ? [b, a] : [a, b];
  if (column.column === undefined || value.constant === undefined) return undefined;
  return { choice: { column: column.text, type: value.type, values: [value.text] } };
}

function isField({ column }: Bound): boolean {
  return ['int64', 'uint64', 'float64'].includes(column?.source ?? '');
}

/** Both sides in the type in which they are compared. */
export function comparable(left: Bound, shownOp: string, right: Bound): readonly [Bound, Bound] {
  if (isUnknownText(left) && isNumeric(right.type)) return [left, convert(right, UTF8)];
  if (isUnknownText(right) && isNumeric(left.type)) return [convert(left, UTF8), right];
  const rows = comparableRows(left, shownOp, right);
  if (rows !== undefined) return rows;
  const type = comparisonType(left.type, right.type);
  if (type === undefined) throw incomparable(left, shownOp, right);
  // The engine compares integers of any two sizes exactly; a cast would keep a column from being pruned.
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

/** Rows (`(a, b) = (1, 'x')`) are compared field by field; `undefined`: they are of one type, or no rows. */
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

/** What a row was made of, where that is known: a literal may be read in the type of what it is compared with. */
function rowField(row: Bound, name: string): Bound {
  const isTuple = row.call?.name === 'struct' || row.call?.name === 'row';
  const value = isTuple ? row.call?.args[Number(name.slice(1))] : undefined;
  return value ?? fieldOf(row, name);
}

/** Within rows and lists NULL is below all other values. DuckDB has it above. */
function ordered([a, b]: readonly [Bound, Bound], op: ComparisonOp): readonly [Bound, Bound] {
  if (!/^[<>]=?$/.test(op)) return [a, b];
  const orderable = (side: Bound): Bound => ({
    ...side,
    text: orderableText(side.text, side.type),
  });
  return [orderable(a), orderable(b)];
}

/** Each field and element as whether it is present and its value. @param depth of rows and lists around it. */
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
 * Beside such a text a number is compared as a text: most texts are no numbers, and a row whose tag is none must not
 * fail the query. A text that is written in the query is read as a number instead.
 */
function isUnknownText(side: Bound): boolean {
  return isText(side.type) && side.constant === undefined;
}

/** What `column op constant` says about the rows of the column's table. */
function comparisonFacts(
  side: Bound,
  op: ComparisonOp,
  { type, constant }: Bound,
): readonly Fact[] {
  const fact = (value: ConstantValue) => factOf(side, op, value, type);
  const found = constant && fact(constant.value);
  return found === undefined ? [] : [{ ...found, again: constant && mapped(constant, fact) }];
}

/** The times for which `left op right` may hold, where one side is `column` and the other a constant; both ends inclusive. */
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

function factOf(
  { column: of }: Bound,
  op: ComparisonOp,
  value: ConstantValue,
  type: SqlType,
): PlainFact | undefined {
  const { origin, source } = of ?? {};
  if (origin === undefined || !(op in MIRRORED)) return undefined;
  const { scan, column: name } = origin;
  switch (source) {
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
