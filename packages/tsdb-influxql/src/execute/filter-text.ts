import { assertNever } from '@plinth/kernel';
import { quoteString } from '@plinth/tsdb-model/text/quote.js';
import { textForSteps } from '@plinth/tsdb-sql/emit/bounded-text.js';
import type { ColumnRef } from '../plan/compile/compiled-select.js';
import type { Filter, Operand } from '../plan/condition/filter.js';
import type { DataType } from '../plan/data-type.js';

/** Returns the DuckDB SQL of a column; a tag may be NULL. */
export type NameOf = (ref: ColumnRef) => string;

/** Returns a condition as DuckDB SQL; NULL means false. */
export function filterText(filter: Filter, nameOf: NameOf): string {
  switch (filter.kind) {
    case 'constant':
      return String(filter.value);
    case 'or':
      return orText(filter, nameOf);
    case 'and':
      return `(${filterText(filter.left, nameOf)} AND ${filterText(filter.right, nameOf)})`;
    case 'match': {
      const { source, stepsPerCharacter } = filter.matcher;
      const read = textForSteps(operandText(filter.operand, nameOf), stepsPerCharacter);
      const text = `regexp_matches(${read}, ${quoteString(source)})`;
      return filter.isNegated ? `NOT ${text}` : text;
    }
    case 'compare': {
      const op = filter.op === '!=' ? '<>' : filter.op;
      return `(${operandText(filter.left, nameOf)} ${op} ${operandText(filter.right, nameOf)})`;
    }
    default:
      return assertNever(filter);
  }
}

/**
 * Joins alternatives, with equality tests of one column as an IN list. DuckDB needs quadratic time
 * for long OR chains of comparisons.
 */
function orText(filter: Filter, nameOf: NameOf): string {
  const lists = new Map<string, { readonly column: Operand; readonly values: string[] }>();
  const texts: string[] = [];
  for (const part of alternatives(filter)) {
    const chosen =
      part.kind === 'compare' && part.op === '=' ? choice(part.left, part.right) : undefined;
    if (chosen === undefined) {
      texts.push(filterText(part, nameOf));
      continue;
    }
    // DuckDB compares all values of a list as one type.
    const key = `${chosen.constant.type} ${chosen.column.ref.name}`;
    const list = lists.get(key) ?? { column: chosen.column, values: [] };
    lists.set(key, list);
    list.values.push(operandText(chosen.constant, nameOf));
  }
  for (const { column, values } of lists.values()) {
    texts.push(`(${operandText(column, nameOf)} IN (${values.join(', ')}))`);
  }
  return `(${texts.join(' OR ')})`;
}

/** Returns the operands of an OR chain, in order. */
export function alternatives(filter: Filter): readonly Filter[] {
  const found: Filter[] = [];
  const open = [filter];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.kind === 'or') open.push(next.right, next.left);
    else found.push(next);
  }
  return found;
}

function choice(left: Operand, right: Operand) {
  const [column, constant] = left.kind === 'column' ? [left, right] : [right, left];
  return column.kind === 'column' && constant.kind === 'constant'
    ? { column, constant }
    : undefined;
}

function operandText(operand: Operand, nameOf: NameOf): string {
  switch (operand.kind) {
    case 'column':
      return operand.ref.isTag ? `coalesce(${nameOf(operand.ref)}, '')` : nameOf(operand.ref);
    case 'constant':
      return constantText(operand.value, operand.type);
    case 'binary':
      return binaryText(
        operand,
        operandText(operand.left, nameOf),
        operandText(operand.right, nameOf),
      );
    case 'scalar':
      return scalarText(
        operand.name,
        operand.args.map((arg) => operandText(arg, nameOf)),
        operand.type,
      );
    case 'date_part':
      return datePartText(operand.part, nameOf({ name: 'time', type: 'time', isTag: false }));
    default:
      return assertNever(operand);
  }
}

export function constantText(value: number | bigint | string | boolean, type: DataType): string {
  switch (typeof value) {
    case 'string':
      return quoteString(value);
    case 'boolean':
      return String(value);
    case 'bigint':
      return type === 'unsigned' ? `(${value})::UBIGINT` : `(${value})::BIGINT`;
    default:
      return `(${value})::DOUBLE`;
  }
}

function binaryText(
  { op, left, right, type }: Extract<Operand, { kind: 'binary' }>,
  a: string,
  b: string,
): string {
  const isWhole = type !== 'float';
  switch (op) {
    case '+':
    case '-':
    case '*':
      return isWhole ? `(${a}::HUGEINT ${op} ${b}::HUGEINT)` : `(${a}::DOUBLE ${op} ${b}::DOUBLE)`;
    case '/':
      return `(CASE WHEN ${a} IS NULL THEN NULL WHEN ${b} = 0 THEN 0.0 ELSE ${a}::DOUBLE / ${b}::DOUBLE END)`;
    case '%':
      return isWhole
        ? `(CASE WHEN ${a} IS NULL THEN NULL WHEN ${b} = 0 THEN 0 ELSE ${a}::HUGEINT % ${b}::HUGEINT END)`
        : `(CASE WHEN ${b} = 0 THEN NULL ELSE fmod(${a}::DOUBLE, ${b}::DOUBLE) END)`;
    default: {
      if (left.type === 'boolean') {
        const word = op === '&' ? 'AND' : op === '|' ? 'OR' : '<>';
        return `(${a} ${word} ${b})`;
      }
      const [x, y] = [wholeText(a, left.type), wholeText(b, right.type)];
      return op === '^' ? `xor(${x}, ${y})` : `(${x} ${op} ${y})`;
    }
  }
}

function wholeText(text: string, type: DataType): string {
  return type === 'float' ? `trunc(${text})::BIGINT` : `${text}::BIGINT`;
}

/** Returns NULL where a function is undefined, because DuckDB would raise an error there. */
function scalarText(
  name: string,
  [a = 'NULL', b = 'NULL']: readonly string[],
  type: DataType,
): string {
  const x = `${a}::DOUBLE`;
  const y = `${b}::DOUBLE`;
  switch (name) {
    case 'abs':
    case 'ceil':
    case 'floor':
    case 'round':
      return type === 'float' ? `${name}(${x})` : name === 'abs' ? `abs(${a}::HUGEINT)` : a;
    case 'acos':
    case 'asin':
      return `(CASE WHEN abs(${x}) <= 1 THEN ${name}(${x}) END)`;
    case 'ln':
    case 'log2':
    case 'log10':
      return `(CASE WHEN ${x} > 0 THEN ${name}(${x}) END)`;
    case 'log':
      return `(CASE WHEN ${x} > 0 AND ${y} > 0 AND ${y} <> 1 THEN ln(${x}) / ln(${y}) END)`;
    case 'sqrt':
      return `(CASE WHEN ${x} >= 0 THEN sqrt(${x}) END)`;
    case 'pow':
      return `pow(${x}, ${y})`;
    case 'atan2':
      return `atan2(${x}, ${y})`;
    default:
      return `${name}(${x})`;
  }
}

function datePartText(part: string, time: string): string {
  const ofMinute = `((epoch_ns(${time}) % 60000000000 + 60000000000) % 60000000000)`;
  switch (part) {
    case 'nanosecond':
      return ofMinute;
    case 'microsecond':
      return `(${ofMinute} // 1000)`;
    case 'millisecond':
      return `(${ofMinute} // 1000000)`;
    case 'second':
      return `(${ofMinute} // 1000000000)`;
    case 'epoch':
      return `floor(epoch_ns(${time}) / 1000000000.0)::BIGINT`;
    default:
      return `date_part('${part}', ${time}::TIMESTAMP)`;
  }
}
