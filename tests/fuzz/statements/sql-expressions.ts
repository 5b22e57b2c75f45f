import type { Chance } from '../../harness/index.js';
import {
  AGGREGATES,
  ANY_RESULT,
  type ArgumentType,
  FUNCTIONS,
  type Signature,
} from './sql-functions.js';
import { ARROW_TYPES, CAST_TYPES, COLUMNS, LITERALS, type SqlType, TYPES } from './sql-literals.js';

type Make = () => string;

const COMPARISONS = ['=', '<>', '<', '<=', '>', '>=', 'IS DISTINCT FROM', 'IS NOT DISTINCT FROM'];
const LIKES = ['LIKE', 'ILIKE', 'NOT LIKE', 'SIMILAR TO', '~', '~*', '!~', '!~*', '~~', '!~~*'];
const QUANTIFIED = ['> ALL', '= ALL', '<> ALL', '< ANY', '<> ANY', '= ANY'];
/** Share of operands with the wanted type; most operands of other types are refused. */
const FITTING_SHARE = 0.95;

/** Generates expressions over the columns of `columns`. */
export class SqlExpressions {
  readonly #chance: Chance;
  columns = COLUMNS;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  any(depth: number): string {
    return this.of(this.#chance.pick(TYPES), depth);
  }

  /** Returns an expression of the wanted type, nested at most `depth` levels. */
  of(wanted: SqlType, depth: number): string {
    const chance = this.#chance;
    const type = chance.happens(FITTING_SHARE) ? wanted : chance.pick(TYPES);
    if (depth <= 0 || chance.happens(0.25)) return this.#leaf(type);
    const inner = (other: SqlType): string => this.of(other, depth - 1);
    const call = (signatures: readonly Signature[]) => () =>
      this.call(chance.pick(signatures), depth, type);
    const functions = FUNCTIONS[type];
    return chance.pick([
      ...(functions === undefined ? [] : Array.from({ length: 5 }, () => call(functions))),
      call(ANY_RESULT),
      ...this.#ofType(type, inner),
      ...this.#ofAnyType(type, inner, () => this.any(depth - 1)),
    ])();
  }

  /** @param type type of the arguments declared as `same`. */
  call({ name, args }: Signature, depth: number, type: SqlType = 'float'): string {
    if (args === '*') return `${name}(*)`;
    const made = args.map((arg) => this.#argument(arg === 'same' ? type : arg, depth - 1));
    return `${name}(${made.join(', ')})`;
  }

  aggregate(depth: number): string {
    const chance = this.#chance;
    const plain = this.call(chance.pick(AGGREGATES), depth);
    const isDistinct = chance.happens(0.1) && !plain.endsWith('(*)');
    const call = isDistinct ? plain.replace('(', '(DISTINCT ') : plain;
    const takesOrder = /^(?:array_agg|string_agg|first_value|last_value|nth_value)/.test(call);
    const order = takesOrder && chance.happens(0.2) ? ` ORDER BY ${this.any(1)})` : ')';
    const filter = chance.happens(0.1) ? ` FILTER (WHERE ${this.of('boolean', 1)})` : '';
    return `${call.slice(0, -1)}${order}${filter}`;
  }

  #leaf(type: SqlType): string {
    const columns = this.columns[type];
    const isColumn = columns.length > 0 && this.#chance.happens(0.6);
    return this.#chance.pick(isColumn ? columns : LITERALS[type]);
  }

  #argument(type: Exclude<ArgumentType, 'same'>, depth: number): string {
    const chance = this.#chance;
    if (type === 'any') return this.any(depth);
    if (type === 'percentile') return chance.pick(['0.5', '0', '1', '2', '-1', 'NULL', "'x'"]);
    if (type !== 'count') return this.of(type, depth);
    return chance.happens(0.9) ? String(chance.between(-2, 12)) : this.#leaf('integer');
  }

  /** Expressions without a function name. */
  #ofType(type: SqlType, inner: (type: SqlType) => string): readonly Make[] {
    const { pick } = this.#picker;
    switch (type) {
      case 'boolean':
        return this.#conditions(inner);
      case 'integer':
        return this.#wholeNumbers(inner);
      case 'float':
      case 'decimal':
        return [
          () => `(${inner(type)} ${pick(['+', '-', '*', '/', '%'])} ${inner(type)})`,
          () => `(${inner(type)} ${pick(['+', '-', '*', '/', '%'])} ${inner('integer')})`,
          () => `(-${inner(type)})`,
        ];
      case 'text':
        return this.#texts(inner);
      case 'list':
        return [
          () => `(${inner('list')})[${pick(['-2', '1', '2', ''])}:${pick(['-1', '2', '3', ''])}]`,
          () => `(${inner('list')} || ${inner('list')})`,
        ];
      default:
        return this.#calendar(type, inner);
    }
  }

  #ofAnyType(type: SqlType, inner: (type: SqlType) => string, any: Make): readonly Make[] {
    const { pick, happens, between } = this.#picker;
    const casts = CAST_TYPES[type];
    const arrowTypes = ARROW_TYPES[type];
    return [
      ...casts.flatMap((to) => [() => `${any()}::${to}`, () => `TRY_CAST(${any()} AS ${to})`]),
      ...arrowTypes.map((to) => () => `arrow_cast(${any()}, '${to}')`),
      () => `(${inner('list')})[${inner('integer')}]`,
      () => `(${inner('struct')})['${pick(['a', 'c0', 'x', 'value'])}']`,
      () => `(${inner('map')})['a']`,
      () => `(SELECT ${pick(['max', 'min', 'first_value'])}(${inner(type)}) FROM m)`,
      () => `(SELECT ${inner(type)} FROM m LIMIT ${between(0, 2)})`,
      () => {
        const subject = happens(0.3)
          ? `${inner(type)} WHEN ${inner(type)}`
          : ` WHEN ${inner('boolean')}`;
        return `CASE ${subject} THEN ${inner(type)}${happens(0.7) ? ` ELSE ${inner(type)}` : ''} END`;
      },
      () => `(${inner(type)} ${pick(['+', '-', '*', '/', '%', '||'])} ${any()})`,
    ];
  }

  #conditions(inner: (type: SqlType) => string): readonly Make[] {
    const { pick, oneOf, times } = this.#picker;
    const type = oneOf(...TYPES);
    const other = oneOf(...TYPES);
    return [
      ...[type, oneOf('integer', 'float', 'text', 'time')].map(
        (compared) => () => `(${inner(compared)} ${pick(COMPARISONS)} ${inner(compared)})`,
      ),
      () => `(${inner('text')} ${pick(LIKES)} ${inner('text')})`,
      () => `(${inner('boolean')} ${pick(['AND', 'OR'])} ${inner('boolean')})`,
      () => `(NOT ${inner('boolean')})`,
      () => `(${inner(type)} IS ${pick(['NULL', 'NOT NULL'])})`,
      () => `(${inner('boolean')} IS ${pick(['TRUE', 'NOT FALSE', 'UNKNOWN'])})`,
      () => `(${inner(type)} ${pick(['IN', 'NOT IN'])} (${times(1, 3, () => inner(type))}))`,
      () => `(${inner(type)} BETWEEN ${inner(type)} AND ${inner(type)})`,
      () =>
        `(${inner(type)}, ${inner(other)}) ${pick(['=', '<'])} (${inner(type)}, ${inner(other)})`,
      () => `(${inner(type)}, ${inner(other)}) IN ((${inner(type)}, ${inner(other)}))`,
      () => `EXISTS (SELECT 1 FROM n WHERE n.user = m.user)`,
      () => `(${inner(type)} ${pick(['IN', 'NOT IN'])} (SELECT ${inner(type)} FROM n))`,
      () => `(${inner('integer')} ${pick(QUANTIFIED)} (SELECT x FROM n))`,
      () => `(${inner('integer')} = ANY(${inner('list')}))`,
    ];
  }

  #wholeNumbers(inner: (type: SqlType) => string): readonly Make[] {
    const { pick, oneOf } = this.#picker;
    const operators = ['+', '-', '*', '/', '%', '&', '|', '^', '<<', '>>'];
    const parts = ['year', 'month', 'epoch', 'dow', 'nanosecond', 'foo'];
    return [
      ...[1, 2].map(() => () => `(${inner('integer')} ${pick(operators)} ${inner('integer')})`),
      () => `(-${inner('integer')})`,
      () => `EXTRACT(${pick(parts)} FROM ${inner(oneOf('time', 'date', 'interval'))})`,
      () => `POSITION(${inner('text')} IN ${inner('text')})`,
      () => '(SELECT count(*) FROM m)',
    ];
  }

  #texts(inner: (type: SqlType) => string): readonly Make[] {
    const { pick } = this.#picker;
    const sides = ['BOTH', 'LEADING', 'TRAILING'];
    return [
      () => `(${inner('text')} || ${inner('text')})`,
      () => `SUBSTRING(${inner('text')} FROM ${inner('integer')} FOR ${inner('integer')})`,
      () => `TRIM(${pick(sides)} ${inner('text')} FROM ${inner('text')})`,
      () => `OVERLAY(${inner('text')} PLACING ${inner('text')} FROM ${inner('integer')})`,
    ];
  }

  #calendar(type: SqlType, inner: (type: SqlType) => string): readonly Make[] {
    const { pick } = this.#picker;
    const zone = (): string => pick(["'UTC'", "'Europe/Berlin'", "'x'", inner('text')]);
    const sign = (): string => pick(['+', '-']);
    if (type === 'time')
      return [
        () => `(${inner('time')} ${sign()} ${inner('interval')})`,
        () => `(${inner('time')} ${sign()} ${inner('duration')})`,
        () => `(${inner('date')} ${sign()} ${inner('interval')})`,
        () => `(${inner('time')} AT TIME ZONE ${zone()})`,
      ];
    if (type === 'date') return [() => `(${inner('date')} ${sign()} ${inner('integer')})`];
    if (type === 'duration')
      return [
        () => `(${inner('time')} - ${inner('time')})`,
        () => `(${inner('duration')} ${pick(['+', '-', '*', '/'])} ${inner('duration')})`,
      ];
    if (type !== 'interval') return [];
    return [
      () => `(${inner('interval')} ${sign()} ${inner('interval')})`,
      () => `(${inner('interval')} ${pick(['*', '/'])} ${inner('integer')})`,
      () => `(-${inner('interval')})`,
    ];
  }

  get #picker() {
    const chance = this.#chance;
    return {
      pick: (list: readonly string[]): string => chance.pick(list),
      oneOf: (...types: readonly SqlType[]): SqlType => chance.pick(types),
      happens: (probability: number): boolean => chance.happens(probability),
      between: (from: number, to: number): number => chance.between(from, to),
      times: (from: number, to: number, make: Make): string =>
        Array.from({ length: chance.between(from, to) }, make).join(', '),
    };
  }
}
