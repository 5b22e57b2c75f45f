-- 1: §5.8 nth_value from the end
SELECT x, nth_value(x, -1) OVER (ORDER BY x) AS a, nth_value(x, -2) OVER (ORDER BY x) AS b, nth_value(x, -4) OVER (ORDER BY x) AS c FROM (VALUES (1), (2), (3)) t(x) ORDER BY x;

-- 2: §5.8 nth_value from the end
SELECT x, nth_value(x, -2) OVER (ORDER BY x ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS a, nth_value(x, -2) OVER (ORDER BY x DESC) AS b FROM (VALUES (1), (2), (3)) t(x) ORDER BY x;

-- 3: §5.8 nth_value from the end
SELECT x, nth_value(y, -1) OVER (ORDER BY x) AS a, nth_value(y, -1) IGNORE NULLS OVER (ORDER BY x) AS b, nth_value(y, -2) IGNORE NULLS OVER (ORDER BY x) AS c, nth_value(y, 2) IGNORE NULLS OVER (ORDER BY x) AS d FROM (VALUES (1, 10), (2, NULL), (3, 30), (4, NULL), (5, 50)) t(x, y) ORDER BY x;

-- 4: §5.8 nth_value from the end
SELECT x, nth_value(y, -1) OVER w AS a, nth_value(y, -2) OVER w AS b, nth_value(y, -1) IGNORE NULLS OVER w AS c, nth_value(y, 2) OVER w AS d FROM (VALUES (1, 10), (2, NULL), (3, 30), (4, NULL), (5, 50)) t(x, y) WINDOW w AS (ORDER BY x ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) ORDER BY x;

-- 5: §5.8 nth_value from the end
SELECT x, nth_value(y, -1) OVER (ORDER BY x ROWS BETWEEN 3 FOLLOWING AND 4 FOLLOWING) AS a, nth_value(y, -2) OVER (ORDER BY x ROWS BETWEEN 3 FOLLOWING AND 4 FOLLOWING) AS b FROM (VALUES (1, 10), (2, NULL), (3, 30), (4, NULL), (5, 50)) t(x, y) ORDER BY x;

-- 6: §5.8 nth_value from the end
SELECT x, nth_value(y, -1) OVER (PARTITION BY p ORDER BY x) AS a, nth_value(y, -2) OVER (PARTITION BY p ORDER BY x DESC) AS b FROM (VALUES ('a', 1, 10), ('b', 2, 20), ('a', 3, 30), ('b', 4, 40)) t(p, x, y) ORDER BY x;

-- 7: §5.8 nth_value from the end
SELECT x, nth_value(x, -1) OVER (ORDER BY g, x RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS a, nth_value(x, -3) OVER (ORDER BY g, x GROUPS BETWEEN 2 PRECEDING AND CURRENT ROW) AS b FROM (VALUES (1, 1), (2, 1), (3, 2)) t(x, g) ORDER BY x;

-- 8: §5.8 nth_value from the end
SELECT x, nth_value(x, -2) OVER (ORDER BY y NULLS FIRST) AS a, nth_value(x, -2) OVER (ORDER BY y NULLS LAST) AS b FROM (VALUES (1, 10), (2, NULL), (3, 30)) t(x, y) ORDER BY x;

-- 9: §5.8 nth_value from the end
SELECT nth_value(x, NULL) OVER (ORDER BY x) AS a, nth_value(x, 0) OVER (ORDER BY x) AS b FROM (VALUES (1), (2)) t(x);

-- 10: §5.8 nth_value from the end
SELECT nth_value(x, -1 ORDER BY x) AS a, nth_value(x, -2 ORDER BY x DESC) AS b, nth_value(x, -1 ORDER BY x) FILTER (WHERE x < 3) AS c FROM (VALUES (1), (2), (3)) t(x);

-- 11: §5.8 nth_value from the end
SELECT nth_value(x, 1.5) OVER (ORDER BY x) AS r FROM (VALUES (1), (2)) t(x);

-- 12: §5.8 nth_value from the end
SELECT nth_value(x, -2) OVER () AS r FROM (VALUES (1), (2)) t(x);

-- 13: §5.8 nth_value from the end
SELECT nth_value(x, -1) FILTER (WHERE x < 3) OVER (ORDER BY x) AS r FROM (VALUES (1), (2)) t(x);

-- 14: §5.8 nth_value from the end
SELECT rank() FILTER (WHERE x < 3) OVER (ORDER BY x) AS r FROM (VALUES (1), (2)) t(x);
