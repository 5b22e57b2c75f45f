import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { ParameterValue, ScannedTable } from '@plinth/tsdb-model/query/planned-query.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { convert } from '../../bind/expr/convert.js';
import { fieldsOf } from '../../bind/expr/fields.js';
import { Scope } from '../../bind/scope.js';
import type { BoundQuery, Env, QueryEnv } from '../../bind/session.js';
import { type Bound, constantExpr, INT64, NULL } from '../../bind/types/bound.js';
import { timeSteps } from '../../functions/lists/time-steps.js';
import type { Expr, FunctionArg, TableAlias } from '../../parse/ast.js';
import { unverified } from '../../plan-tree.js';
import { virtualTableQuery } from './virtual-tables.js';

/** Binds `generate_series(1, 10)`, `range(…)` and the functions that read caches. */
export function bindTableFunction(
  name: string,
  args: readonly FunctionArg[],
  around: QueryEnv,
  before: Scope | undefined,
): BoundQuery | ScannedTable {
  const env = argEnv(around, before);
  const bound = args.map((arg) => {
    const value = 'Unnamed' in arg ? arg.Unnamed : arg.Named.arg;
    if (typeof value === 'object' && 'Expr' in value)
      return around.session.bindExpr(value.Expr, env);
    throw tsdbError('not_implemented', 'wildcards as table function arguments');
  });
  if (name === 'generate_series' || name === 'range') return bindSeries(name, bound);
  const values = bound.map((arg) => argumentValue(arg));
  const table = around.session.context.virtualTables.tableFunction(name, values);
  if (table !== undefined)
    return 'source' in table ? table : virtualTableQuery(table, around.session.spend);
  throw tsdbError('plan_error', `Error during planning: table function '${name}' not found`);
}

/**
 * Returns the value of an argument for a cache function; values that are not parameter types are
 * passed as text.
 */
function argumentValue(arg: Bound): ParameterValue {
  const value = arg.constant?.value;
  if (value === undefined) {
    throw tsdbError(
      'plan_error',
      'Error during planning: arguments of a table function must be literals',
    );
  }
  return typeof value === 'object' && value !== null ? arg.displayName : value;
}

function bindSeries(name: string, args: readonly Bound[]): BoundQuery {
  const series = args.some(({ type }) => type.kind === 'date' || type.kind === 'timestamp')
    ? seriesOfTimes(name, args)
    : seriesOfIntegers(name, args);
  const { text, type } = series;
  return {
    text,
    tree: unverified(`function ${name}`),
    columns: [
      { name: 'value', qualifier: undefined, type, tableColumnKind: undefined, duckDbName: 'c0' },
    ],
    tableName: undefined,
  };
}

interface Series {
  readonly text: string;
  readonly type: SqlType;
}

function seriesOfIntegers(name: string, args: readonly Bound[]): Series {
  if (
    args.length < 1 ||
    args.length > 3 ||
    args.some((arg) => !['int', 'null'].includes(arg.type.kind))
  ) {
    throw tsdbError(
      'plan_error',
      `Error during planning: ${name} function requires 1 to 3 integers, ` +
        'or two dates or timestamps and an interval',
    );
  }
  const texts = args.map((arg) => convert(arg, INT64).text);
  // DuckDB's table function streams its rows; a list would be allocated completely, outside the
  // memory limit.
  const isStreamable = args.every((arg) => typeof arg.constant?.value === 'bigint');
  const series = `${name}(${texts.join(', ')})`;
  return {
    text: isStreamable
      ? `SELECT c0 FROM ${series} AS series(c0)`
      : `SELECT unnest(${series}) AS c0`,
    type: INT64,
  };
}

/** Dates are timestamps at midnight. Source: DataFusion, table function "generate_series". */
function seriesOfTimes(name: string, args: readonly Bound[]): Series {
  const refusal = (text: string) =>
    tsdbError('plan_error', `Error during planning: ${name} function ${text}`);
  const [from, to, step] = args;
  if (args.length !== 3 || from === undefined || to === undefined || step === undefined)
    throw refusal('with dates or timestamps requires exactly 3 arguments');
  if (args.some((arg) => arg.constant === undefined)) throw refusal('requires constant arguments');
  const areTimes = [from, to].every(({ type }) =>
    ['date', 'timestamp', 'null'].includes(type.kind),
  );
  if (!areTimes || (step.type.kind !== 'interval' && step.type.kind !== 'null'))
    throw refusal('requires two dates or timestamps and an interval');
  const timed = [from, to].find((end) => end.type.kind === 'timestamp');
  const zone = timed?.type.kind === 'timestamp' ? timed.type.zone : undefined;
  const type = { kind: 'timestamp', unit: 'ns', zone } as const;
  const interval = step.constant?.value;
  const ends = [from, to].map((end) => (end.type.kind === 'timestamp' ? end : convert(end, type)));
  if (typeof interval !== 'object' || interval === null || args.some(isAbsent))
    return {
      text: `SELECT ${convert(constantExpr(null, NULL, ''), type).text} AS c0 WHERE false`,
      type,
    };
  const [startNs = '', endNs = ''] = ends.map(({ text }) => `epoch_ns(${text})`);
  const steps = timeSteps({ name, startNs, endNs, step: interval, type });
  const source = `${name}(${steps.args.join(', ')}) AS series(c0)`;
  return { text: `SELECT ${steps.item('c0')} AS c0 FROM ${source}`, type };
}

const isAbsent = ({ constant }: Bound): boolean => constant?.value === null;

export function bindUnnest(
  node: { readonly array_exprs: readonly Expr[]; readonly alias?: TableAlias },
  around: QueryEnv,
  before: Scope | undefined,
): BoundQuery {
  const env = argEnv(around, before);
  const values = node.array_exprs.map((expr) => around.session.bindExpr(expr, env));
  const unnested = values.flatMap(unnestedColumns);
  around.session.spend(unnested.length);
  const columns = unnested.map(({ name, type }, index) => ({
    name,
    qualifier: undefined,
    type,
    tableColumnKind: undefined,
    duckDbName: `c${index}`,
  }));
  const items = unnested.map(({ text }, index) => `${text} AS c${index}`);
  const tree = unverified('function unnest');
  return { text: `SELECT ${items.join(', ')}`, tree, columns, tableName: undefined };
}

/** Unnests a list to rows and a struct to columns. */
function unnestedColumns(
  value: Bound,
): readonly { readonly name: string; readonly type: SqlType; readonly text: string }[] {
  const fields = fieldsOf(value);
  if (fields !== undefined)
    return fields.map(({ name, value: { type, text } }) => ({ name, type, text }));
  if (value.type.kind !== 'list') {
    throw tsdbError(
      'plan_error',
      'Error during planning: unnest() can only be applied to array, struct and null',
    );
  }
  const { displayName, text, type } = value;
  return [{ name: `UNNEST(${displayName})`, type: type.element, text: `unnest(${text})` }];
}

function argEnv(around: QueryEnv, before: Scope | undefined): Env {
  return {
    ...around,
    scope: before ?? new Scope({ relations: [], visible: [], parent: around.outer }),
    windows: new Map(),
    noAggregate: 'Aggregate functions are not allowed in a table function',
    noWindow: 'Window functions are not allowed in a table function',
  };
}
