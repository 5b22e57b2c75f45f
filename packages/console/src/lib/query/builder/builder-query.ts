import { quoteName } from '../identifiers.js';
import { RANGE_CONDITION } from '../macros.js';

/** How the builder combines the values of a field in each bucket. */
export const AGGREGATES = ['avg', 'min', 'max', 'sum', 'count', 'last', 'p95', 'rate'] as const;
export type Aggregate = (typeof AGGREGATES)[number];

export const OPERATORS = [
  ...['=', '!=', '<', '<=', '>', '>=', 'LIKE'],
  ...['IS NULL', 'IS NOT NULL'],
] as const;
export type Operator = (typeof OPERATORS)[number];

export const takesValue = (operator: Operator): boolean => !operator.startsWith('IS ');

export interface BuilderField {
  readonly name: string;
  readonly aggregate: Aggregate;
}

export interface BuilderCondition {
  readonly column: string;
  readonly operator: Operator;
  /** A SQL literal; empty for operators without a value. */
  readonly literal: string;
}

/** A query that the builder of Explore can show and write. */
export interface BuilderQuery {
  readonly table: string;
  /** At least one. */
  readonly fields: readonly BuilderField[];
  readonly conditions: readonly BuilderCondition[];
  /** Columns whose values are separate series. */
  readonly groupBy: readonly string[];
  /** The bucket width as in `10 seconds`; `auto` follows the time range, `` is one bucket for it. */
  readonly every: string;
}

export const EVERY_AUTO = 'auto';

/** The SQL of a query. Its text is stable, so that `readBuilderQuery` reads it back. */
export function writeBuilderQuery(query: BuilderQuery): string {
  const { fields, groupBy, every } = query;
  const groups = groupBy.map(sqlName);
  const aliases = aliasesOf(query).map(sqlName);
  const bucket = every === EVERY_AUTO ? '${interval}' : `INTERVAL '${every}'`;
  const items = [
    ...(every === '' ? [] : [`date_bin(${bucket}, time) AS time`]),
    ...groups,
    ...fields.map((field, index) => `${aggregateSql(field)} AS ${aliases[index]}`),
  ];
  const keys = [...(every === '' ? [] : ['1']), ...groups];
  const selection = [
    `SELECT ${items.join(', ')}`,
    `FROM ${sqlName(query.table)}`,
    `WHERE ${[RANGE_CONDITION, ...query.conditions.map(conditionSql)].join(' AND ')}`,
    ...(keys.length === 0 ? [] : [`GROUP BY ${keys.join(', ')}`]),
  ];
  const order = keys.length === 0 ? [] : ['ORDER BY 1'];
  if (!hasRate(query)) return [...selection, ...order].join('\n');
  const columns = fields.map(({ aggregate }, index) => {
    const alias = aliases[index] ?? '';
    return aggregate === 'rate' ? `${rateSql(alias, groups)} AS ${alias}` : alias;
  });
  return [
    'WITH buckets AS (',
    ...selection.map((line) => `  ${line}`),
    ')',
    `SELECT ${['time', ...groups, ...columns].join(', ')}`,
    'FROM buckets',
    ...order,
  ].join('\n');
}

/** A rate compares buckets, so it needs several of them. */
export const hasRate = ({ fields, every }: BuilderQuery): boolean =>
  every !== '' && fields.some(({ aggregate }) => aggregate === 'rate');

const sqlName = (name: string): string => quoteName(name, 'sql');

function aggregateSql({ name, aggregate }: BuilderField): string {
  const column = sqlName(name);
  switch (aggregate) {
    case 'last':
      return `last_value(${column} ORDER BY time)`;
    case 'p95':
      return `approx_percentile_cont(${column}, 0.95)`;
    case 'rate':
      return `CAST(max(${column}) AS DOUBLE)`;
    default:
      return `${aggregate}(${column})`;
  }
}

/** The increase per second since the previous bucket. After a reset of the counter, it is 0. */
function rateSql(column: string, groups: readonly string[]): string {
  const partition = groups.length === 0 ? '' : `PARTITION BY ${groups.join(', ')} `;
  const previous = (value: string): string => `lag(${value}) OVER (${partition}ORDER BY time)`;
  const seconds = `date_part('epoch', time)`;
  return `greatest(${column} - ${previous(column)}, 0) / (${seconds} - ${previous(seconds)})`;
}

/** The forms of filters on values of the result, see `addCondition`. */
function conditionSql({ column, operator, literal }: BuilderCondition): string {
  const name = sqlName(column);
  if (!takesValue(operator)) return `${name} ${operator}`;
  // Excluding a value keeps rows in which the value is missing.
  return operator === '!='
    ? `(${name} IS DISTINCT FROM ${literal})`
    : `${name} ${operator} ${literal}`;
}

/** Unique names of the result columns: the field if it occurs once, otherwise with the aggregate. */
function aliasesOf({ fields, groupBy }: BuilderQuery): readonly string[] {
  const taken = new Set(['time', ...groupBy]);
  return fields.map(({ name, aggregate }) => {
    const isOnce = fields.filter((each) => each.name === name).length === 1;
    const wanted = isOnce ? name : `${name}_${aggregate}`;
    let alias = wanted;
    for (let count = 2; taken.has(alias); count++) alias = `${wanted}_${count}`;
    taken.add(alias);
    return alias;
  });
}

interface BuilderTable {
  readonly name: string;
  readonly series_key: readonly string[];
  readonly columns: readonly { readonly name: string; readonly kind: string }[];
}

const NUMERIC: ReadonlySet<string> = new Set(['float64', 'int64', 'uint64']);

export const aggregatesOf = (kind: string): readonly Aggregate[] =>
  NUMERIC.has(kind) ? AGGREGATES : ['count', 'last'];

export const fieldsOf = ({ columns }: BuilderTable): BuilderTable['columns'] =>
  columns.filter(({ kind }) => kind !== 'tag' && kind !== 'time');

/** The first field over time, with a line for each series. `undefined` when the table has no fields. */
export function startQuery(table: BuilderTable): BuilderQuery | undefined {
  const fields = fieldsOf(table);
  const field = fields.find(({ kind }) => NUMERIC.has(kind)) ?? fields[0];
  if (field === undefined) return undefined;
  const aggregate = aggregatesOf(field.kind)[0] ?? 'count';
  return {
    table: table.name,
    fields: [{ name: field.name, aggregate }],
    conditions: [],
    groupBy: table.series_key,
    every: EVERY_AUTO,
  };
}

/** The same query of another table, without what that table does not have. */
export function withTable(query: BuilderQuery, table: BuilderTable): BuilderQuery | undefined {
  const start = startQuery(table);
  if (start === undefined) return undefined;
  const has = (name: string): boolean => table.columns.some((column) => column.name === name);
  const fields = query.fields.filter(({ name }) => has(name));
  return {
    ...query,
    table: table.name,
    fields: fields.length === 0 ? start.fields : fields,
    conditions: query.conditions.filter(({ column }) => has(column)),
    groupBy: query.groupBy.some(has) ? query.groupBy.filter(has) : start.groupBy,
  };
}
