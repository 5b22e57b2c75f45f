import { quoteName } from '../identifiers.js';
import { RANGE_CONDITION } from '../macros.js';
import {
  aliasesOf,
  type BuilderCondition,
  type BuilderField,
  type BuilderQuery,
  EVERY_AUTO,
  hasRate,
  LAST_TIME,
  takesValue,
} from './builder-query.js';

/** Formats a query as SQL. */
export function sqlOf(query: BuilderQuery): string {
  const { fields, groupBy, every } = query;
  const groups = groupBy.map(sqlName);
  const aliases = aliasesOf(query).map(sqlName);
  const bucket = every === EVERY_AUTO ? '${interval}' : `INTERVAL '${every}'`;
  const items = [
    ...(every === '' ? [] : [`date_bin(${bucket}, time) AS time`]),
    ...groups,
    ...fields.map((field, index) => `${aggregateSql(field)} AS ${aliases[index]}`),
    ...(hasRate(query) ? [`max(time) AS ${LAST_TIME}`] : []),
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

/**
 * Returns SQL for the increase per second since the last row of the previous bucket. After a counter reset, the
 * increase is 0.
 */
function rateSql(column: string, groups: readonly string[]): string {
  const partition = groups.length === 0 ? '' : `PARTITION BY ${groups.join(', ')} `;
  const previous = (value: string): string => `lag(${value}) OVER (${partition}ORDER BY time)`;
  const seconds = `date_part('epoch', ${LAST_TIME})`;
  return `greatest(${column} - ${previous(column)}, 0) / (${seconds} - ${previous(seconds)})`;
}

/** Formats a filter in the same form as filters on result values; see `addCondition`. */
function conditionSql({ column, operator, literal }: BuilderCondition): string {
  const name = sqlName(column);
  if (!takesValue(operator)) return `${name} ${operator}`;
  // Excluding a value keeps rows in which the value is missing.
  return operator === '!='
    ? `(${name} IS DISTINCT FROM ${literal})`
    : `${name} ${operator} ${literal}`;
}
