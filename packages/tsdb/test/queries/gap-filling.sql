-- write
-- g,r=a x=10,n=10i,s="p" 60000000000
-- g,r=a x=30,n=13i 180000000000
-- g,r=b x=5 120000000000
-- g,r=a q=1 120000000000
-- i n=9223372036854775807i,u=18446744073709551615u,m=1i 60000000000
-- i n=4i,u=0u,m=-48i 3000000000000
-- w,r=a x=1 43205000000000

-- 1: §6 gap filling
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, avg(x) AS v
FROM g
WHERE r = 'a' AND time >= '1970-01-01T00:01:00Z' AND time < '1970-01-01T00:04:00Z'
GROUP BY t;

-- 2: §6 gap filling
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, r, avg(x) AS v
FROM g
WHERE time >= '1970-01-01T00:01:00Z' AND time < '1970-01-01T00:04:00Z'
GROUP BY t, r ORDER BY r, t;

-- 3: §6 gap filling
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, count(*) AS c, count(x) AS cx
FROM g
WHERE r = 'b' AND time >= '1970-01-01T00:01:00Z' AND time < '1970-01-01T00:04:00Z'
GROUP BY t;

-- 4: §6 gap filling
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, locf(avg(x)) AS v
FROM g
WHERE r = 'a' AND time >= '1970-01-01T00:00:00Z' AND time < '1970-01-01T00:05:00Z'
GROUP BY t;

-- 5: §6 gap filling
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, interpolate(avg(x)) AS v
FROM g
WHERE r = 'a' AND time >= '1970-01-01T00:00:00Z' AND time < '1970-01-01T00:05:00Z'
GROUP BY t;

-- 6: §6 gap filling
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, interpolate(avg(x)) AS v
FROM g
WHERE r = 'a' AND x IS NOT NULL AND time >= '1970-01-01T00:00:00Z' AND time < '1970-01-01T00:05:00Z'
GROUP BY t;

-- 7: §6 gap filling
SELECT date_bin_gapfill(INTERVAL '30 seconds', time) AS t, interpolate(max(n)) AS v
FROM g
WHERE r = 'a' AND n IS NOT NULL AND time >= '1970-01-01T00:01:00Z' AND time < '1970-01-01T00:03:30Z'
GROUP BY t;

-- 8: §6 gap filling
SELECT date_bin_gapfill(INTERVAL '10 minutes', time, TIMESTAMP '1970-01-01T00:00:07Z') AS t, count(*) AS c
FROM w
WHERE time >= '1970-01-01T12:00:00Z' AND time <= '1970-01-01T12:10:00Z'
GROUP BY t;

-- 9: §6 gap filling
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, locf(selector_last(x, time))['value'] AS v
FROM g
WHERE r = 'b' AND time >= '1970-01-01T00:02:00Z' AND time < '1970-01-01T00:04:00Z'
GROUP BY t;

-- 10: §6 gap filling
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, interpolate(selector_last(x, time))['value'] AS v
FROM g
WHERE r = 'a' AND x IS NOT NULL AND time >= '1970-01-01T00:01:00Z' AND time < '1970-01-01T00:04:00Z'
GROUP BY t;

-- 11: §6 gap filling
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, count(*) AS c
FROM g
WHERE r = 'zzz' AND time >= '1970-01-01T00:00:00Z' AND time < '1970-01-01T00:05:00Z'
GROUP BY t;

-- 12: §6 gap filling
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, count(x) AS c
FROM g
WHERE r = 'b' AND time >= '1970-01-01T00:01:00Z' AND time < '1970-01-01T00:04:00Z'
GROUP BY t
HAVING count(x) = 0;

-- 13: §6 gap filling
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, count(*) AS c
FROM g
WHERE time >= '1970-01-01T00:00:00Z'
GROUP BY t;

-- 14: §6 gap filling
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, count(*) AS c
FROM g
WHERE time < '1970-01-01T00:00:00Z'
GROUP BY t;

-- 15: §6 gap filling
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, count(*) AS c FROM g GROUP BY t;

-- 16: §6 gap filling
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t
FROM g
WHERE time >= 0 AND time < 10;

-- 17: §6 gap filling
SELECT CAST(date_bin_gapfill(INTERVAL '1 minute', time) AS BIGINT) AS t, count(*) AS c
FROM g
WHERE time >= '1970-01-01T00:00:00Z' AND time < '1970-01-01T00:05:00Z'
GROUP BY t;

-- 18: §6 gap filling
SELECT locf(x) AS v FROM g;

-- 19: §6 gap filling
SELECT date_bin_gapfill(INTERVAL '1 month', time) AS t, count(*) AS c
FROM g
WHERE time >= '1970-01-01T00:00:00Z' AND time < '1970-01-01T00:05:00Z'
GROUP BY t;

-- 20: §6 gap filling
SELECT date_bin_gapfill(INTERVAL '1 hour', time) AS t, locf(count(*)) AS c
FROM g
WHERE time BETWEEN '1970-01-01T00:00:00Z' AND '1970-01-01T01:00:00Z'
GROUP BY t;

-- 21: §6 rows from VALUES or a subquery
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, count(*) AS c
FROM (VALUES (TIMESTAMP '2020-01-01T00:00:00'), (TIMESTAMP '2020-01-01T00:02:00')) v(time)
WHERE time >= '2020-01-01T00:00:00Z' AND time < '2020-01-01T00:03:00Z'
GROUP BY t;

-- 22: §6 rows from VALUES or a subquery, with a column of another name
SELECT date_bin_gapfill(INTERVAL '1 minute', ts) AS t, locf(sum(x)) AS c
FROM (VALUES (TIMESTAMP '2020-01-01T00:00:00', 1), (TIMESTAMP '2020-01-01T00:02:00', 2)) v(ts, x)
WHERE ts BETWEEN '2020-01-01T00:00:00Z' AND '2020-01-01T00:03:00Z' AND x > 0
GROUP BY t;

-- 23: §6 rows of a function
SELECT date_bin_gapfill(INTERVAL '1 minute', v.time) AS t, count(*) AS c
FROM (SELECT to_timestamp(value * 120000000000) AS time FROM generate_series(0, 1)) v
WHERE '1970-01-01T00:00:00Z' <= v.time AND (v.time < '1970-01-01T00:03:00Z' AND 1 = 1)
GROUP BY t;

-- 24: §6 a query with a limit
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, count(*) AS c
FROM (SELECT time FROM g WHERE r = 'a' ORDER BY time LIMIT 5) v
WHERE time >= '1970-01-01T00:01:00Z' AND time < '1970-01-01T00:05:00Z'
GROUP BY t;

-- 25: §6 a common table expression
WITH v AS (SELECT time, max(x) AS x FROM g GROUP BY time)
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, max(x) AS m
FROM v WHERE time >= '1970-01-01T00:01:00Z' AND time < '1970-01-01T00:05:00Z'
GROUP BY t;

-- 26: §6 one bound is missing
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, count(*) AS c
FROM (VALUES (TIMESTAMP '2020-01-01T00:00:00')) v(time) WHERE time >= '2020-01-01T00:00:00Z' GROUP BY t;

-- 27: §6 alternatives are no bounds
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, count(*) AS c
FROM (VALUES (TIMESTAMP '2020-01-01T00:00:00')) v(time) WHERE time >= '2020-01-01T00:00:00Z' OR time < '2020-01-02T00:00:00Z' GROUP BY t;

-- 28: §6 a bound that is no constant
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, count(*) AS c
FROM (VALUES (TIMESTAMP '2020-01-01T00:00:00', TIMESTAMP '2020-01-01T00:00:00')) v(time, b) WHERE time >= b AND time < '2020-01-02T00:00:00Z' GROUP BY t;

-- 29: §6 a selector with further columns
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, interpolate(selector_last(x, time, r))['value'] AS v, interpolate(selector_last(x, time, r))['other_1'] AS o
FROM g WHERE r = 'a' AND x IS NOT NULL AND time >= '1970-01-01T00:01:00Z' AND time < '1970-01-01T00:04:00Z'
GROUP BY t;

-- 30: §6 a struct that is not a selector's
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, locf(max(named_struct('a', x)))['a'] AS v
FROM g WHERE r = 'b' AND time >= '1970-01-01T00:02:00Z' AND time < '1970-01-01T00:04:00Z'
GROUP BY t;

-- 31: §6 times as strings
SELECT date_bin_gapfill(INTERVAL '1 minute', CAST(time AS VARCHAR)) AS t, count(*) AS c
FROM g WHERE r = 'a' AND x IS NOT NULL AND time >= '1970-01-01T00:01:00Z' AND time < '1970-01-01T00:04:00Z'
GROUP BY t;

-- 32: §6 an expression that moves the time
SELECT date_bin_gapfill(INTERVAL '1 minute', time - INTERVAL '10 seconds') AS t, count(*) AS c
FROM g WHERE time >= '1970-01-01T00:01:00Z' AND time < '1970-01-01T00:04:00Z' GROUP BY t;

-- 33: §6 a time zone that moves the time
SELECT date_bin_gapfill(INTERVAL '1 minute', time AT TIME ZONE 'Europe/Berlin') AS t, count(*) AS c
FROM g WHERE time >= '1970-01-01T00:01:00Z' AND time < '1970-01-01T00:04:00Z' GROUP BY t;

-- 34: §6 a named time zone
SELECT date_bin_gapfill(INTERVAL '1 minute', tz((time), 'Europe/Berlin')) AS t, count(*) AS c
FROM g WHERE r = 'b' AND time >= '1970-01-01T00:02:00Z' AND time < '1970-01-01T00:04:00Z' GROUP BY t;

-- 35: §6 truncated and exact integers: 7 of 49 minutes, and whole steps
SELECT t, n, u, m FROM (SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, interpolate(max(n)) AS n, interpolate(max(u)) AS u, interpolate(max(m)) AS m
FROM i WHERE time >= '1970-01-01T00:01:00Z' AND time < '1970-01-01T00:51:00Z' GROUP BY t) WHERE t IN ('1970-01-01T00:01:00Z', '1970-01-01T00:02:00Z', '1970-01-01T00:08:00Z', '1970-01-01T00:49:00Z', '1970-01-01T00:50:00Z') ORDER BY t;

-- 36: §6 a selector in a bin without a value
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, interpolate(selector_last(x, time))['value'] AS v, count(*) AS c
FROM g
WHERE r = 'a' AND time >= '1970-01-01T00:01:00Z' AND time < '1970-01-01T00:04:00Z'
GROUP BY t;
