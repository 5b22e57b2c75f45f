import { assertNever } from '@plinth/kernel';
import { printLookbackHint } from '@plinth/tsdb-model/text/lookback-hint.js';
import { KEYWORDS } from '../parse/token.js';
import type { Expr } from './expressions.js';
import type { Dimension, Fill, Measurement, SelectStatement, Source } from './select.js';
import type {
  CreateContinuousQuery,
  PolicyOptions,
  ShowClauses,
  Statement,
  TagKeyFilter,
} from './statements.js';

/** Returns text that parses to the same statement. */
export function printStatement(statement: Statement): string {
  switch (statement.kind) {
    case 'select':
      return printSelect(statement);
    case 'explain':
      return `EXPLAIN ${statement.analyze ? 'ANALYZE ' : ''}${statement.verbose ? 'VERBOSE ' : ''}${printSelect(statement.select)}`;
    case 'show_databases':
      return 'SHOW DATABASES';
    case 'show_queries':
      return 'SHOW QUERIES';
    case 'show_server':
      return `SHOW ${statement.what}${statement.group === undefined ? '' : ` FOR ${quoteString(statement.group)}`}`;
    case 'show_shards':
      return statement.isGrouped ? 'SHOW SHARD GROUPS' : 'SHOW SHARDS';
    case 'show_nothing':
      return `SHOW ${statement.what}`;
    case 'show_retention_policies':
      return `SHOW RETENTION POLICIES${on(statement)}`;
    case 'show_measurements':
      return `SHOW MEASUREMENTS${on(statement)}${withMeasurement(statement.filter)}${tail(statement)}`;
    case 'show_tag_keys':
      return `SHOW TAG KEYS${clauses(statement)}`;
    case 'show_field_keys':
      return `SHOW FIELD KEYS${clauses(statement)}`;
    case 'show_series':
      return `SHOW SERIES${clauses(statement)}`;
    case 'show_tag_values':
      return `SHOW TAG VALUES${on(statement)}${from(statement.sources)}${withKey(statement.keys)}${tail(statement)}`;
    case 'show_cardinality': {
      const what = statement.of.toUpperCase().replaceAll('_', ' ');
      const exact = statement.exact ? ' EXACT' : '';
      const { condition, ...limits } = statement;
      return `SHOW ${what}${exact} CARDINALITY${on(statement)}${from(statement.sources)}${withKey(statement.keys)}${where(condition)}${groupBy(statement.dimensions)}${limitText(limits)}`;
    }
    case 'create_database':
      return `CREATE DATABASE ${quoteName(statement.name)}${options(statement.policy, ' WITH')}`;
    case 'drop_database':
      return `DROP DATABASE ${quoteName(statement.name)}`;
    case 'create_retention_policy':
      return `CREATE RETENTION POLICY ${quoteName(statement.name)} ON ${quoteName(statement.database)}${options(statement.options, '')}`;
    case 'alter_retention_policy':
      return `ALTER RETENTION POLICY ${quoteName(statement.name)} ON ${quoteName(statement.database)}${options(statement.options, '')}`;
    case 'drop_retention_policy':
      return `DROP RETENTION POLICY ${quoteName(statement.name)} ON ${quoteName(statement.database)}`;
    case 'drop_measurement':
      return `DROP MEASUREMENT ${quoteName(statement.name)}`;
    case 'delete':
      return `DELETE${statement.fields === undefined ? '' : ` FIELD ${statement.fields.map(quoteName).join(', ')}`}${from(statement.sources)}${where(statement.condition)}`;
    case 'drop_series':
      return `DROP SERIES${from(statement.sources)}${where(statement.condition)}`;
    case 'kill_query':
      return `KILL QUERY ${statement.id}`;
    case 'create_user':
      return `CREATE USER ${quoteName(statement.user)} WITH PASSWORD ${quoteString(statement.password)}${statement.isAdministrator ? ' WITH ALL PRIVILEGES' : ''}`;
    case 'set_password':
      return `SET PASSWORD FOR ${quoteName(statement.user)} = ${quoteString(statement.password)}`;
    case 'grant':
      return `GRANT ${privilege(statement.actions)} ON ${quoteName(statement.database)} TO ${quoteName(statement.user)}`;
    case 'revoke':
      return `REVOKE ${privilege(statement.actions)} ON ${quoteName(statement.database)} FROM ${quoteName(statement.user)}`;
    case 'set_administrator':
      return statement.isAdministrator
        ? `GRANT ALL PRIVILEGES TO ${quoteName(statement.user)}`
        : `REVOKE ALL PRIVILEGES FROM ${quoteName(statement.user)}`;
    case 'drop_user':
      return `DROP USER ${quoteName(statement.user)}`;
    case 'show_grants':
      return `SHOW GRANTS FOR ${quoteName(statement.user)}`;
    case 'show_users':
      return 'SHOW USERS';
    case 'create_continuous_query':
      return `CREATE CONTINUOUS QUERY ${quoteName(statement.name)} ON ${quoteName(statement.database)}${resample(statement)} BEGIN ${printSelect(statement.select)} END`;
    case 'drop_continuous_query':
      return `DROP CONTINUOUS QUERY ${quoteName(statement.name)} ON ${quoteName(statement.database)}`;
    case 'show_continuous_queries':
      return 'SHOW CONTINUOUS QUERIES';
    case 'unsupported':
      return statement.what;
    default:
      return assertNever(statement);
  }
}

function resample({ everyNs, forNs }: CreateContinuousQuery): string {
  if (everyNs === undefined && forNs === undefined) return '';
  const every = everyNs === undefined ? '' : ` EVERY ${printSingleUnit(everyNs)}`;
  return ` RESAMPLE${every}${forNs === undefined ? '' : ` FOR ${printSingleUnit(forNs)}`}`;
}

const privilege = (actions: readonly string[]): string =>
  actions.length > 1 ? 'ALL PRIVILEGES' : (actions[0] ?? '').toUpperCase();

export function printSelect(select: SelectStatement): string {
  const fields = select.fields.map(({ expr, alias }) =>
    alias === undefined ? printExpr(expr) : `${printExpr(expr)} AS ${quoteName(alias)}`,
  );
  const into = select.into === undefined ? '' : ` INTO ${printMeasurement(select.into)}`;
  const order = select.order === undefined ? '' : ` ORDER BY time ${select.order}`;
  const zone = select.zone === undefined ? '' : ` tz(${quoteString(select.zone)})`;
  const hint = select.lookbackNs === undefined ? '' : `${printLookbackHint(select.lookbackNs)} `;
  return (
    `SELECT ${hint}${fields.join(', ')}${into} FROM ${select.sources.map(printSource).join(', ')}` +
    `${where(select.condition)}${groupBy(select.dimensions)}${fillText(select.fill)}${order}` +
    `${limitText(select)}${zone}`
  );
}

export function printExpr(expr: Expr): string {
  switch (expr.kind) {
    case 'binary':
      return `${printExpr(expr.left)} ${expr.op} ${printExpr(expr.right)}`;
    case 'paren':
      return `(${printExpr(expr.inner)})`;
    case 'call':
      return `${expr.name}(${expr.args.map(printExpr).join(', ')})`;
    case 'var_ref':
      return `${quoteName(expr.name)}${expr.cast === undefined ? '' : `::${expr.cast}`}`;
    case 'wildcard':
      return expr.of === undefined ? '*' : `*::${expr.of}`;
    case 'distinct':
      return `DISTINCT ${quoteName(expr.column)}`;
    case 'parameter':
      return `$${quoteName(expr.name)}`;
    case 'regex':
      return printRegex(expr.source);
    case 'string':
      return quoteString(expr.value);
    case 'integer':
    case 'unsigned':
      return String(expr.value);
    case 'number':
      return numberText(expr.value);
    case 'boolean':
      return String(expr.value);
    case 'duration':
      return printSingleUnit(expr.ns);
    default:
      return assertNever(expr);
  }
}

/** Quotes a name unless it is a valid bare identifier. */
export function quoteName(name: string): string {
  const isBare = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !KEYWORDS.has(name.toUpperCase());
  // Unquoted, these would parse as literals or as the clauses that follow.
  const isWord = /^(true|false|fill|tz)$/i.test(name);
  if (isBare && !isWord) return name;
  return `"${name.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

export function quoteString(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
}

const UNITS: readonly (readonly [string, bigint])[] = [
  ['w', 604_800_000_000_000n],
  ['d', 86_400_000_000_000n],
  ['h', 3_600_000_000_000n],
  ['m', 60_000_000_000n],
  ['s', 1_000_000_000n],
  ['ms', 1_000_000n],
  ['u', 1_000n],
  ['ns', 1n],
];

/** Formats a duration in the largest unit that divides it, as InfluxDB 1.x does in statements. */
export function printSingleUnit(ns: bigint): string {
  const [unit, size] = UNITS.find(([, each]) => ns % each === 0n) ?? ['ns', 1n];
  return ns === 0n ? '0s' : `${ns / size}${unit}`;
}

/** Formats a duration with its largest units first; 0 is `0s`. */
export function printDuration(ns: bigint): string {
  if (ns === 0n) return '0s';
  let rest = ns < 0n ? -ns : ns;
  let text = '';
  for (const [unit, size] of UNITS) {
    if (rest >= size) text += `${rest / size}${unit}`;
    rest %= size;
  }
  return ns < 0n ? `-${text}` : text;
}

function numberText(value: number): string {
  const text = String(value);
  if (!/[.e]/.test(text)) return `${text}.0`;
  // InfluxQL number literals have no exponent.
  return text.includes('e') ? plainDecimal(value) : text;
}

function plainDecimal(value: number): string {
  const [mantissa = '', exponentText = '0'] = String(Math.abs(value)).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const exponent = Number(exponentText);
  const digits = whole + fraction;
  const point = whole.length + exponent;
  const padded =
    point <= 0
      ? `0.${'0'.repeat(-point)}${digits}`
      : point >= digits.length
        ? `${digits}${'0'.repeat(point - digits.length)}.0`
        : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return value < 0 ? `-${padded}` : padded;
}

function printRegex(source: string): string {
  return `/${source.replaceAll('/', '\\/')}/`;
}

export function printMeasurement(measurement: Measurement): string {
  const { database, policy, name } = measurement;
  const prefix =
    database !== undefined
      ? `${quoteName(database)}.${policy === undefined ? '' : quoteName(policy)}.`
      : policy === undefined
        ? ''
        : `${quoteName(policy)}.`;
  if (name === ':MEASUREMENT') return `${prefix}:MEASUREMENT`;
  return prefix + (typeof name === 'string' ? quoteName(name) : printRegex(name.source));
}

function printSource(source: Source): string {
  return source.kind === 'subquery' ? `(${printSelect(source.select)})` : printMeasurement(source);
}

function clauses(show: ShowClauses): string {
  return `${on(show)}${from(show.sources)}${tail(show)}`;
}

function on({
  database,
  policy,
}: {
  readonly database?: string;
  readonly policy?: string;
}): string {
  if (database === undefined) return '';
  if (database === '*') return ' ON *';
  return ` ON ${quoteName(database)}${policy === undefined ? '' : `.${quoteName(policy)}`}`;
}

function from(sources: readonly Measurement[]): string {
  return sources.length === 0 ? '' : ` FROM ${sources.map(printMeasurement).join(', ')}`;
}

function withMeasurement(filter: Measurement | undefined): string {
  if (filter === undefined) return '';
  const op = typeof filter.name === 'string' ? '=' : '=~';
  return ` WITH MEASUREMENT ${op} ${printMeasurement(filter)}`;
}

function withKey(keys: TagKeyFilter | undefined): string {
  if (keys === undefined) return '';
  if (keys.op === 'IN') return ` WITH KEY IN (${keys.keys.map(quoteName).join(', ')})`;
  const operand = 'regex' in keys ? printRegex(keys.regex.source) : quoteName(keys.key);
  return ` WITH KEY ${keys.op} ${operand}`;
}

function tail(show: Pick<ShowClauses, 'condition' | 'limit' | 'offset'>): string {
  return `${where(show.condition)}${limitText(show)}`;
}

function where(condition: Expr | undefined): string {
  return condition === undefined ? '' : ` WHERE ${printExpr(condition)}`;
}

function groupBy(dimensions: readonly Dimension[]): string {
  return dimensions.length === 0 ? '' : ` GROUP BY ${dimensions.map(printExpr).join(', ')}`;
}

function fillText(fill: Fill | undefined): string {
  if (fill === undefined) return '';
  if (fill.kind !== 'number') return ` fill(${fill.kind})`;
  return ` fill(${typeof fill.value === 'bigint' ? fill.value : numberText(fill.value)})`;
}

function limitText(
  options: Pick<SelectStatement, 'limit' | 'offset' | 'seriesLimit' | 'seriesOffset'>,
): string {
  const part = (keyword: string, value: number | undefined): string =>
    value === undefined ? '' : ` ${keyword} ${value}`;
  return (
    part('LIMIT', options.limit) +
    part('OFFSET', options.offset) +
    part('SLIMIT', options.seriesLimit) +
    part('SOFFSET', options.seriesOffset)
  );
}

function options(policy: PolicyOptions, prefix: string): string {
  const parts = [
    ...(policy.durationNs === undefined ? [] : [`DURATION ${printDuration(policy.durationNs)}`]),
    ...(policy.replication === undefined ? [] : [`REPLICATION ${policy.replication}`]),
    ...(policy.shardDurationNs === undefined
      ? []
      : [`SHARD DURATION ${printDuration(policy.shardDurationNs)}`]),
    ...(policy.name === undefined ? [] : [`NAME ${quoteName(policy.name)}`]),
    ...(policy.isDefault ? ['DEFAULT'] : []),
  ];
  return parts.length === 0 ? '' : `${prefix} ${parts.join(' ')}`;
}
