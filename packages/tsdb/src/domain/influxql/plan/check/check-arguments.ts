import type { Call, Expr } from '../../ast/expressions.js';
import { printDuration, printExpr } from '../../ast/print.js';
import { planFailure } from '../plan-failure.js';

// What is checked of a call by itself, whatever stands around it. Source: query-languages, "Argument errors".

/** Values that a forecast may add, and buckets of a season: the search holds a table of the square of these. */
const MAX_FORECAST = 1_000_000n;
const MAX_SEASON = 2048n;

export function checkCount({ name, args }: Call, expected: number): void {
  if (args.length === expected) return;
  throw planFailure(
    `invalid number of arguments for ${name}, expected ${expected}, got ${args.length}`,
  );
}

export function checkCountBetween({ name, args }: Call, min: number, max: number): void {
  if (args.length >= min && args.length <= max) return;
  throw planFailure(
    `invalid number of arguments for ${name}, expected at least ${min} but no more than ${max}, got ${args.length}`,
  );
}

/** The second argument of derivative, elapsed and integral. */
export function checkUnit({ name, args }: Call): void {
  const unit = args[1];
  if (unit === undefined) return;
  if (unit.kind !== 'duration') {
    throw planFailure(`argument 2 to ${name} must be a duration, got ${describe(unit)}`);
  }
  if (unit.ns > 0n) return;
  throw planFailure(`duration argument must be positive, got ${printDuration(unit.ns)}`);
}

/** Period, hold period and warm-up of a technical analysis. */
export function checkTechnicalArguments(call: Call): void {
  const { name, args } = call;
  const hasWarmUpArgs =
    name === 'kaufmans_efficiency_ratio' || name === 'kaufmans_adaptive_moving_average' ? 3 : 4;
  checkCountBetween(call, 2, hasWarmUpArgs);
  const [, period, hold, warmUp] = args;
  if (period?.kind !== 'integer') throw planFailure(`${name} period must be an integer`);
  if (period.value < 1n) {
    throw planFailure(`${name} period must be greater than 1, got ${period.value}`);
  }
  if (hold !== undefined) {
    if (hold.kind !== 'integer') throw planFailure(`${name} hold period must be an integer`);
    if (hold.value < 0n && hold.value !== -1n) {
      throw planFailure(`${name} hold period must be greater than or equal to 0`);
    }
  }
  if (warmUp !== undefined) {
    const names =
      name === 'chande_momentum_oscillator'
        ? ['none', 'exponential', 'simple']
        : ['exponential', 'simple'];
    if (warmUp.kind !== 'string' || !names.includes(warmUp.value)) {
      throw planFailure(
        `${name} warmup type must be one of: ${names.map((n) => `'${n}'`).join(' ')}`,
      );
    }
  }
}

/** How much a forecast adds, and the length of its season. */
export function checkForecastArguments(call: Call): void {
  const { name, args } = call;
  checkCount(call, 3);
  const [, count, season] = args;
  if (count?.kind !== 'integer')
    throw planFailure(`expected integer argument as second arg in ${name}`);
  if (count.value <= 0n) {
    throw planFailure(`second arg to ${name} must be greater than 0, got ${count.value}`);
  }
  if (season?.kind !== 'integer')
    throw planFailure(`expected integer argument as third arg in ${name}`);
  if (season.value < 0n) {
    throw planFailure(`third arg to ${name} cannot be negative, got ${season.value}`);
  }
  if (count.value > MAX_FORECAST) {
    throw planFailure(`second arg to ${name} must not be greater than ${MAX_FORECAST}`);
  }
  if (season.value > MAX_SEASON) {
    throw planFailure(`third arg to ${name} must not be greater than ${MAX_SEASON}`);
  }
}

const PARTS =
  'year quarter month week day hour minute second millisecond microsecond nanosecond dow doy epoch isodow'.split(
    ' ',
  );

/** Source: query-languages, "Scalar functions". */
export function checkDatePart({ args }: Call): void {
  const [part, time] = args;
  if (part?.kind !== 'string' || !PARTS.includes(part.value.toLowerCase())) {
    throw planFailure(`date_part: first argument must be one of: ${PARTS.join(', ')}`);
  }
  if (time?.kind !== 'var_ref' || time.name.toLowerCase() !== 'time') {
    throw planFailure('date_part: second argument must be time');
  }
}

/** An argument as messages show it. */
export function describe(expr: Expr | undefined): string {
  return expr === undefined ? 'nothing' : printExpr(expr);
}
