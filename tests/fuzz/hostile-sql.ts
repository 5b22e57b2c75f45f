import type { Chance } from '../harness/index.js';
import type { HostileRequest } from './hostile-request.js';

const times = (count: number, text: (index: number) => string, separator = ', '): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(separator);

/** SQL statements that are demanding for the parser, the binder or DuckDB. */
export function demandingSql(chance: Chance): HostileRequest {
  const count = chance.pick([20, 200, 2000]);
  const word = chance.pick([
    'substr(',
    'not (',
    'cast(',
    'interval ',
    'exists(',
    'array[',
    'case ',
  ]);
  const other = chance.pick(['not, ', '(', 'date ', 'a in (', '-', 'row(', 'x -> ', "'a', "]);
  const q = chance.pick([
    () => `SELECT ${(word + other).repeat(count)}host FROM cpu`,
    () => `SELECT * FROM ${'('.repeat(count)}cpu${chance.happens(0.5) ? ')'.repeat(count) : ''}`,
    () => `SELECT * FROM cpu WHERE host IN (${times(count * 10, (i) => `'h${i}'`)})`,
    () => `SELECT * FROM cpu WHERE ${times(count, (i) => `host = 'h${i}'`, ' OR ')}`,
    () => `SELECT ${times(count, (i) => `usage + ${i} AS f${i}`)} FROM cpu`,
    () => `SELECT * FROM (VALUES ${times(count * 10, (i) => `(${i}, 'x')`)}) AS v(a, b)`,
    () => `SELECT * FROM ${times(count / 4, (i) => `cpu AS c${i}`)} LIMIT 1`,
    () =>
      `WITH ${times(count / 4, (i) => `w${i} AS (SELECT a.* FROM ${i === 0 ? 'cpu' : `w${i - 1}`} AS a, ${i === 0 ? 'cpu' : `w${i - 1}`} AS b)`)} SELECT count(*) FROM w0`,
    () => times(count, (i) => `SELECT ${i} AS a`, ' UNION ALL '),
    () => `SELECT ${'('.repeat(count)}1${')'.repeat(count)}`,
    () => `SELECT 1${' + 1'.repeat(count)}`,
    () => `SELECT ${' '.repeat(count * 10)}1${'/**/'.repeat(count)}`,
    () => `SELECT * FROM cpu WHERE host ~ '${'(a*)*'.repeat(count)}b'`,
    () => `SELECT regexp_replace(repeat('a', ${count * 10}), '(a|aa)+$', 'x') FROM cpu`,
    () =>
      `SELECT regexp_match('${'a'.repeat(count)}', '^(a+)+$'), '${'%a'.repeat(count)}' LIKE '${'%a'.repeat(count)}'`,
    () =>
      `SELECT * FROM ${times(count / 10, (i) => `information_schema.columns AS c${i}`)} LIMIT 1`,
    () => `SELECT * FROM ${times(count / 10, (i) => `system.queries AS c${i}`)} LIMIT 1`,
    () =>
      `SELECT date_bin_gapfill(INTERVAL '1 nanosecond', time) AS t, locf(avg(usage)) FROM cpu WHERE time >= '1970-01-01' AND time < '2100-01-01' GROUP BY 1`,
    () =>
      `SELECT date_bin_gapfill(INTERVAL '1 second', time) AS t, interpolate(avg(usage)) FROM cpu WHERE time >= 0 AND time < ${count}000000000000 GROUP BY 1`,
    () => `SELECT '${'x'.repeat(count * 100)}' AS "${'y'.repeat(count)}"`,
    () => `SELECT ${times(count, (i) => `$p${i}`)}`,
    () => `SELECT to_timestamp('${'1'.repeat(count)}'), to_char(now(), '${'%Y'.repeat(count)}')`,
  ])();
  const isParquet = chance.happens(0.1);
  return {
    path: '/api/v3/query_sql',
    body: JSON.stringify({ db: 'fuzz', q, format: isParquet ? 'parquet' : 'json' }),
    headers: { 'content-type': 'application/json' },
  };
}
