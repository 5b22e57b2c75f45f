import type { Chance } from '../../harness/index.js';

/** Picks an odd value in 5 % of the cases; most odd values make a statement invalid. */
export const pickUsual = (
  chance: Chance,
  usual: readonly string[],
  odd: readonly string[],
): string => chance.pick(chance.happens(0.05) ? odd : usual);

const FIELDS = [
  ...['v', 'v', 'i', 'i', 'u', 's', 'b', 'h', '"user"', 'nope', '"v"', 'v::float', 'i::string'],
  ...['s::integer', 'h::tag', 'b::field', 'u::unsigned'],
];
const NUMBERS = ['0', '1', '2.5', '0.0', '100', '9223372036854775807', '18446744073709551615'];
const ODD_NUMBERS = ['-1', '1e3', '-9223372036854775808', '18446744073709551616'];
const AGGREGATES = [
  ...['count', 'distinct', 'integral', 'mean', 'median', 'mode', 'spread', 'stddev', 'sum'],
  ...['first', 'last', 'min', 'max'],
];
const TRANSFORMATIONS = [
  ...['derivative', 'non_negative_derivative', 'difference', 'non_negative_difference', 'elapsed'],
  'cumulative_sum',
];
const SCALARS = [
  ...['abs', 'acos', 'asin', 'atan', 'ceil', 'cos', 'exp', 'floor', 'ln', 'log2', 'log10', 'round'],
  ...['sin', 'sqrt', 'tan'],
];
const ANALYSES = [
  ...['exponential_moving_average', 'double_exponential_moving_average'],
  ...['triple_exponential_moving_average', 'triple_exponential_derivative'],
  ...['relative_strength_index', 'kaufmans_efficiency_ratio', 'kaufmans_adaptive_moving_average'],
  'chande_momentum_oscillator',
];
const UNITS = ['1s', '1ns', '1h', '1000w'];
const ODD_UNITS = ['0s', '-1h', '1.5h', '1mo', '1000000w'];
const SPECIAL = ['*', '*::tag', '*::field', '/v|i/'];
const ODD_SPECIAL = ['time', "'x'", '1', 'true', '1h', '$p', 'foo(v)', "date_part('x', time)"];
const TIMES = [
  ...['0', '5', '1s', 'now()', 'now() - 1h', "'1970-01-01'", "'1970-01-01T00:00:00Z'"],
  '9223372036854775807',
];
const ODD_TIMES = ['1.5', 'v', "'x'", 'now() + 1000000w'];
const VALUES = [...NUMBERS, "'a'", "''", "'x'", 'true', 'v', 'i + 1', '$p'];
const ODD_VALUES = [...ODD_NUMBERS, '1h', 'abs(v)'];
const PATTERNS = ['/a/', '/^$/', '/(a|b)+/', '/(?i)A/'];
const ODD_PATTERNS = ['/(/', '/[a-/', '/\\d{1000}/', '/(?=a)/'];

export class InfluxqlExpressions {
  readonly #chance: Chance;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  /** Returns one SELECT item, with calls nested at most `depth` levels. */
  column(depth: number): string {
    const chance = this.#chance;
    if (depth <= 0 || chance.happens(0.3)) return chance.pick(FIELDS);
    return chance.pick([...this.#aggregations(depth), ...this.#calculations(depth)])();
  }

  condition(depth: number): string {
    const chance = this.#chance;
    if (depth <= 0 || chance.happens(0.5)) return this.#comparison();
    const inner = (): string => this.condition(depth - 1);
    return chance.pick([
      () => `${inner()} AND ${inner()}`,
      () => `${inner()} OR ${inner()}`,
      () => `(${inner()})`,
      () => 'true',
    ])();
  }

  #aggregations(depth: number): readonly (() => string)[] {
    const chance = this.#chance;
    const inner = (): string => this.column(depth - 2);
    const field = (): string => chance.pick(FIELDS);
    const wild = ['*', '/./', '*::field', '*::tag', 'distinct(v)'];
    return [
      () => `${chance.pick(AGGREGATES)}(${inner()})`,
      () => `${chance.pick(AGGREGATES)}(${chance.happens(0.2) ? chance.pick(wild) : inner()})`,
      () =>
        `percentile(${inner()}, ${pickUsual(chance, ['50', '0', '100'], ['101', '-1', 'v', "'x'"])})`,
      () => {
        const tag = chance.happens(0.3) ? 'h, ' : '';
        const count = pickUsual(chance, ['1', '2', '1000000'], ['0', '-1']);
        return `${chance.pick(['top', 'bottom'])}(${field()}, ${tag}${count})`;
      },
      () => `sample(${field()}, ${pickUsual(chance, ['1', '2'], ['0', '-1'])})`,
    ];
  }

  #calculations(depth: number): readonly (() => string)[] {
    const chance = this.#chance;
    const inner = (): string => this.column(depth - 1);
    const unit = (): string =>
      chance.happens(0.4) ? `, ${pickUsual(chance, UNITS, ODD_UNITS)}` : '';
    const operators = ['+', '-', '*', '/', '%', '&', '|', '^'];
    return [
      () => `${chance.pick(TRANSFORMATIONS)}(${inner()}${unit()})`,
      () => `moving_average(${inner()}, ${pickUsual(chance, ['2', '3', '100'], ['1', '0', '-1'])})`,
      () => `${chance.pick(SCALARS)}(${inner()})`,
      () =>
        `${chance.pick(['pow', 'atan2', 'log'])}(${inner()}, ${pickUsual(chance, [...NUMBERS, 'v'], ODD_NUMBERS)})`,
      () => {
        const name = chance.pick(['holt_winters', 'holt_winters_with_fit']);
        return `${name}(${inner()}, ${chance.between(0, 5)}, ${chance.between(-1, 4)})`;
      },
      () => {
        const hold = chance.happens(0.3) ? `, ${chance.between(-1, 5)}` : '';
        const warmup = chance.happens(0.2) ? ", 'simple'" : '';
        return `${chance.pick(ANALYSES)}(${inner()}, ${chance.between(1, 5)}${hold}${warmup})`;
      },
      () =>
        `${inner()} ${chance.pick(operators)} ${chance.happens(0.5) ? pickUsual(chance, NUMBERS, ODD_NUMBERS) : inner()}`,
      () => `(${inner()})`,
      () => `-${inner()}`,
      () => `date_part('${chance.pick(['year', 'dow'])}', time)`,
      () => pickUsual(chance, SPECIAL, ODD_SPECIAL),
    ];
  }

  #comparison(): string {
    const chance = this.#chance;
    const comparison = chance.pick(['=', '!=', '<>', '<', '<=', '>', '>=']);
    return chance.pick([
      () => `time ${chance.pick(['>', '>=', '<', '<='])} ${pickUsual(chance, TIMES, ODD_TIMES)}`,
      () => `${chance.pick(FIELDS)} ${comparison} ${pickUsual(chance, VALUES, ODD_VALUES)}`,
      () =>
        `${chance.pick(FIELDS)} ${chance.pick(['=~', '!~'])} ${pickUsual(chance, PATTERNS, ODD_PATTERNS)}`,
      () =>
        `${chance.pick(FIELDS)} ${chance.pick(['+', '-', '*', '/', '%', '&'])} ${pickUsual(chance, NUMBERS, ODD_NUMBERS)} > ${pickUsual(chance, NUMBERS, ODD_NUMBERS)}`,
    ])();
  }
}
