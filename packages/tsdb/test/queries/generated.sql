-- 1: §4.3 intervals follow the wall clock of a zone
SELECT (TIMESTAMP '2024-03-09T12:00:00' AT TIME ZONE 'America/New_York') + INTERVAL '1 day' AS a, (TIMESTAMP '2024-03-09T12:00:00' AT TIME ZONE 'America/New_York') + INTERVAL '24 hours' AS b, (TIMESTAMP '2024-03-09T12:00:00' AT TIME ZONE '+02:00') + INTERVAL '1 month' AS c;

-- 2: §4.3 intervals follow the wall clock of a zone
SELECT t + INTERVAL '1 month' AS a, t - INTERVAL '1 day' AS b, t + INTERVAL '1 month 1 day 1 hour' AS c, t + INTERVAL '10 seconds' AS d FROM (VALUES (TIMESTAMP '2024-02-09T12:00:00' AT TIME ZONE 'America/New_York'), (TIMESTAMP '2024-03-10T12:00:00' AT TIME ZONE 'America/New_York')) x(t) ORDER BY t;

-- 3: §4.3 intervals follow the wall clock of a zone
SELECT t + i AS a, t - i AS b FROM (VALUES (TIMESTAMP '2024-02-09T12:00:00' AT TIME ZONE 'America/New_York', INTERVAL '1 month 1 day 1 hour'), (TIMESTAMP '2024-03-09T12:00:00' AT TIME ZONE 'America/New_York', INTERVAL '1 day')) x(t, i) ORDER BY t;

-- 4: §4.3 intervals follow the wall clock of a zone
SELECT t + i AS r FROM (VALUES (TIMESTAMP '2024-01-31T12:00:00.000000001', INTERVAL '1 month 1 day 1 hour'), (TIMESTAMP '2024-03-09T12:00:00', NULL)) x(t, i) ORDER BY t;

-- 5: §4.4 intervals of rows
SELECT i + INTERVAL '1 day' AS a, INTERVAL '1 day' - i AS b, i + j AS c FROM (VALUES (INTERVAL '1 month 3 hours', INTERVAL '2 days'), (NULL, INTERVAL '1 day')) t(i, j) ORDER BY i IS NULL;

-- 6: §4.4 intervals of rows
SELECT CASE WHEN x > 1 THEN INTERVAL '10 seconds' ELSE t - TIMESTAMP '2024-01-01' END AS r FROM (VALUES (1, NULL::TIMESTAMP), (1, TIMESTAMP '2024-01-02'), (2, NULL)) v(x, t) ORDER BY x, t;

-- 7: §4.5 conditions of CASE and FILTER
SELECT CASE WHEN 1 THEN 'a' ELSE 'b' END AS a, CASE WHEN 0.0 THEN 1 ELSE 2 END AS b, CASE WHEN 'true' THEN 1 ELSE 2 END AS c, CASE WHEN x THEN 1 ELSE 2 END AS d FROM (VALUES (0), (5), (NULL)) t(x) ORDER BY x;

-- 8: §4.5 conditions of CASE and FILTER
SELECT count(*) FILTER (WHERE 1) AS a, count(*) FILTER (WHERE x) AS b, sum(x) FILTER (WHERE s) AS c FROM (VALUES (0, 't'), (5, 'f'), (7, 'yes')) t(x, s);

-- 9: §4.5 conditions of CASE and FILTER
SELECT 1 AS r WHERE 1;

-- 10: §4.1 casts that are tried
SELECT n, TRY_CAST(n AS BIGINT UNSIGNED) AS a, TRY_CAST(n AS TINYINT) AS b, TRY_CAST(n AS INT) AS c, TRY_CAST(n AS DOUBLE) AS d FROM (VALUES ('-7'), ('300'), ('3000000000'), ('x'), (NULL)) t(n) ORDER BY n;

-- 11: §4.2 dates beside integers
SELECT d = 19000 AS a, d > i AS b, greatest(d, 19001) AS c FROM (VALUES (DATE '2022-01-08', 20000), (NULL, 1)) t(d, i) ORDER BY d;

-- 12: §5.4 powers of NULL
SELECT power(x, 0) AS r FROM (VALUES (CAST(NULL AS DOUBLE)), (2.0)) t(x) ORDER BY r;

-- 13: §5.4 powers of NULL
SELECT CAST(power(x, 0) AS DOUBLE) AS a, CAST(power(x, 2) AS DOUBLE) AS b, CAST(power(2, x) AS DOUBLE) AS c FROM (VALUES (NULL), (3)) t(x) ORDER BY a;

-- 14: §5.7 distances of lists with NULL
SELECT array_distance(make_array(f, g), make_array(1.5, 2.5)) AS r FROM (VALUES (1.0, NULL), (1.0, 2.0)) t(f, g) ORDER BY r;

-- 15: §5.7 distances of lists with NULL
SELECT array_distance(make_array(1.0, 2.0, 3.0), make_array(1.5, 2.5)) AS r;

-- 16: §5.1 statistics of pairs without spread
SELECT regr_r2(x, y) AS a, regr_r2(y, x) AS b, regr_r2(y, y) AS c, corr(x, y) AS d FROM (VALUES (1, 1), (1, 2), (1, 3)) t(x, y);

-- 17: §5.1 statistics of pairs without spread
SELECT corr(x, y) AS a, covar_pop(x, y) AS b, regr_slope(x, y) AS c FROM (VALUES (acos(2.0), 2), (3.0, 5)) t(x, y);

-- 18: §3.1 types of set operations
SELECT a, arrow_typeof(a) AS t FROM (SELECT 1 AS a INTERSECT SELECT 1.0) UNION ALL SELECT a, arrow_typeof(a) FROM (SELECT 2 AS a EXCEPT SELECT 1.5) ORDER BY a;

-- 19: §3.1 types of set operations
SELECT a, arrow_typeof(a) AS t FROM (SELECT arrow_cast(18446744073709551615, 'UInt64') AS a EXCEPT SELECT -1);

-- 20: §5.7 maps of pairs
SELECT map_keys(map('k', 1, 'l', 2)) AS a, map_values(map('k', 1, 'l', 2)) AS b, map_values(map(1, 'a')) AS c, map_values(map('k', make_array(1, 2))) AS d, map_keys(map(make_array('x', 'y'), make_array(1, 2))) AS e;

-- 21: §5.7 maps of pairs
SELECT map_values(map(s, x)) AS r FROM (VALUES ('a', 1), ('b', NULL)) t(s, x) ORDER BY s;

-- 22: §5.7 maps of pairs
SELECT map('k', 1, 'l') AS r;

-- 23: §3.1 rows of INTERSECT and EXCEPT stay as they are
SELECT a FROM (SELECT * FROM (VALUES ('2024-01-01'), ('2024-01-02'), (NULL)) t(a) EXCEPT SELECT TIMESTAMP '2024-01-02') ORDER BY a;

-- 24: §3.1 rows of INTERSECT and EXCEPT stay as they are
SELECT a FROM (SELECT TIMESTAMP '2024-01-01' AS a EXCEPT SELECT TIMESTAMP '2024-03-10' AT TIME ZONE 'America/New_York');

-- 25: §3.1 rows of INTERSECT and EXCEPT stay as they are
SELECT a FROM (SELECT * FROM (VALUES (1), (2), (2), (NULL)) t(a) INTERSECT SELECT * FROM (VALUES (2.0), (NULL)) u(b)) ORDER BY a;

-- 26: §3.1 rows of INTERSECT and EXCEPT stay as they are
SELECT a FROM (SELECT 9007199254740993 AS a EXCEPT SELECT 1.5);

-- 27: §3.1 rows of INTERSECT and EXCEPT stay as they are
SELECT a, b FROM (SELECT * FROM (VALUES (1, 'x'), (2, 'y')) t(a, b) EXCEPT SELECT 2.0, 'y');

-- 28: §3.1 rows of INTERSECT and EXCEPT stay as they are
SELECT a FROM (SELECT * FROM (VALUES (1), (2), (2), (2), (NULL)) t(a) INTERSECT ALL SELECT * FROM (VALUES (2.0), (2.0), (NULL), (NULL)) u(b)) ORDER BY a;

-- 29: §3.1 rows of INTERSECT and EXCEPT stay as they are
SELECT a FROM (SELECT * FROM (VALUES (1), (2), (2), (2), (NULL)) t(a) EXCEPT ALL SELECT * FROM (VALUES (2.0), (2.0), (NULL), (NULL)) u(b)) ORDER BY a;

-- 30: §5.4 functions of Float32
SELECT arrow_typeof(round(x, 1)) AS a, arrow_typeof(trunc(x)) AS b, arrow_typeof(log(2, x)) AS c, arrow_typeof(atan2(x, x)) AS d, arrow_typeof(atan2(x, 1.5)) AS e, arrow_typeof(nanvl(x, x)) AS f, arrow_typeof(sqrt(x)) AS g, arrow_typeof(power(x, x)) AS h FROM (VALUES (arrow_cast(1.5, 'Float32'))) t(x);

-- 31: §5.4 functions of Float32
SELECT ceil(x) AS a, floor(x) AS b, round(x, 1) AS c, signum(x) AS d, sqrt(x) AS e FROM (VALUES (arrow_cast(2.25, 'Float32')), (NULL)) t(x) ORDER BY x;

-- 32: §5.4 functions of Float32
SELECT log(100) AS a, log(2, 8) AS c, log(3, 9) AS d;

-- 33: §5.5 intervals as texts
SELECT concat('x', INTERVAL '1 year 2 months 3 days') AS a, length(INTERVAL '1.5 months') AS b, concat_ws('-', 1, INTERVAL '90 minutes') AS c, reverse(i) AS d FROM (VALUES (INTERVAL '1 day'), (NULL)) t(i) ORDER BY d;
