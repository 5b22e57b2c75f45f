-- 1: §4.1 cast facts
SELECT s::BIGINT AS r FROM (VALUES ('12'), ('x')) v(s);

-- 2: §4.1 cast facts, in words of the same form
SELECT s::BOOLEAN AS r FROM (VALUES ('true'), ('x')) v(s);

-- 3: §4.1 cast facts, in words of the same form
SELECT s::DATE AS r FROM (VALUES ('2020-01-01'), ('x')) v(s);

-- 4: §4.1 cast facts: out of range is an error
SELECT arrow_cast(n, 'Int8') AS r FROM (VALUES (1), (300)) v(n);

-- 5: §4.2 numbers
SELECT n / 0 AS r FROM (VALUES (1)) v(n);

-- 6: §8 integer overflow
SELECT n + 1 AS r FROM (VALUES (9223372036854775807)) v(n);

-- 7: §8 sum(int), error when out of range
SELECT sum(n) AS r FROM (VALUES (9223372036854775807), (1)) v(n);

-- 8: §4.5 a pattern with look-around, which the syntax does not have
SELECT s ~ '(?=x)' AS r FROM (VALUES ('x')) v(s);

-- 9: lists of lists have a bound, too
SELECT array_repeat(array_repeat(array_repeat(1, 10000), 10000), 10000) AS r;

-- 10: lists of each row have a smaller bound than one list for all
SELECT array_length(range(0, n)) AS r FROM (VALUES (1000000)) v(n);

-- 11: a list of constants
SELECT array_length(range(0, 1000000)) AS r;

-- 12: strings have a bound
SELECT repeat(s, 1000000) AS r FROM (VALUES ('x')) v(s);

-- 13: characters of several bytes are compared by the main thread, which has other work
SELECT max(levenshtein(repeat('ä', 100), s)) AS r FROM (SELECT 'é' || repeat(chr(97), 60 + n % 2) AS s
  FROM (SELECT unnest(range(0, 2000)) AS n) t) u;

-- 14: times are read by the main thread, too, and each item of a format may look at all of its text
SELECT max(to_timestamp(s, '%m-%d ' || repeat('%Y ', 160))) AS r
  FROM (SELECT '01-02 ' || repeat('2020 ', 160) || repeat(' ', n % 2) AS s FROM (SELECT unnest(range(0, 2000)) AS n) t) u;

-- 15: §4.2 NULL divided by zero is NULL
SELECT NULL / 0 AS r;

-- 16: §4.2 NULL divided by zero is NULL
SELECT n / 0 AS a, n % 0 AS b FROM (VALUES (CAST(NULL AS BIGINT))) v(n);

-- 17: §4.2 NULL divided by zero is NULL, row by row
SELECT x / y / z AS a, (x + 1) % (y * 1) AS b FROM (VALUES (8, 2, 2), (NULL, 0, 0), (8, NULL, 0)) v(x, y, z) ORDER BY y;

-- 18: §4.2 groups without values
SELECT sum(x) / sum(y) AS a, sum(x) % 0 AS b, sum(x) / count(*) AS c FROM (SELECT 1 AS x, 0 AS y WHERE false) t;

-- 19: §4.2 a value divided by zero fails beside NULLs
SELECT n / 0 AS r FROM (VALUES (NULL), (1)) v(n);

-- 20: §4.2 groups with values
SELECT sum(x) / sum(y) AS r FROM (VALUES (1, 0)) v(x, y);

-- 21: §4.2 decimals
SELECT n / CAST(0 AS DECIMAL(5, 2)) AS r FROM (VALUES (CAST(NULL AS DECIMAL(5, 2)))) v(n);

-- 22: §4.2 decimals
SELECT CAST(1 AS DECIMAL(5, 2)) / CAST(0 AS DECIMAL(5, 2)) AS r;

-- 23: §4.2 decimals
SELECT CAST(1 AS DECIMAL(5, 2)) % CAST(0 AS DECIMAL(5, 2)) AS r;

-- 24: §4.2 the least integer
SELECT n % -1 AS a, n % m AS b FROM (VALUES (-9223372036854775808, -1), (7, -1)) v(n, m);

-- 25: §4.2 the least integer
SELECT n / -1 AS r FROM (VALUES (-9223372036854775808)) v(n);

-- 26: §5.4 the least integer
SELECT abs(-9223372036854775808) AS r;

-- 27: §4.1 a text out of range
SELECT '300'::TINYINT AS r;

-- 28: §4.1 a text out of range
SELECT s::INT UNSIGNED AS r FROM (VALUES ('-1')) v(s);

-- 29: §4.1 a text out of range
SELECT TRY_CAST('300' AS TINYINT) AS a, TRY_CAST(s AS BIGINT) AS b FROM (VALUES ('9223372036854775808')) v(s);

-- 30: §4.1 a text at the ends of the range
SELECT '-128'::TINYINT AS a, '18446744073709551615'::BIGINT UNSIGNED AS b, '-9223372036854775808'::BIGINT AS c;

-- 31: §4.1 booleans
SELECT 'x'::BOOLEAN AS r;

-- 32: §5.4 out of range
SELECT factorial(100) AS r;

-- 33: §5.4 out of range
SELECT factorial(-1) AS r;

-- 34: §5.5 a negative length
SELECT substr('abc', 0, -1) AS r;

-- 35: §5.3 no such month
SELECT make_date(2020, 13, 1) AS r;

-- 36: §5.3 no such day
SELECT make_date(2020, 1, 40) AS r;

-- 37: §5.7 lists of two lengths
SELECT array_distance([1, 2], [1]) AS r;

-- 38: §4.2 rows behind the first ones of an answer
SELECT 10 / (2500 - value) AS r FROM generate_series(1, 3000);

-- 39: §4.1 rows behind the first ones of an answer
SELECT CAST(CASE WHEN value = 2500 THEN 'x' ELSE CAST(value AS VARCHAR) END AS BIGINT) AS r FROM generate_series(1, 3000);

-- 40: §5.7 lists of two lengths
SELECT map(['a', 'b'], [1]) AS r;

-- 41: §4.5 a pattern that ends with a backslash
SELECT s ~ 'x\' AS r FROM (VALUES ('x')) v(s);

-- 42: §5.1 grouping of a column that is not in GROUP BY
SELECT grouping(h) FROM (VALUES (1)) t(h);

-- 43: §5.1 grouping of a column that is not in GROUP BY
SELECT grouping(h) FROM (VALUES (1, 2)) t(h, b) GROUP BY b;

-- 44: §5.8 frames
SELECT sum(h) OVER (RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM (VALUES (1)) t(h);

-- 45: §5.8 frames
SELECT sum(h) OVER (ORDER BY h ROWS BETWEEN UNBOUNDED FOLLOWING AND CURRENT ROW) FROM (VALUES (1)) t(h);

-- 46: §5.8 frames
SELECT sum(h) OVER (ORDER BY h ROWS BETWEEN CURRENT ROW AND UNBOUNDED PRECEDING) FROM (VALUES (1)) t(h);

-- 47: §5.8 frames
SELECT sum(h) OVER (ORDER BY h ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) FROM (VALUES (1)) t(h);

-- 48: §5.8 frames
SELECT sum(h) OVER (GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM (VALUES (1)) t(h);

-- 49: §5.8 frames without distances need no order
SELECT sum(h) OVER (RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS r FROM (VALUES (1), (2)) t(h);

-- 50: §5.7 a part of what is not a list
SELECT (struct(1))[1:2] AS r;

-- 51: §4.4 an interval that is NULL
SELECT (-NULL::INTERVAL) IS NULL AS a;

-- 52: §8 a form that DuckDB does not support: a lambda of a correlated subquery
SELECT ('a' IN (SELECT array_to_string(['a'], s, s) FROM (VALUES (1)) w(n))) AS r FROM (VALUES ('a')) v(s);

-- 53: §8 a form that DuckDB does not support: a subquery as the key of a frame by distance
SELECT rank() OVER (ORDER BY (SELECT max(n) FROM (VALUES (1)) w(n)) RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS r FROM (VALUES ('a')) v(s);

-- 54: time zones of texts have a bound: the rules of each are read by the main thread
SELECT max(CAST('2024-01-01 00:00 ' || 'Etc/Zone' || value AS TIMESTAMP)) AS r FROM generate_series(1, 100);

-- 55: §8 RANGE with a distance needs numbers or times; a text
SELECT rank() OVER (ORDER BY s RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS r FROM (VALUES ('a')) v(s);

-- 56: §8 a boolean
SELECT rank() OVER (ORDER BY b RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS r FROM (VALUES (true)) v(b);

-- 57: §8 an interval as the distance of numbers
SELECT sum(n) OVER (ORDER BY n RANGE BETWEEN INTERVAL '1 day' PRECEDING AND CURRENT ROW) AS r FROM (VALUES (1)) v(n);

-- 58: §8 an interval as the distance of dates
SELECT sum(n) OVER (ORDER BY d RANGE BETWEEN INTERVAL '1 day' PRECEDING AND CURRENT ROW) AS r FROM (VALUES (DATE '2024-01-01', 1), (DATE '2024-01-02', 2), (DATE '2024-01-04', 4)) v(d, n) ORDER BY d;

-- 59: §8 grouping as a window function
SELECT grouping(n) OVER (ORDER BY n) AS r FROM (VALUES (1)) v(n);

-- 60: §8 a distance of texts
SELECT array_distance(['a'], [1]) AS r;

-- 61: §4 a boolean as a decimal
SELECT CAST(true AS DECIMAL(5, 2)) AS r;

-- 62: §8 a form that DuckDB does not support: DISTINCT in another order
SELECT last_value(DISTINCT [n] ORDER BY n) AS r FROM (VALUES (1)) v(n);

-- 63: §5.3 make_date and decode of what may itself fail, or differs by row
SELECT make_date('1 day'::BIGINT, 1, 1) AS r;

-- 64: no such day
SELECT make_date(2023, 2, 29) AS r;

-- 65: decode of a random value
SELECT decode(replace(uuid(), '-', 'g'), 'hex') AS r;

-- 66: both, by row
SELECT make_date(2024 + n::BIGINT, 2, 29) AS d, decode('YW' || n || 'h', 'base64')::VARCHAR AS r FROM (VALUES ('0'), ('4'), (NULL)) v(n) ORDER BY n;

-- 67: aggregates over columns of an outer query alone, which DataFusion does not support either
SELECT (SELECT max(n) FROM (VALUES (1)) w(k)) AS r FROM (VALUES (1), (2)) v(n);

-- 68: as an operand beside a subquery
SELECT n AS r FROM (VALUES (1), (2)) v(n) WHERE n IN (SELECT sum(n + (SELECT n)) FROM (VALUES (1)) w(k));

-- 69: as a filter
SELECT n AS r FROM (VALUES (1), (2)) v(n) WHERE EXISTS (SELECT count(*) FILTER (WHERE n > 1) FROM (VALUES (1)) w(k));

-- 70: as an order
SELECT (SELECT array_agg(k ORDER BY n) FROM (VALUES (1)) w(k)) AS r FROM (VALUES (1), (2)) v(n);

-- 71: a column of its own level beside them
SELECT n, (SELECT max(n * k) FROM (VALUES (3), (4)) w(k)) AS a, (SELECT sum(k) FILTER (WHERE n > 1) FROM (VALUES (3), (4)) w(k)) AS b, (SELECT max(n + (SELECT min(k + i) FROM (VALUES (1)) x(i))) FROM (VALUES (3), (4)) w(k)) AS c FROM (VALUES (1), (2)) v(n) ORDER BY n;

-- 72: a step of nothing
SELECT array_slice(l, 1, 2, 0) AS r FROM (VALUES ([1, 2, 3])) v(l);
