-- write
-- m,t=a f=1.5,i=3i,s="héllo wörld" 1700000000123456789
-- m,t=b f=-2.5,i=-7i,s="a,b,c" 1711846800000000000
-- m f=100,s="2023-01-02" 1729990800000000000
-- m,t=c i=5i,u=7u,b=true -1
-- dst,k=x v=1 1711836000000000000
-- dst,k=x v=2 1711843200000000000
-- dst,k=x v=4 1729983600000000000
-- dst,k=x v=8 1729987200000000000
-- dst,k=x v=16 1729990800000000000

-- 1: §5.5 strings of columns
SELECT t, lower(s) AS a, initcap(s) AS b, left(s, i) AS c, split_part(s, ',', 2) AS d, levenshtein(s, 'héllo') AS e
FROM m ORDER BY time;

-- 2: §5.5 strings of columns
SELECT t, substr(s, i) AS a, repeat(t, i) AS b, lpad(s, i, t) AS c, char_length(s) AS d, octet_length(s) AS e
FROM m ORDER BY time;

-- 3: §5.5 strings of columns
SELECT t, concat(t, '-', i) AS a, t || '-' AS b, concat_ws('/', t, s) AS c
FROM m ORDER BY time;

-- 4: §5.5 strings of columns
SELECT md5(s) AS a FROM m WHERE t = 'a';

-- 5: §5.6 regular expressions of columns
SELECT t, regexp_count(s, '[a-z]') AS a, regexp_match(s, '(.),(.)') AS b, regexp_replace(s, t, 'X') AS c
FROM m ORDER BY time;

-- 6: §5.6 regular expressions of columns
SELECT t FROM m WHERE s ~ '^[a-z],' OR regexp_like(s, 'WÖRLD', 'i') ORDER BY t;

-- 7: §5.4 numbers of columns
SELECT t, ln(f) AS a, sqrt(f) AS b, round(f) AS c, power(i, 2) AS d, abs(i) AS e, i / 2 AS g, i % 3 AS h, gcd(i, 6) AS j
FROM m ORDER BY time;

-- 8: §5.4 numbers of columns
SELECT t, f + i AS a, f * 2 AS b, i * 1.5 AS c, -i AS d, f / 0 AS e FROM m ORDER BY time;

-- 9: §5.7 conditionals and lists of columns
SELECT coalesce(u, i) AS a, greatest(f, i) AS b, least(f, i) AS c, nullif(i, 5) AS d, nvl2(u, 1, 2) AS e
FROM m ORDER BY time;

-- 10: §5.7 conditionals and lists of columns
SELECT make_array(i, u) AS a, named_struct('x', f, 'y', t) AS b, array_append(make_array(i), 1) AS c
FROM m ORDER BY time;

-- 11: §5.7 conditionals and lists of columns
SELECT array_sort(array_agg(i)) AS a, array_to_string(array_agg(f ORDER BY time), ';') AS b
FROM m;

-- 12: §5.7 conditionals and lists of columns
SELECT unnest(string_to_array(s, ',')) AS p FROM m WHERE t = 'b';

-- 13: §5.7 conditionals and lists of columns
SELECT t, f IS NULL AS a, b IS TRUE AS c, i BETWEEN 0 AND 4 AS d FROM m ORDER BY time;

-- 14: §5.3 time of columns
SELECT time, date_part('nanosecond', time) AS n, date_part('dow', time) AS d, date_trunc('day', time) AS tr, to_char(time, '%Y%m%d %H%M%S%.f') AS c
FROM m ORDER BY time;

-- 15: §5.3 time of columns
SELECT date_bin(INTERVAL '1 month', time) AS bin, count(*) AS c
FROM m
GROUP BY bin ORDER BY bin;

-- 16: §5.3 time of columns
SELECT time + INTERVAL '1 month' AS n FROM m WHERE t = 'b';

-- 17: §5.3 time of columns
SELECT max(time) - min(time) > INTERVAL '1 day' AS d FROM m;

-- 18: §5.3 time of columns
SELECT date_bin_wallclock(INTERVAL '1 hour', tz(time, 'Europe/Berlin')) AS h, sum(v) AS s
FROM dst
GROUP BY h ORDER BY h;

-- 19: §5.3 time of columns
SELECT date_bin_wallclock(INTERVAL '1 day', tz(time, 'Europe/Berlin')) AS d, sum(v) AS s
FROM dst
GROUP BY d ORDER BY d;

-- 20: §5.3 time of columns
SELECT date_trunc('month', tz(time, 'Europe/Berlin')) AS d, count(*) AS c
FROM dst
GROUP BY d ORDER BY d;

-- 21: §5.3 time of columns
SELECT date_part('hour', tz(time, 'Europe/Berlin')) AS h, to_local_time(tz(time, 'Europe/Berlin')) AS l
FROM dst ORDER BY time;

-- 22: §5.8 aggregates as window functions
SELECT t, median(i) OVER (ORDER BY time) AS a, count(*) FILTER (WHERE i > 0) OVER () AS b, max(f) OVER (PARTITION BY t) AS c
FROM m ORDER BY time;

-- 23: §5.8 aggregates as window functions
SELECT t, selector_last(f, time) OVER (ORDER BY time) AS s FROM m ORDER BY time;

-- 24: §5.8 aggregates as window functions
SELECT first_value(s) IGNORE NULLS OVER (ORDER BY time) AS a, lag(f, 2, 0.0) OVER (ORDER BY time) AS b
FROM m ORDER BY time;

-- 25: §5.8 aggregates as window functions
SELECT sum(i) OVER (ORDER BY time ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s
FROM m ORDER BY time;

-- 26: §5.1 distinct aggregates
SELECT avg(DISTINCT k) AS a, sum(DISTINCT k) AS b, median(DISTINCT k) AS c, array_agg(DISTINCT k ORDER BY k) AS d FROM (VALUES (1), (1), (2), (6)) AS x(k);

-- 27: §5.1 distinct aggregates
SELECT count(t, i) AS c FROM m;

-- 28: §5.5 parts parted by a column
SELECT substr_index(s, sep, 2) AS a, substr_index(s, sep, -1) AS b, array_to_string(string_to_array(s, sep), sep) AS c, split_part(s, sep, 1) AS d FROM (VALUES ('a-b-c', '-'), ('a.b', '.'), (NULL, '-')) AS x(s, sep) ORDER BY s;
