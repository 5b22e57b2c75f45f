import type { Call, Expr } from '../../ast/expressions.js';
import { printDuration, printExpr } from '../../ast/print.js';
import { planFailure } from '../plan-failure.js';

// Checks of the arguments of a single call, independent of its context. Source: query-languages,
// "Argument errors".

/**
 * Maximum number of forecast values and of buckets per season. The search uses memory quadratic in
 * the season.
 */
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

/** Checks the second argument of derivative, elapsed and integral. */
export function checkUnit({ name, args }: Call): void {
  const unit = args[1];
  if (unit === undefined) return;
  if (unit.kind !== 'duration') {
    throw planFailure(`argument 2 to ${name} must be a duration, got ${describe(unit)}`);
  }
  if (unit.ns > 0n) return;
  throw planFailure(`duration argument must be positive, got ${printDuration(unit.ns)}`);
}

/** Checks period, hold period and warm-up of a technical-analysis function. */
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

/** Checks the number of forecasts and the season length. */
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

/** Checks the arguments of date_part. Source: query-languages, "Scalar functions". */
export function checkDatePart({ args }: Call): void {
  const [part, time] = args;
  if (part?.kind !== 'string' || !PARTS.includes(part.value.toLowerCase())) {
    throw planFailure(`date_part: first argument must be one of: ${PARTS.join(', ')}`);
  }
  if (time?.kind !== 'var_ref' || time.name.toLowerCase() !== 'time') {
    throw planFailure('date_part: second argument must be time');
  }
}

/** Formats an argument for error messages. */
export function describe(expr: Expr | undefined): string {
  return expr === undefined ? 'nothing' : printExpr(expr);
}
