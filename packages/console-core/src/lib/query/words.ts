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
    .map((keyword): Suggestion => ({ label: keyword.replaceAll('_', ' '), kind: 'keyword' }));

/** The most common functions with descriptions. Source: query-languages, sections 5 and 11. */
export const FUNCTIONS: Readonly<Record<Language, readonly Suggestion[]>> = {
  sql: functionsOf(`
date_bin(interval, time) — start of the bucket
date_bin_gapfill(interval, time) — start of the bucket, including empty buckets
date_trunc('unit', time) — time truncated to a unit
date_part('unit', time) — a component of a time
now() — current time
locf(value) — fills gaps with the last value
interpolate(value) — fills gaps linearly
avg(value) — mean
sum(value) — sum
min(value) — minimum\nmax(value) — maximum
count(value) — number of values
median(value) — median
stddev(value) — standard deviation
approx_percentile_cont(value, p) — approximate percentile
selector_first(value, time) — value and time of the first row
selector_last(value, time) — value and time of the last row
selector_min(value, time) — value and time of the minimum
selector_max(value, time) — value and time of the maximum
first_value(value ORDER BY time) — value of the first row
last_value(value ORDER BY time) — value of the last row
lag(value) OVER (ORDER BY time) — value of the previous row
coalesce(a, b) — first value that is not null
round(value, digits) — rounded value
abs(value) — absolute value
length(text) — number of characters
lower(text) — lowercase text
regexp_like(text, pattern) — whether the text matches the pattern
last_cache('table') — rows of a last value cache
distinct_cache('table') — rows of a distinct value cache`),
  influxql: functionsOf(`
mean(field) — mean
sum(field) — sum
count(field) — number of values
min(field) — minimum\nmax(field) — maximum
first(field) — value of the first point
last(field) — value of the last point
median(field) — median
percentile(field, p) — percentile
spread(field) — difference between the maximum and the minimum
stddev(field) — standard deviation
mode(field) — most frequent value
distinct(field) — distinct values
top(field, n) — the n highest values
bottom(field, n) — the n lowest values
derivative(field, 1s) — rate of change per time unit
non_negative_derivative(field, 1s) — rate of change, without negative results
difference(field) — change from the previous point
moving_average(field, n) — mean of the last n points
cumulative_sum(field) — running sum
elapsed(field, 1s) — time since the previous point
time(interval) — time buckets in GROUP BY
fill(value) — value for empty buckets`),
};

export const KEYWORDS: Readonly<Record<Language, readonly Suggestion[]>> = {
  sql: keywordsOf(
    'SELECT FROM WHERE GROUP_BY ORDER_BY LIMIT OFFSET AND OR NOT IN BETWEEN LIKE IS_NULL IS_NOT_NULL AS DESC ASC DISTINCT HAVING JOIN LEFT_JOIN ON UNION_ALL WITH CASE WHEN THEN ELSE END INTERVAL TIMESTAMP EXPLAIN EXPLAIN_ANALYZE OVER PARTITION_BY CAST',
  ),
  influxql: keywordsOf(
    'SELECT FROM WHERE GROUP_BY ORDER_BY_time_DESC LIMIT OFFSET SLIMIT SOFFSET AND OR AS FILL TZ SHOW_MEASUREMENTS SHOW_TAG_KEYS SHOW_TAG_VALUES SHOW_FIELD_KEYS SHOW_SERIES SHOW_DATABASES EXPLAIN EXPLAIN_ANALYZE WITH_KEY',
  ),
};
