-- write
-- a,k=x v=1i 1
-- a,k=y v=2i 2
-- a,k=z v=3i 3
-- b,k=x w=10i 1
-- b,k=x w=11i 2
-- b,k=q w=12i 3

-- 1: §3.1 joins
SELECT a.k, a.v, b.w FROM a JOIN b ON a.k = b.k ORDER BY b.w;

-- 2: §3.1 joins
SELECT a.k, b.w FROM a LEFT JOIN b ON a.k = b.k ORDER BY a.k, b.w;

-- 3: §3.1 joins
SELECT a.v, b.k FROM a RIGHT JOIN b ON a.k = b.k ORDER BY b.w;

-- 4: §3.1 joins
SELECT a.v, b.w FROM a FULL OUTER JOIN b ON a.k = b.k ORDER BY a.v, b.w;

-- 5: §3.1 joins
SELECT a.k FROM a LEFT SEMI JOIN b ON a.k = b.k;

-- 6: §3.1 joins
SELECT a.k FROM a LEFT ANTI JOIN b ON a.k = b.k ORDER BY a.k;

-- 7: §3.1 joins
SELECT count(*) AS c FROM a CROSS JOIN b;

-- 8: §3.1 joins
SELECT count(*) AS c FROM a, b WHERE a.k = b.k;

-- 9: §3.1 joins
SELECT v, w FROM a JOIN b USING (k) ORDER BY w;

-- 10: §3.1 joins
SELECT p.v AS p, q.v AS q FROM a AS p JOIN a AS q ON p.v < q.v ORDER BY p, q;

-- 11: §3.1 subqueries
SELECT k FROM a WHERE k IN (SELECT k FROM b) ORDER BY k;

-- 12: §3.1 subqueries
SELECT k FROM a WHERE k NOT IN (SELECT k FROM b) ORDER BY k;

-- 13: §3.1 subqueries
SELECT k FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k);

-- 14: §3.1 subqueries
SELECT k, (SELECT max(w) FROM b WHERE b.k = a.k) AS m FROM a ORDER BY k;

-- 15: §3.1 subqueries
SELECT (SELECT max(v) FROM a) AS m;

-- 16: §3.1 subqueries
SELECT s FROM (SELECT v * 10 AS s FROM a) ORDER BY s DESC LIMIT 2;

-- 17: §3.1 subqueries
WITH t AS (SELECT v + 1 AS n FROM a), u AS (SELECT n FROM t WHERE n > 2) SELECT n FROM u ORDER BY n;

-- 18: §3.1 subqueries
WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 4) SELECT sum(n) AS s FROM t;

-- 19: §3.1 subqueries
WITH t(p, q) AS (VALUES (1, 'a'), (2, 'b')) SELECT q FROM t WHERE p = 2;

-- 20: §3.1 set operations
SELECT v AS n FROM a UNION SELECT 3 ORDER BY n;

-- 21: §3.1 set operations
SELECT v AS n FROM a UNION ALL SELECT 3 ORDER BY n;

-- 22: §3.1 set operations
SELECT v AS n FROM a INTERSECT SELECT 2;

-- 23: §3.1 set operations
SELECT v AS n FROM a EXCEPT SELECT 2 ORDER BY n;

-- 24: §3.1 set operations
SELECT 1 AS n UNION ALL SELECT 2.5 ORDER BY n;

-- 25: §3.1 set operations
SELECT 1, 2 UNION SELECT 1;

-- 26: §3.1 values, distinct, limit, order
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(x, y) ORDER BY x;

-- 27: §3.1 values, distinct, limit, order
SELECT DISTINCT k FROM b ORDER BY k;

-- 28: §3.1 values, distinct, limit, order
SELECT DISTINCT ON (k) k, w FROM b ORDER BY k, w DESC;

-- 29: §3.1 values, distinct, limit, order
SELECT v FROM a ORDER BY v DESC LIMIT 1 OFFSET 1;

-- 30: §3.1 values, distinct, limit, order
SELECT v FROM a LIMIT 0;

-- 31: §3.1 values, distinct, limit, order
SELECT v FROM a ORDER BY v LIMIT -1;

-- 32: §3.1 values, distinct, limit, order
SELECT x FROM (VALUES (2), (NULL), (1)) AS t(x) ORDER BY x;

-- 33: §3.1 values, distinct, limit, order
SELECT x FROM (VALUES (2), (NULL), (1)) AS t(x) ORDER BY x DESC;

-- 34: §3.1 values, distinct, limit, order
SELECT x FROM (VALUES (2), (NULL), (1)) AS t(x) ORDER BY x NULLS FIRST;

-- 35: §3.1 values, distinct, limit, order
SELECT x FROM (VALUES (2), (NULL), (1)) AS t(x) ORDER BY x DESC NULLS LAST;

-- 36: §3.1 values, distinct, limit, order
SELECT x FROM (VALUES (1.0), (CAST('NaN' AS DOUBLE)), (CAST('inf' AS DOUBLE)), (-1.0)) AS t(x) ORDER BY x;

-- 37: §3.1 values, distinct, limit, order
SELECT * EXCEPT (time) FROM a ORDER BY v LIMIT 1;

-- 38: §3.1 values, distinct, limit, order
SELECT * EXCLUDE (time, k) FROM a ORDER BY v LIMIT 1;

-- 39: §3.1 values, distinct, limit, order
SELECT * REPLACE (v * 100 AS v) FROM a ORDER BY time LIMIT 1;

-- 40: §3.1 values, distinct, limit, order
SELECT a.* FROM a ORDER BY v LIMIT 1;

-- 41: §3.1 values, distinct, limit, order
SELECT v AS x, v AS x FROM a;

-- 42: §3.1 values, distinct, limit, order
SELECT unnest(make_array(1, 2)) AS u;

-- 43: §3.1 values, distinct, limit, order
SELECT v FROM a WHERE v > 1 AND k <> 'z';

-- 44: §3.1 values, distinct, limit, order
SELECT v, CASE WHEN v > 1 THEN 'big' ELSE 'small' END AS s FROM a ORDER BY v;

-- 45: §5.8 window functions
SELECT v, row_number() OVER (ORDER BY v DESC) AS r FROM a ORDER BY v;

-- 46: §5.8 window functions
SELECT w, rank() OVER (ORDER BY k) AS r, dense_rank() OVER (ORDER BY k) AS d
FROM b ORDER BY w;

-- 47: §5.8 window functions
SELECT w, percent_rank() OVER (ORDER BY w) AS p, round(cume_dist() OVER (ORDER BY w), 4) AS c
FROM b ORDER BY w;

-- 48: §5.8 window functions
SELECT v, ntile(2) OVER (ORDER BY v) AS n FROM a ORDER BY v;

-- 49: §5.8 window functions
SELECT v, lag(v) OVER (ORDER BY v) AS p, lead(v, 1, 99) OVER (ORDER BY v) AS n
FROM a ORDER BY v;

-- 50: §5.8 window functions
SELECT v, sum(v) OVER (ORDER BY v) AS s, sum(v) OVER () AS t FROM a ORDER BY v;

-- 51: §5.8 window functions
SELECT v, avg(v) OVER (ORDER BY v ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS m
FROM a ORDER BY v;

-- 52: §5.8 window functions
SELECT w, first_value(w) OVER (PARTITION BY k ORDER BY w) AS f, last_value(w) OVER (PARTITION BY k ORDER BY w ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS l
FROM b ORDER BY w;

-- 53: §5.8 window functions
SELECT v, nth_value(v, 2) OVER (ORDER BY v ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS n
FROM a ORDER BY v;

-- 54: §5.8 window functions
SELECT v, sum(v) OVER w AS s FROM a WINDOW w AS (ORDER BY v DESC) ORDER BY v;

-- 55: §5.8 window functions
SELECT k FROM b QUALIFY row_number() OVER (PARTITION BY k ORDER BY w) = 1 ORDER BY k;

-- 56: §5.8 window functions
SELECT v, difference(v) OVER (ORDER BY time) AS d FROM a ORDER BY v;

-- 57: §5.8 window functions
SELECT v, derivative(v, INTERVAL '1 nanosecond', time) OVER (ORDER BY time) AS d
FROM a ORDER BY v;

-- 58: §5.8 window functions
SELECT v, non_negative_difference(v) OVER (ORDER BY time DESC) AS d FROM a ORDER BY v;

-- 59: §5.8 window functions
SELECT row_number() AS r FROM a;

-- 60: §5.7 series as tables
SELECT * FROM range(1, 7, 2);

-- 61: §5.7 series as tables
SELECT value FROM generate_series(3, 1, -1);

-- 62: §5.7 series as tables
SELECT count(*) AS c FROM generate_series(1, 5000000);
