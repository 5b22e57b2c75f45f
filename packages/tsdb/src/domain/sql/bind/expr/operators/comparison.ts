import { tsdbError } from '../../../../../errors.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '../../../../../model/scan.js';
import { arrowTypeName } from '../../../arrow-type-name.js';
import type { Fact } from '../../scan-draft.js';
import { BOOLEAN, type Bound, derive, UTF8 } from '../../types/bound.js';
import { comparisonType, isNumeric, isText } from '../../types/common-type.js';
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

const MIRRORED: Readonly<Record<string, ComparisonOp>> = {
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
  return {
    ...derive([left, right], {
      text: `(${a.text} ${op} ${b.text})`,
      type: BOOLEAN,
      displayName: `${left.displayName} ${shownOp} ${right.displayName}`,
    }),
    facts: [...comparisonFacts(a, op, b), ...comparisonFacts(b, MIRRORED[op] ?? op, a)],
    ...(op === '=' && choiceOf(a, b)),
  };
}

function choiceOf(a: Bound, b: Bound): Pick<Bound, 'choice'> | undefined {
  const [column, value] = a.column === undefined ? [b, a] : [a, b];
  if (column.column === undefined || value.constant === undefined) return undefined;
  return { choice: { column: column.text, type: value.type, values: [value.text] } };
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
function comparisonFacts(side: Bound, op: ComparisonOp, other: Bound): readonly Fact[] {
  const origin = side.column?.origin;
  const value = other.constant?.value;
  if (origin === undefined || value === undefined) return [];
  const { scan, column } = origin;
  if (side.column?.source === 'tag' && (value === null || typeof value === 'string')) {
    if (op === '=' && value !== null) {
      return [{ scan, kind: 'tag', condition: { tag: column, op: 'in', values: [value] } }];
    }
    if (op === '<>' && value !== null) {
      return [
        { scan, kind: 'tag', condition: { tag: column, op: 'not_in', values: [value, undefined] } },
      ];
    }
    return [];
  }
  if (side.column?.source !== 'time' || typeof value !== 'bigint') return [];
  const range = timeRangeOf(op, value);
  return range === undefined ? [] : [{ scan, kind: 'time', ...range }];
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
