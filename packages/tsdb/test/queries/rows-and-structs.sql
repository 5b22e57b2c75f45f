-- write
-- t,h=a v=1 1
-- t,h=b v=2.5 2

-- 1: §4.5 rows
SELECT (a, b) = (1, 'x') AS a, (a, b) <> (1, 'x') AS b, (a, b) < (1, 'y') AS c, (a, b) >= (1, 'x') AS d FROM (VALUES (1, 'x'), (2, 'x'), (NULL, 'x'), (0, 'z')) v(a, b);

-- 2: §4.5 rows
SELECT a, b FROM (VALUES (1, 'x'), (2, 'y'), (2, 'x'), (NULL, 'x')) v(a, b) WHERE (a, b) IN ((1, 'x'), (2, 'y'));

-- 3: §4.5 rows
SELECT (a, b) NOT IN ((1, 'x'), (2, 'y')) AS r FROM (VALUES (1, 'x'), (2, 'x'), (NULL, 'x')) v(a, b);

-- 4: §4.5 rows of several types
SELECT (1, 2.5) = (1.0, 2) AS a, (1, 2) IN ((1, 2.0)) AS b, (1, 2) = ('1', '2') AS c, (1, 2) > (1, NULL) AS d, (1, 2) < (1, NULL) AS e;

-- 5: §4.5 rows with NULL
SELECT (1, NULL) = (1, NULL) AS a, (1, NULL) = (2, NULL) AS b, (1, NULL) <= (1, NULL) AS c, (1, NULL) IS DISTINCT FROM (1, NULL) AS d, (1, 2) = NULL AS e;

-- 6: §4.5 rows between others
SELECT (1, 'x') BETWEEN (0, 'a') AND (2, 'a') AS a, (2, 'x') BETWEEN (0, 'a') AND (2, 'a') AS b;

-- 7: §4.5 fields of structs are compared by name
SELECT named_struct('a', 1, 'b', 2) = named_struct('b', 1, 'a', 2) AS a, named_struct('a', 1) = named_struct('a', 1.0) AS b;

-- 8: §4.5 rows of two lengths
SELECT (1, 2) = (1, 2, 3) AS r;

-- 9: §4.5 rows against columns of a table
SELECT h FROM t WHERE (h, v) = ('a', 1);

-- 10: §4.5 rows against columns of a table
SELECT h FROM t WHERE (h, v) IN (('a', 1), ('b', 2.5), ('c', 9)) ORDER BY h;

-- 11: §4.5 rows against columns of a table
SELECT h FROM t WHERE (h, time) = ('b', '1970-01-01T00:00:00.000000002Z');

-- 12: §5.7 a struct with names
SELECT struct(a AS x, b) AS r FROM (VALUES (1, 2)) t(a, b);

-- 13: §5.7 a struct with names
SELECT struct(a AS "X", struct(b AS y) AS z)['z'] AS r FROM (VALUES (1, 2)) t(a, b);

-- 14: §5.7 a struct with names
SELECT struct(max(a) + 1 AS x)['x'] AS r FROM (VALUES (1), (2)) t(a);

-- 15: §5.7 a struct with names
SELECT struct(1 AS x, 2);

-- 16: §5.7 a struct with duplicate field names that differ only in case
SELECT struct(1 AS x, 2 AS "X");

-- 17: §5.7 a struct with types
SELECT STRUCT<x INT>(1) AS r;

-- 18: §5.7 a map of one key
SELECT map('a', 1) AS a, map(1, [2]) AS b;

-- 19: §5.7 unnest of a struct
SELECT unnest(s) FROM (SELECT named_struct('a', n, 'b', 'x') AS s FROM (VALUES (1), (2)) v(n)) t;

-- 20: §5.7 unnest of a struct
SELECT unnest(named_struct('a', 1, 'b', [1, 2])) AS z, 5 AS c;

-- 21: §5.7 unnest of a struct and of a list
SELECT unnest(named_struct('a', 1)), unnest([1, 2]) AS l;

-- 22: §5.7 unnest of a struct
SELECT unnest(max(s)) FROM (SELECT named_struct('a', n) AS s FROM (VALUES (1), (2)) v(n)) t;

-- 23: §5.7 unnest of a struct
SELECT "t.s.a" AS r FROM (SELECT unnest(s) FROM (SELECT named_struct('a', 1) AS s) t) u;

-- 24: §5.7 unnest of structs in FROM
SELECT * FROM unnest(named_struct('a', 1, 'b', 2), [1, 2]);

-- 25: §5.7 unnest of structs in FROM
SELECT x + y AS r FROM unnest(named_struct('a', 1, 'b', 2)) AS t(x, y);

-- 26: §5.7 unnest of a struct is no value
SELECT unnest(s) + 1 FROM (SELECT named_struct('a', 1) AS s) t;

-- 27: §5.7 unnest of lists of lists
SELECT unnest(unnest([[1], [2, 3]])) AS r;

-- 28: §3.1 UNION BY NAME
SELECT * FROM (SELECT 1 AS a, 2 AS b UNION ALL BY NAME SELECT 3 AS b, 4 AS c) t ORDER BY b;

-- 29: §3.1 UNION BY NAME
SELECT 1 AS a, 2 AS b UNION BY NAME SELECT 2 AS b, 1 AS a;

-- 30: §3.1 UNION BY NAME
SELECT 1 AS a, 2 AS b UNION DISTINCT BY NAME SELECT 2 AS b, 1 AS a;

-- 31: §3.1 UNION BY NAME
SELECT 1 AS a, 2 AS b UNION ALL BY NAME SELECT 3.5 AS a UNION ALL BY NAME SELECT 9 AS "A" ORDER BY a;

-- 32: §3.1 UNION BY NAME
SELECT 1 AS a UNION ALL BY NAME SELECT true AS a;

-- 33: §3.1 UNION BY NAME
SELECT t.x, u.x FROM (VALUES (1)) t(x), (VALUES (2)) u(x) UNION ALL BY NAME SELECT 1 AS x;

-- 34: §3.1 the other set operators have no names
SELECT 1 AS a INTERSECT BY NAME SELECT 1 AS a;

-- 35: §3.1 the other set operators have no names
SELECT 1 AS a EXCEPT BY NAME SELECT 1 AS a;

-- 36: §3.1 LIMIT of constants
SELECT column1 AS r FROM (VALUES (1), (2), (3)) ORDER BY 1 LIMIT abs(-2);

-- 37: §3.1 LIMIT of constants
SELECT column1 AS r FROM (VALUES (1), (2), (3)) ORDER BY 1 LIMIT CASE WHEN true THEN 2 ELSE 1 END OFFSET 4 / 4;

-- 38: §3.1 LIMIT of constants
SELECT column1 AS r FROM (VALUES (1), (2), (3)) ORDER BY 1 LIMIT length('ab') OFFSET 5 % 3;

-- 39: §3.1 LIMIT of constants
SELECT h AS r FROM t ORDER BY time LIMIT greatest(1, 2);

-- 40: §3.1 LIMIT of constants
SELECT column1 AS r FROM (VALUES (1), (2), (3)) LIMIT abs(1) - 2;

-- 41: §3.1 LIMIT of constants
SELECT column1 AS r FROM (VALUES (1), (2), (3)) LIMIT 1.5;

-- 42: §3.1 LIMIT of constants
SELECT column1 AS r FROM (VALUES (1), (2), (3)) LIMIT (SELECT 2);

-- 43: §3.1 LIMIT of constants
SELECT column1 AS r FROM (VALUES (1), (2), (3)) LIMIT 1 / 0;

-- 44: §3.1 ORDER BY a constant
SELECT column1 AS r FROM (VALUES (2), (1)) ORDER BY 'x', column1;

-- 45: §3.1 ORDER BY a constant
SELECT DISTINCT ON ('x') column1 AS r FROM (VALUES (1)) ORDER BY 'x';

-- 46: §3.1 LIMIT of constants, one of which is a keyword
SELECT column1 AS r FROM (VALUES (1), (2), (3), (4), (5), (6), (7)) LIMIT length('SELECT') - 4;

-- 47: §3.1 OFFSET of constants, one of which is a keyword
SELECT column1 AS r FROM (VALUES (1), (2), (3), (4), (5), (6), (7)) OFFSET length('SELECT');

-- 48: §3.1 LIMIT of a subquery within an expression
SELECT column1 AS r FROM (VALUES (1), (2), (3)) LIMIT 1 + (SELECT 1);

-- 49: §5.7 unnest of unnest of unnest
SELECT unnest(unnest(unnest([[[1, 2]], [[3]]]))) AS r;

-- 50: §5.7 unnest of unnest within an expression
SELECT unnest(unnest([[1], [2]])) + 1 AS r;

-- 51: §4.2 NULL is the least value of a row within a row
SELECT ((1, NULL), 1) < ((1, 2), 1) AS a, struct(struct(1, NULL), 1) > struct(struct(1, 2), 1) AS b, struct(struct(1, 3), 1) <= struct(struct(1, 2), 1) AS c;

-- 52: §4.2 NULL is the least value of a row within a row, row by row
SELECT struct(a, 1) < struct(b, 1) AS r FROM (VALUES (struct(1, CAST(NULL AS BIGINT)), struct(1, 2)), (struct(CAST(NULL AS BIGINT), 5), struct(1, 2))) v(a, b);

-- 53: §4.2 NULL is the least value of a list, also within a row
SELECT make_array(1, NULL) < make_array(1, 2) AS a, struct(make_array(1, NULL), 1) < struct(make_array(1, 2), 1) AS b;

-- 54: §5 an element of a list at a position that is NULL
SELECT ([[1],[2]])[NULL] AS r FROM generate_series(1, 2);

-- 55: §5.7 a struct field with an empty name
SELECT max(named_struct('', 1, 'a', 2)) AS r;

-- 56: §5.7 a struct field with an empty name
SELECT struct(h AS "") AS r FROM t;
