import type { Column } from '../../../model/columns/column.js';
import type { FieldCondition } from '../../../model/in-memory-request.js';
import { MAX_TIME_NS, MIN_TIME_NS, type TagCondition } from '../../../model/scan.js';
import type { TableSchema } from '../../../model/schema.js';
import { NS_PER_DAY } from '../../../model/time/calendar.js';
import { parseInterval } from '../bind/expr/operators/intervals.js';
import { parseTimestamp } from '../bind/types/parse-timestamp.js';
import { type Expr, nameOf, namesOf } from '../parse/ast.js';
import type { PlanContext } from '../planned-query.js';

/** What stands for a value until the literals of a text are known. */
export interface LiteralValues {
  readonly literals: readonly string[];
  readonly context: PlanContext;
}

export interface Conditions {
  minTimeNs: bigint;
  maxTimeNs: bigint;
  readonly tagConditions: TagCondition[];
  readonly fieldConditions: FieldCondition[];
}

/** Adds what one part of a WHERE says; false when these values do not have the form that it takes. */
type Part = (values: LiteralValues, to: Conditions) => boolean;

type Text = (values: LiteralValues) => string | undefined;
type Time = (values: LiteralValues) => bigint | undefined;

const OPS: Readonly<Record<string, FieldCondition['op']>> = {
  Eq: '=',
  NotEq: '<>',
  Lt: '<',
  LtEq: '<=',
  Gt: '>',
  GtEq: '>=',
};
const MIRRORED: Readonly<Record<FieldCondition['op'], FieldCondition['op']>> = {
  '=': '=',
  '<>': '<>',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

/**
 * A WHERE of conditions on time, tags and numbers joined by AND. String literals are known by their place in the text:
 * `literalCount` tells how many there were.
 */
export class InMemoryConditions {
  readonly #table: TableSchema;
  readonly #parts: Part[] = [];
  #literalCount = 0;

  private constructor(table: TableSchema) {
    this.#table = table;
  }

  /** `undefined` when the WHERE says anything else, or when some literal stands elsewhere in the statement. */
  static of(
    selection: Expr | undefined,
    table: TableSchema,
    literalCount: number,
  ): InMemoryConditions | undefined {
    const conditions = new InMemoryConditions(table);
    if (selection !== undefined && !conditions.#add(selection)) return undefined;
    return conditions.#literalCount === literalCount ? conditions : undefined;
  }

  /** The conditions with the literals of one text; `undefined` when some literal has not the form it needs. */
  bind(values: LiteralValues): Conditions | undefined {
    const conditions: Conditions = {
      minTimeNs: MIN_TIME_NS,
      maxTimeNs: MAX_TIME_NS,
      tagConditions: [],
      fieldConditions: [],
    };
    return this.#parts.every((part) => part(values, conditions)) ? conditions : undefined;
  }

  #add(expr: Expr): boolean {
    if ('Nested' in expr) return this.#add(expr.Nested);
    if ('InList' in expr) return this.#addInList(expr.InList);
    if ('Between' in expr) {
      const { negated, expr: value, low, high } = expr.Between;
      return (
        !negated && this.#addComparison(value, '>=', low) && this.#addComparison(value, '<=', high)
      );
    }
    if (!('BinaryOp' in expr)) return false;
    const { left, op, right } = expr.BinaryOp;
    if (op === 'And') return this.#add(left) && this.#add(right);
    if (op === 'Or') return this.#addEither(expr);
    const known = OPS[String(op)];
    if (known === undefined) return false;
    return this.#columnOf(left) !== undefined
      ? this.#addComparison(left, known, right)
      : this.#addComparison(right, MIRRORED[known], left);
  }

  #addInList({ expr, list, negated }: Extract<Expr, { InList: unknown }>['InList']): boolean {
    const column = this.#columnOf(expr);
    const texts = list.map((item) => this.#textOf(item));
    if (column?.kind !== 'tag' || texts.length === 0 || texts.includes(undefined)) return false;
    this.#addTag(column, negated ? 'not_in' : 'in', texts as Text[]);
    return true;
  }

  /** `tag = 'a' OR tag = 'b' OR …` over one tag. */
  #addEither(expr: Expr): boolean {
    const texts: Text[] = [];
    let tag: Column | undefined;
    const add = (side: Expr): boolean => {
      if ('Nested' in side) return add(side.Nested);
      if (!('BinaryOp' in side)) return false;
      const { left, op, right } = side.BinaryOp;
      if (op === 'Or') return add(left) && add(right);
      const column = this.#columnOf(left);
      const text = this.#textOf(right);
      if (op !== 'Eq' || column?.kind !== 'tag' || text === undefined) return false;
      if (tag !== undefined && tag !== column) return false;
      tag = column;
      texts.push(text);
      return true;
    };
    if (!add(expr) || tag === undefined) return false;
    this.#addTag(tag, 'in', texts);
    return true;
  }

  #addTag(column: Column, op: TagCondition['op'], texts: readonly Text[]): void {
    this.#parts.push((values, { tagConditions }) => {
      const found = texts.map((text) => text(values));
      if (found.includes(undefined)) return false;
      // A series without the tag meets no comparison.
      tagConditions.push({
        tag: column.name,
        op,
        values: op === 'in' ? found : [...found, undefined],
      });
      return true;
    });
  }

  #addComparison(left: Expr, op: FieldCondition['op'], right: Expr): boolean {
    const column = this.#columnOf(left);
    switch (column?.kind) {
      case 'time':
        return this.#addTime(op, right);
      case 'tag': {
        const text = this.#textOf(right);
        if (text === undefined || (op !== '=' && op !== '<>')) return false;
        this.#addTag(column, op === '=' ? 'in' : 'not_in', [text]);
        return true;
      }
      case 'int64':
      case 'uint64':
      case 'float64': {
        const number = numberOf(right);
        if (number === undefined) return false;
        this.#parts.push((values, { fieldConditions }) => {
          const value = number(values);
          if (value === undefined) return false;
          fieldConditions.push({ column, op, value });
          return true;
        });
        return true;
      }
      default:
        return false;
    }
  }

  #addTime(op: FieldCondition['op'], right: Expr): boolean {
    const time = this.#timeOf(right);
    if (time === undefined || op === '<>') return false;
    this.#parts.push((values, conditions) => {
      const at = time(values);
      if (at === undefined) return false;
      const min = op === '>' ? at + 1n : op === '>=' || op === '=' ? at : undefined;
      const max = op === '<' ? at - 1n : op === '<=' || op === '=' ? at : undefined;
      if (min !== undefined && min > conditions.minTimeNs) conditions.minTimeNs = min;
      if (max !== undefined && max < conditions.maxTimeNs) conditions.maxTimeNs = max;
      return true;
    });
    return true;
  }

  #columnOf(expr: Expr): Column | undefined {
    return 'Identifier' in expr ? this.#table.columns.get(nameOf(expr.Identifier)) : undefined;
  }

  /** Takes the next literal of the text. */
  #textOf(expr: Expr): Text | undefined {
    if (!('Value' in expr)) return undefined;
    const literal = expr.Value.value;
    if (typeof literal !== 'object') return undefined;
    if ('SingleQuotedString' in literal) {
      const place = this.#literalCount++;
      return ({ literals }) => literals[place];
    }
    const name = parameterName(expr);
    if (name === undefined) return undefined;
    return ({ context }) => {
      const value = context.params.get(name);
      return typeof value === 'string' ? value : undefined;
    };
  }

  #timeOf(expr: Expr): Time | undefined {
    if ('Nested' in expr) return this.#timeOf(expr.Nested);
    if (isNow(expr)) return ({ context }) => context.nowNs;
    if ('BinaryOp' in expr) {
      const { left, op, right } = expr.BinaryOp;
      const distance = widthOf(right);
      if (!isNow(left) || distance === undefined) return undefined;
      if (op === 'Plus') return ({ context }) => context.nowNs + distance;
      return op === 'Minus' ? ({ context }) => context.nowNs - distance : undefined;
    }
    const text = this.#textOf(expr);
    return (
      text &&
      ((values) => {
        const found = text(values);
        return found === undefined ? undefined : parseTimestamp(found);
      })
    );
  }
}

function isNow(expr: Expr): boolean {
  if (!('Function' in expr)) return false;
  const { name, args, over, filter } = expr.Function;
  return (
    namesOf(name).join('.') === 'now' &&
    over === undefined &&
    filter === undefined &&
    typeof args === 'object' &&
    'List' in args &&
    args.List.args.length === 0
  );
}

/** Nanoseconds of an interval that is the same length at all times. */
export function widthOf(expr: Expr): bigint | undefined {
  if (!('Interval' in expr) || expr.Interval.leading_field !== undefined) return undefined;
  const { value } = expr.Interval;
  const literal = 'Value' in value ? value.Value.value : undefined;
  const text = typeof literal === 'object' ? literal['SingleQuotedString'] : undefined;
  if (typeof text !== 'string') return undefined;
  const { months, days, nanos } = parseInterval(text);
  return months === 0 ? BigInt(days) * NS_PER_DAY + nanos : undefined;
}

type NumberValue = (values: LiteralValues) => number | undefined;

/** A number that a double holds exactly. */
function numberOf(expr: Expr): NumberValue | undefined {
  if ('Nested' in expr) return numberOf(expr.Nested);
  if ('UnaryOp' in expr && expr.UnaryOp.op === 'Minus') {
    const number = numberOf(expr.UnaryOp.expr);
    return number && ((values) => negated(number(values)));
  }
  const name = parameterName(expr);
  if (name !== undefined) return ({ context }) => exactNumber(context.params.get(name));
  if (!('Value' in expr) || typeof expr.Value.value !== 'object') return undefined;
  const literal = expr.Value.value['Number'];
  if (!Array.isArray(literal)) return undefined;
  const digits = String(literal[0]);
  const value = exactNumber(/^\d+$/.test(digits) ? BigInt(digits) : Number(digits));
  return value === undefined ? undefined : () => value;
}

function negated(value: number | undefined): number | undefined {
  return value === undefined ? undefined : -value;
}

function exactNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'bigint') return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : undefined;
}

function parameterName(expr: Expr): string | undefined {
  if (!('Value' in expr) || typeof expr.Value.value !== 'object') return undefined;
  const marker = expr.Value.value['Placeholder'];
  return typeof marker === 'string' && marker.startsWith('$') ? marker.slice(1) : undefined;
}
