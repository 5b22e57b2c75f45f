-- 1: §4.1 common types
SELECT coalesce(x, '-1') AS r FROM (VALUES (1), (NULL)) t(x) ORDER BY r;

-- 2: §4.1 common types
SELECT coalesce(s, 7) AS r FROM (VALUES ('3'), (NULL)) t(s) ORDER BY r;

-- 3: §4.1 common types
SELECT coalesce(x, '2.5') AS a, arrow_typeof(coalesce(x, '2.5')) AS b FROM (VALUES (1.5), (NULL)) t(x) ORDER BY a;

-- 4: §4.1 common types
SELECT coalesce(NULL, 1, '2') AS a, coalesce(NULL, '1', 2.5) AS b, greatest(1, '2') AS c, least(DATE '2024-01-02', '2024-01-01') AS d;

-- 5: §4.1 common types
SELECT x FROM (VALUES (1), ('2')) t(x) ORDER BY x;

-- 6: §4.1 common types
SELECT CASE WHEN x > 1 THEN x ELSE 'none' END AS r FROM (VALUES (1), (2)) t(x) ORDER BY x;

-- 7: §4.1 common types
SELECT 1 AS r UNION ALL SELECT 'a' ORDER BY r;

-- 8: §4.1 common types
SELECT DATE '2024-01-01' AS r UNION ALL SELECT '2024-01-02' ORDER BY r;

-- 9: §4.1 common types
SELECT coalesce(arrow_cast(NULL, 'Int64'), arrow_cast(18446744073709551615, 'UInt64')) AS r;

-- 10: §4.1 common types
SELECT greatest(arrow_cast(1, 'Int64'), arrow_cast(18446744073709551615, 'UInt64')) AS a, least(arrow_cast(-1, 'Int64'), arrow_cast(18446744073709551615, 'UInt64')) AS b;

-- 11: §4.1 common types
SELECT coalesce(TIMESTAMP '2024-01-01', DATE '2024-01-02') AS a, coalesce(DATE '2024-01-02', TIMESTAMP '2024-01-01') AS b, nullif(DATE '2024-01-02', '2024-01-02') AS c;

-- 12: §4.1 common types
SELECT coalesce(INTERVAL '1 day', TIMESTAMP '2024-01-02' - TIMESTAMP '2024-01-01') AS a, greatest(NULL, INTERVAL '1 day') AS b;

-- 13: §4.1 common types
SELECT nullif(1, '1') AS a, nullif(1, 1.5) AS b, nullif('1', 2) AS c, nullif(NULL, 2) AS d;

-- 14: §4.1 common types
SELECT coalesce(s, 7) AS r FROM (VALUES ('a'), (NULL)) t(s);

-- 15: §4.1 common types
SELECT CASE WHEN true THEN make_array(1) ELSE make_array('a') END AS r;

-- 16: §4.1 common types
SELECT x::TIME AS a FROM (VALUES ('01:02:03.123456789'), (NULL), ('23:59')) t(x) ORDER BY a;

-- 17: §4.1 common types
SELECT x::TIME AS a FROM (VALUES ('25:00:00')) t(x);
