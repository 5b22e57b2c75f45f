import { tsdbError } from '../../../../../errors.js';
import type { FieldCondition } from '../../../../../model/in-memory-request.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '../../../../../model/scan.js';
import { isNumeric, isText, type SqlType } from '../../../../../model/sql-type.js';
import { arrowTypeName } from '../../../arrow-type-name.js';
import type { ConstantValue } from '../../../bound-expr.js';
import type { Fact, PlainFact } from '../../scan-draft.js';
import { BOOLEAN, type Bound, derive, mapped, UTF8 } from '../../types/bound.js';
import { comparisonType } from '../../types/common-type.js';
import { convert } from '../convert.js';

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
  const [a, b] = comparable(left, shownOp, right);
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
  const type = comparisonType(left.type, right.type);
  if (type === undefined) {
    throw tsdbError(
      'plan_error',
      `Error during planning: Cannot infer common argument type for comparison operation ` +
        `${arrowTypeName(left.type)} ${shownOp} ${arrowTypeName(right.type)}`,
    );
  }
  // The engine compares integers of any two sizes exactly; a cast would keep a column from being pruned.
  if (left.type.kind === 'int' && right.type.kind === 'int') return [left, right];
  if (isText(left.type) && isText(right.type)) return [left, right];
  if (isNumeric(type) && left.type.kind === 'decimal' && right.type.kind === 'int')
    return [left, right];
  return [convert(left, type), convert(right, type)];
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

function timeRangeOf(
  op: ComparisonOp,
  value: bigint,
): { readonly minNs: bigint; readonly maxNs: bigint } | undefined {
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
