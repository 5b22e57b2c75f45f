import { quoteName, quoteText } from '../identifiers.js';
import { RANGE_CONDITION } from '../macros.js';
import { aliasesOf, type BuilderField, type BuilderQuery, EVERY_AUTO } from './builder-query.js';

/** Units of bucket widths, as they are named in both languages. */
export const WIDTH_UNITS: readonly (readonly [influxql: string, sql: string])[] = [
  ['ms', 'millisecond'],
  ['s', 'second'],
  ['m', 'minute'],
  ['h', 'hour'],
  ['d', 'day'],
  ['w', 'week'],
];

/** Formats a query as InfluxQL. */
export function influxqlOf(query: BuilderQuery): string {
  const { fields, conditions, groupBy, every } = query;
  const aliases = aliasesOf(query);
  const items = fields.map((field, index) => `${call(field)} AS ${name(aliases[index] ?? '')}`);
  const width = influxqlWidth(every) ?? '';
  const keys = [...(width === '' ? [] : [`time(${width})`]), ...groupBy.map(name)];
  const compared = conditions.map(
    ({ column, operator, literal }) => `${name(column)} ${operator} ${influxqlLiteral(literal)}`,
  );
  return [
    `SELECT ${items.join(', ')}`,
    `FROM ${name(query.table)}`,
    `WHERE ${[RANGE_CONDITION, ...compared].join(' AND ')}`,
    ...(keys.length === 0
      ? []
      : [`GROUP BY ${keys.join(', ')}${width === '' ? '' : ' fill(null)'}`]),
  ].join('\n');
}

/** Returns `10s` for `10 seconds`; `undefined` for a width that InfluxQL does not support. */
export function influxqlWidth(every: string): string | undefined {
  if (every === '') return '';
  if (every === EVERY_AUTO) return '${interval}';
  const [, count, word] = /^(\d+) ([a-z]+?)s?$/.exec(every) ?? [];
  const [unit] = WIDTH_UNITS.find(([, sql]) => sql === word) ?? [];
  return unit === undefined ? undefined : `${count}${unit}`;
}

const name = (text: string): string => quoteName(text, 'influxql');

function call({ name: field, aggregate }: BuilderField): string {
  const column = name(field);
  switch (aggregate) {
    case 'avg':
      return `mean(${column})`;
    case 'p95':
      return `percentile(${column}, 95)`;
    case 'rate':
      return `non_negative_derivative(max(${column}), 1s)`;
    default:
      return `${aggregate}(${column})`;
  }
}

const influxqlLiteral = (literal: string): string =>
  literal.startsWith("'")
    ? quoteText(literal.slice(1, -1).replaceAll("''", "'"), 'influxql')
    : literal;
