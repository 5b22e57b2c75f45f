import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { type Call, type Expr, isLiteral } from '../../ast/expressions.js';
import type { Field } from '../../ast/select.js';
import { AGGREGATES } from '../../functions/aggregates.js';
import { isTime } from '../compile/column-names.js';
import type { DataType } from '../data-type.js';
import { FORECASTS, SCALARS, TECHNICAL, takesType } from '../functions.js';
import { planFailure } from '../plan-failure.js';
import {
  checkCount,
  checkCountBetween,
  checkDatePart,
  checkForecastArguments,
  checkTechnicalArguments,
  checkUnit,
  describe,
} from './check-arguments.js';

/** Properties of a statement other than its fields. */
export interface FieldContext {
  readonly hasInterval: boolean;
  readonly isIntervalInherited: boolean;
  readonly fill: 'none' | 'linear' | 'other';
  readonly limit: number | undefined;
  readonly isWrite: boolean;
  readonly typeOf: (expr: Expr) => DataType;
}

/** Results that the checks collect. */
interface Findings {
  calls: number;
  hasColumns: boolean;
  onlySelectors: boolean;
  hasDistinct: boolean;
  topBottom: string | undefined;
}

/**
 * Checks the calls and their combinations, in the order that InfluxDB checks them. Wildcards in
 * `fields` must be expanded.
 * Source: query-languages, "Argument errors", "Selectors", "More error messages".
 */
export function validateFields(fields: readonly Field[], context: FieldContext): void {
  const found: Findings = {
    calls: 0,
    hasColumns: false,
    onlySelectors: true,
    hasDistinct: false,
    topBottom: undefined,
  };
  const checker = new Checker(context, found);
  for (const { expr } of fields) if (!isTime(expr)) checker.check(expr);
  if (found.calls > 1 && found.topBottom !== undefined) {
    throw planFailure(`selector functions top and bottom cannot be combined with other functions`);
  }
  if (found.calls === 0) {
    if (context.fill === 'none') {
      throw planFailure('FILL(none) must be used with an aggregate or selector function');
    }
    if (context.fill === 'linear') {
      throw planFailure('FILL(linear) must be used with an aggregate or selector function');
    }
    if (context.hasInterval && !context.isIntervalInherited) {
      throw planFailure('GROUP BY requires at least one aggregate function');
    }
  }
  if (found.hasDistinct && (found.calls !== 1 || found.hasColumns)) {
    throw planFailure(
      'aggregate function distinct() cannot be combined with other functions or fields',
    );
  }
  if (!found.hasColumns) return;
  if (!found.onlySelectors) {
    throw planFailure('mixing aggregate and non-aggregate columns is not supported');
  }
  if (found.calls > 1) {
    throw planFailure('mixing multiple selector functions with tags or fields is not supported');
  }
}

class Checker {
  readonly #context: FieldContext;
  readonly #found: Findings;

  constructor(context: FieldContext, found: Findings) {
    this.#context = context;
    this.#found = found;
  }

  check(expr: Expr): void {
    switch (expr.kind) {
      case 'var_ref':
      case 'wildcard':
      case 'regex':
        this.#found.hasColumns = true;
        return;
      case 'call':
        this.#checkCall(expr);
        return;
      case 'distinct':
        this.#found.calls++;
        this.#checkDistinct([{ kind: 'var_ref', name: expr.column }], false);
        return;
      case 'paren':
        this.check(expr.inner);
        return;
      case 'binary':
        if (isLiteral(expr.left) && isLiteral(expr.right)) {
          throw planFailure('cannot perform a binary expression on two literals');
        }
        if (!isLiteral(expr.left)) this.check(expr.left);
        if (!isLiteral(expr.right)) this.check(expr.right);
        return;
      default:
        throw planFailure('field must contain at least one variable');
    }
  }

  #checkCall(call: Call): void {
    const { name, args } = call;
    const scalarArgs = SCALARS.get(name);
    if (scalarArgs !== undefined) {
      this.#checkScalar(call, scalarArgs);
      return;
    }
    this.#found.calls++;
    if (TECHNICAL.has(name)) {
      this.#checkTechnical(call);
      return;
    }
    if (FORECASTS.has(name)) {
      this.#checkForecast(call);
      return;
    }
    switch (name) {
      case 'percentile':
        checkCount(call, 2);
        if (args[1]?.kind !== 'integer' && args[1]?.kind !== 'number') {
          throw planFailure(`expected number for percentile(), got ${describe(args[1])}`);
        }
        this.#symbol(name, args[0]);
        return;
      case 'sample':
        checkCount(call, 2);
        if (args[1]?.kind !== 'integer') throw planFailure('expected integer argument in sample()');
        if (args[1].value <= 0n) {
          throw planFailure(`sample window must be greater than 1, got ${args[1].value}`);
        }
        this.#symbol(name, args[0]);
        return;
      case 'distinct':
        this.#checkDistinct(args, false);
        return;
      case 'top':
      case 'bottom':
        this.#checkTopBottom(call);
        return;
      case 'derivative':
      case 'non_negative_derivative':
      case 'elapsed':
        checkCountBetween(call, 1, 2);
        checkUnit(call);
        this.#nested(call);
        return;
      case 'difference':
      case 'non_negative_difference':
      case 'cumulative_sum':
        checkCount(call, 1);
        this.#nested(call);
        return;
      case 'moving_average':
        checkCount(call, 2);
        if (args[1]?.kind !== 'integer') {
          throw planFailure('expected integer argument in moving_average()');
        }
        if (args[1].value <= 1n) {
          throw planFailure(`moving_average window must be greater than 1, got ${args[1].value}`);
        }
        this.#nested(call);
        return;
      case 'integral':
        checkCountBetween(call, 1, 2);
        checkUnit(call);
        this.#found.onlySelectors = false;
        this.#symbol(name, args[0]);
        return;
      default:
        this.#checkPlain(call);
    }
  }

  #checkScalar(call: Call, argCount: number): void {
    if (call.args.length !== argCount) {
      throw planFailure(
        `invalid number of arguments for ${call.name}, expected ${argCount}, got ${call.args.length}`,
      );
    }
    if (call.name === 'date_part') {
      checkDatePart(call);
      return;
    }
    for (const arg of call.args) if (!isLiteral(arg)) this.check(arg);
  }

  #checkPlain(call: Call): void {
    const { name, args } = call;
    const aggregate = AGGREGATES.get(name);
    if (aggregate === undefined) throw planFailure(`unsupported function ${name}()`);
    if (aggregate.pick === undefined) this.#found.onlySelectors = false;
    checkCount(call, 1);
    const [argument] = args;
    if (name === 'count' && argument?.kind === 'call' && argument.name === 'distinct') {
      this.#checkDistinct(argument.args, true);
    } else if (name === 'count' && argument?.kind === 'distinct') {
      this.#found.onlySelectors = false;
    } else this.#symbol(name, argument);
  }

  #checkDistinct(args: readonly Expr[], isNested: boolean): void {
    if (args.length === 0) throw planFailure('distinct function requires at least one argument');
    if (args.length !== 1) throw planFailure('distinct function can only have one argument');
    if (args[0]?.kind !== 'var_ref') throw planFailure('expected field argument in distinct()');
    if (!isNested) this.#found.hasDistinct = true;
    this.#found.onlySelectors = false;
  }

  #checkTopBottom(call: Call): void {
    const { name, args } = call;
    if (this.#found.topBottom !== undefined) {
      throw planFailure(
        `selector functions top and bottom cannot be combined with other functions`,
      );
    }
    if (args.length < 2) {
      throw planFailure(
        `invalid number of arguments for ${name}, expected at least 2, got ${args.length}`,
      );
    }
    const limit = args.at(-1);
    if (limit?.kind !== 'integer') {
      throw planFailure(`expected integer as last argument for ${name}, got ${describe(limit)}`);
    }
    if (limit.value <= 0n)
      throw planFailure(`limit (${limit.value}) for ${name} must be greater than 0`);
    const { limit: rows = 0 } = this.#context;
    if (rows > 0 && limit.value > BigInt(rows)) {
      throw tsdbError(
        'plan_error',
        `limit (${limit.value}) in ${name} function can not be larger than the LIMIT (${rows}) in the select statement`,
      );
    }
    if (args[0]?.kind !== 'var_ref') {
      throw planFailure(`expected first argument to be a field for ${name}`);
    }
    this.#symbol(name, args[0]);
    for (const arg of args.slice(1, -1)) {
      if (arg.kind !== 'var_ref') {
        throw planFailure(`only fields or tags are allow for ${name}(), got ${describe(arg)}`);
      }
      if (!this.#context.isWrite) this.#found.hasColumns = true;
    }
    this.#found.topBottom = name;
  }

  #checkTechnical(call: Call): void {
    checkTechnicalArguments(call);
    this.#nested(call);
  }

  #checkForecast(call: Call): void {
    const { name, args } = call;
    const [argument] = args;
    checkForecastArguments(call);
    this.#found.onlySelectors = false;
    if (argument?.kind !== 'call') throw planFailure(`must use aggregate function with ${name}`);
    if (!this.#context.hasInterval) {
      throw planFailure(`${name} aggregate requires a GROUP BY interval`);
    }
    this.#nestedCall(argument);
  }

  /**
   * With GROUP BY time, the argument of a transformation must be a call; otherwise it must be a
   * column.
   */
  #nested({ name, args }: Call): void {
    this.#found.onlySelectors = false;
    const [argument] = args;
    const isCall = argument?.kind === 'call' || argument?.kind === 'distinct';
    if (isCall) {
      if (!this.#context.hasInterval) {
        throw planFailure(`${name} aggregate requires a GROUP BY interval`);
      }
      this.#nestedCall(argument);
      return;
    }
    if (this.#context.hasInterval && !this.#context.isIntervalInherited) {
      throw planFailure(`aggregate function required inside the call to ${name}`);
    }
    this.#symbol(name, argument);
  }

  #nestedCall(argument: Expr): void {
    if (argument.kind === 'distinct') return;
    if (argument.kind !== 'call') return;
    if (argument.name === 'distinct') this.#checkDistinct(argument.args, true);
    else {
      const before = this.#found.calls;
      this.check(argument);
      // An inner call does not count as a column.
      this.#found.calls = before;
    }
  }

  #symbol(name: string, argument: Expr | undefined): void {
    if (argument?.kind !== 'var_ref') {
      throw planFailure(`expected field argument in ${name}(), got ${describe(argument)}`);
    }
    const type = this.#context.typeOf(argument);
    if (type === 'time') throw planFailure(`expected field argument in ${name}(), got time`);
    if ((type === 'string' || type === 'boolean') && !takesType(name, type)) {
      throw planFailure(`unsupported ${name} iterator type: ${type}`);
    }
  }
}
