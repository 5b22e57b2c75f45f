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
