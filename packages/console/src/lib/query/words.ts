import type { Language } from './macros.js';
import type { Suggestion } from './suggestion.js';

const functionsOf = (lines: string): readonly Suggestion[] =>
  lines
    .trim()
    .split('\n')
    .map((line): Suggestion => {
      const [signature = '', detail = ''] = line.split(' — ');
      const label = signature.slice(0, signature.indexOf('('));
      return { label, apply: `${label}(`, kind: 'function', detail: `${signature}: ${detail}` };
    });

const keywordsOf = (text: string): readonly Suggestion[] =>
  text
    .split(' ')
    .map((word): Suggestion => ({ label: word.replaceAll('_', ' '), kind: 'keyword' }));

/** Those that are typed most, with what they do. Source: query-languages, sections 5 and 11. */
export const FUNCTIONS: Readonly<Record<Language, readonly Suggestion[]>> = {
  sql: functionsOf(`
date_bin(interval, time) — begin of the bucket
date_bin_gapfill(interval, time) — the same, with buckets that have no rows
date_trunc('unit', time) — time cut to a unit
date_part('unit', time) — a part of a time
now() — time of the query
locf(value) — the last value goes on into gaps
interpolate(value) — gaps on a straight line
avg(value) — mean
sum(value) — sum
min(value) — lowest
max(value) — highest
count(value) — how many
median(value) — the middle one
stddev(value) — standard deviation
approx_percentile_cont(value, p) — percentile, about
selector_first(value, time) — value and time of the first row
selector_last(value, time) — value and time of the last row
selector_min(value, time) — value and time of the lowest
selector_max(value, time) — value and time of the highest
first_value(value ORDER BY time) — of the first row
last_value(value ORDER BY time) — of the last row
lag(value) OVER (ORDER BY time) — of the row before
coalesce(a, b) — the first that is not null
round(value, digits) — rounded
abs(value) — without its sign
length(text) — characters of a text
lower(text) — in small letters
regexp_like(text, pattern) — whether it matches
last_cache('table') — rows of a last-value cache
distinct_cache('table') — rows of a distinct-value cache`),
  influxql: functionsOf(`
mean(field) — mean
sum(field) — sum
count(field) — how many
min(field) — lowest
max(field) — highest
first(field) — of the first point
last(field) — of the last point
median(field) — the middle one
percentile(field, p) — percentile
spread(field) — highest without lowest
stddev(field) — standard deviation
mode(field) — the most frequent
distinct(field) — different values
top(field, n) — the n highest
bottom(field, n) — the n lowest
derivative(field, 1s) — change in a unit of time
non_negative_derivative(field, 1s) — the same, without falls
difference(field) — change from the point before
moving_average(field, n) — mean of n points
cumulative_sum(field) — running sum
elapsed(field, 1s) — time since the point before
time(interval) — buckets, in GROUP BY
fill(value) — what empty buckets have`),
};

export const KEYWORDS: Readonly<Record<Language, readonly Suggestion[]>> = {
  sql: keywordsOf(
    'SELECT FROM WHERE GROUP_BY ORDER_BY LIMIT OFFSET AND OR NOT IN BETWEEN LIKE IS_NULL IS_NOT_NULL AS DESC ASC DISTINCT HAVING JOIN LEFT_JOIN ON UNION_ALL WITH CASE WHEN THEN ELSE END INTERVAL TIMESTAMP EXPLAIN EXPLAIN_ANALYZE OVER PARTITION_BY CAST',
  ),
  influxql: keywordsOf(
    'SELECT FROM WHERE GROUP_BY ORDER_BY_time_DESC LIMIT OFFSET SLIMIT SOFFSET AND OR AS FILL TZ SHOW_MEASUREMENTS SHOW_TAG_KEYS SHOW_TAG_VALUES SHOW_FIELD_KEYS SHOW_SERIES SHOW_DATABASES EXPLAIN EXPLAIN_ANALYZE WITH_KEY',
  ),
};
