-- 1: §3.2 names of literals
SELECT 2.0, 1.50, 1e3, 1e-7, .5, -0.0, 123456789012345678901234567890.0;

-- 2: §3.2 names of literals
SELECT -1, - -1, -(1 + 2), -5.5;

-- 3: §3.2 names of functions are the names written
SELECT char_length('a'), length('b'), strpos('a', 'b'), instr('a', 'b'), pow(2.5, 2);

-- 4: §3.2 names of predicates
SELECT 1 IN (1, 2), 'a' NOT IN ('b'), 1 BETWEEN 0 AND 2, 'a' LIKE 'b';

-- 5: §3.2 names of window functions
SELECT sum(a) OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING) FROM (VALUES (1), (2), (4)) AS v(a) ORDER BY a;

-- 6: §3.2 names of window functions
SELECT max(a) OVER (ORDER BY a GROUPS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM (VALUES (1), (2)) AS v(a);

-- 7: §3.2 names of ordered-set aggregates
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a DESC) FROM (VALUES (1.0), (2.0)) AS v(a);

-- 8: §3.2 names of slices
SELECT make_array(1, 2, 3)[1:2];

-- 9: §5.3 extract is date_part
SELECT extract(week FROM '2024-12-30'::timestamp), extract(year FROM '2024-12-30'::timestamp);

-- 10: §5.5 NULL arguments
SELECT repeat('a', NULL) AS a, substr('abc', NULL) AS b, split_part(NULL, '', -1) AS c, split_part('abc', '', NULL) AS d, substr(NULL, 1, -1) AS e, split_part(NULL, ',', 0) AS f;

-- 11: §5.5 positions beyond 32 bits
SELECT left('abc', 9223372036854775807) AS a, substr('abc', 9223372036854775807, 2) AS b, substr('abc', -1, 9223372036854775807) AS c, right('abc', 9223372036854775807) AS d;

-- 12: §5.4 rounding NaN, and to NULL places
SELECT round('NaN'::double, -1) AS a, round(1.5, NULL) AS b, trunc(1.55, NULL) AS c;

-- 13: §4.2 a whole number with a 32-bit float
SELECT 1 / 1.5::float AS a, arrow_typeof(1::bigint + 1.5::float) AS b;

-- 14: §4.5 shifting negative numbers and bits out
SELECT -9 << 1 AS a, 1 << 63 AS b, 3 << 63 AS c, 9223372036854775807 << 1 AS d, -8 >> 1 AS e;

-- 15: §4.1 texts with outer spaces are numbers
SELECT ' 12'::bigint AS a, '12 '::int AS b, try_cast(' 1 2' AS int) AS c;

-- 16: §4.1 texts are times of day
SELECT '12:34'::time AS a, '1:02:03.5'::time AS b, TIME '12:34:56' AS c, '12:34 PM'::time AS d, '12:34:56.5'::time::string AS e, date_part('second', '12:34:56.789'::time) AS f;

-- 17: §4.1 intervals as text
SELECT cast(interval '1 month 2 days 3 seconds' AS string) AS a, cast(interval '-90 minutes' AS string) AS b, cast(interval '0 days' AS string) AS c, cast(interval '1 nanosecond' AS string) AS d, 'in ' || interval '1 hour' AS e;

-- 18: §4.1 durations as text
SELECT cast('2024-02-29T12:34:56.789123456Z'::timestamp - '2024-02-28'::timestamp AS string) AS a, cast('2024-02-27T12:34:56.789Z'::timestamp - '2024-02-28'::timestamp AS string) AS b;

-- 19: §4.1 numbers count in the unit of the timestamp
SELECT arrow_cast(1, 'Timestamp(Second, None)') AS a, arrow_cast(-7, 'Timestamp(Millisecond, None)') AS b, arrow_cast('2024-02-29T12:34:56.789Z', 'Timestamp(Second, None)') AS c;

-- 20: §4.1 a coarser unit cuts
SELECT '2024-02-29T12:34:56.789123456Z'::timestamp::timestamp(3) AS a, arrow_cast('2024-02-29T12:34:56.789Z'::timestamp, 'Timestamp(Second, None)') AS b, arrow_cast('2024-02-29T12:34:56.789Z'::timestamp(0), 'Int64') AS c;

-- 21: §4.3 a time without zone is a wall clock of the zone it is cast to
SELECT arrow_cast('2024-02-29T12:00:00Z'::timestamp, 'Timestamp(Nanosecond, Some("+02:00"))') AS a, arrow_cast('2024-07-01'::date, 'Timestamp(Nanosecond, Some("Europe/Berlin"))') AS b;

-- 22: §4.3 a time with zone is shown and dated by its wall clock
SELECT ('2024-07-01T22:30:00Z'::timestamptz AT TIME ZONE 'Europe/Berlin')::string AS a, ('2024-07-01T22:30:00Z'::timestamptz AT TIME ZONE 'Europe/Berlin')::date AS b;

-- 23: §4.3 a date moved by an interval is a date
SELECT '2024-01-31'::date + interval '1 month' AS a, '2024-01-31'::date - interval '1 second' AS b, '2024-01-31'::date + interval '25 hours' AS c;

-- 24: §4.5 operators of lists
SELECT make_array(1, 2) || 3, 0 || make_array(1), make_array(1) || make_array(2);

-- 25: §4.5 operators of lists
SELECT make_array(1, 2) || 3.5 AS a, make_array('a') || 'b' AS b, make_array(1) || NULL AS c, make_array(make_array(1)) || make_array(2) AS d;

-- 26: §4.5 operators of lists
SELECT make_array(1, 2) @> make_array(1), make_array(1, 3) <@ make_array(1, 2), 1 = ANY (make_array(1, 2)), 3 = ANY (make_array(1, 2)) AS e;

-- 27: §5.7 map literals
SELECT MAP {'a': 1, 'b': 2}, MAP {1: 'x'}[1] AS b;

-- 28: §5.7 an absent list makes the result absent
SELECT array_except(make_array(1), NULL) AS a, array_intersect(make_array(1), NULL) AS b, array_union(NULL, make_array(1)) AS c, array_repeat('a', NULL) AS d, array_to_string(make_array('x'), NULL) AS e;

-- 29: §5.7 NULL is an element like others
SELECT array_has_all(make_array(1, 2), make_array(NULL, 1)) AS a, array_has_any(make_array(NULL, 1), make_array(NULL, 2)) AS b, array_has_all(make_array(NULL, 1), make_array(NULL)) AS c;

-- 30: §5.7 the first occurrences stay where they are
SELECT array_distinct(make_array(3, 1, 3, 2)) AS a, array_distinct(make_array('a', NULL, 'a')) AS b;

-- 31: §5.7 an element before an empty list
SELECT array_prepend(3, make_array()) AS a, array_prepend(1.5, NULL) AS b, array_prepend(1, make_array(NULL)) AS c;

-- 32: §5.7 lists as text
SELECT array_to_string(make_array(1.5, 2.0), ',') AS a, array_to_string(make_array(make_array(1, 2), make_array(3)), ',') AS b, string_to_array('', ',') AS c;

-- 33: §5.7 length of a dimension
SELECT array_length(make_array(1, 2), 1) AS a, array_length(make_array(1, 2), 2) AS b, array_length(make_array(1, 2), 0) AS c;

-- 34: §4.2 bits of unsigned numbers
SELECT 18446744073709551615 & 3 AS a, arrow_typeof(5::bigint unsigned | 2) AS b;

-- 35: §4.5 shifts by more bits than there are
SELECT 9223372036854775807 >> 200 AS a, -7 >> 64 AS b, 1 << 65 AS c;

-- 36: §4.3 NULL with times
SELECT NULL - '2024-02-29'::timestamp AS a, interval '1 day' + NULL AS b, '2024-02-29'::timestamp - NULL AS c;

-- 37: §4.3 days are added to dates
SELECT '2024-02-28'::date + 2 AS a, '2024-02-28'::date - 28 AS b;

-- 38: §4.1 texts are booleans
SELECT 'on'::boolean AS a, 'Yes'::boolean AS b, 'f'::boolean AS c, '0'::boolean AS d, try_cast('maybe' AS boolean) AS e;

-- 39: §5.1 count without arguments counts rows
SELECT count() FROM (VALUES (1), (NULL)) AS v(a);

-- 40: §5.3 parts
SELECT date_part('isoyear', '2024-12-30'::date) AS a, date_part('epoch', interval '1 day 2.5 seconds') AS b;

-- 41: §5.6 NULL arguments
SELECT regexp_count(NULL, '') AS a, regexp_match('abc', NULL) AS b, regexp_replace('abc', 'b', 'X', NULL) AS c;

-- 42: §5.7 a key that a map has not
SELECT map_extract(map(make_array('a'), make_array(1)), 'z') AS a, element_at(map(make_array('a'), make_array(1)), 'a') AS b;

-- 43: §5.7 nothing is removed or sorted by NULL
SELECT array_remove(make_array(1, NULL), NULL) AS a, array_remove_all(make_array(1), NULL) AS b, array_sort(make_array(2, 1), NULL) AS c;

-- 44: §5.7 dates in steps
SELECT range('2024-02-28'::date, '2024-03-02'::date, interval '1 day') AS a, generate_series('2024-02-28'::date, '2024-03-01'::date, interval '1 day') AS b;

-- 45: §5.1 the spread of none and of one
SELECT var(a) AS a, var_pop(a) AS b, stddev(a) FILTER (WHERE a > 5) AS c FROM (VALUES (1.0), (NULL)) AS t(a);

-- 46: §5.8 the spread within a frame
SELECT a, var(a) OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS v FROM (VALUES (1.0), (3.0), ('NaN'::double)) AS t(a) ORDER BY a;

-- 47: §5.1 the spread of values that are not finite
SELECT var(a) AS a, stddev_pop(a) AS b, stddev(a) AS c FROM (VALUES (1.0), ('inf'::double), (2.0)) AS t(a);
