-- write
-- door,id=a v=1 5000000000
-- door,id=a v=2 25000000000
-- door,id=a v=4 62000000000
-- door,id=a v=7 64000000000
-- door,id=a v=3 95000000000
-- door,id=b v=10 12000000000
-- door,id=b v=20 55000000000
-- door,id=c v=9 71000000000
-- door,id=d v=8 2000000000
-- door,id=e v=1,note="x" 65000000000

-- 1: §6 look-back
SELECT date_bin_gapfill(INTERVAL '10 seconds', time) AS t, id, avg(v) AS m, locf(avg(v)) AS kept, count(v) AS n
FROM door WHERE time >= '1970-01-01T00:01:10Z' AND time < '1970-01-01T00:01:50Z'
GROUP BY t, id;

-- 2: §6 look-back
SELECT /*+ lookback(30s) */ date_bin_gapfill(INTERVAL '10 seconds', time) AS t, id, avg(v) AS m, locf(avg(v)) AS kept, count(v) AS n
FROM door WHERE time >= '1970-01-01T00:01:10Z' AND time < '1970-01-01T00:01:50Z'
GROUP BY t, id;

-- 3: §6 look-back
SELECT /*+ lookback */ date_bin_gapfill(INTERVAL '10 seconds', time) AS t, id, avg(v) AS m, locf(avg(v)) AS kept, count(v) AS n
FROM door WHERE time >= '1970-01-01T00:01:10Z' AND time < '1970-01-01T00:01:50Z'
GROUP BY t, id;

-- 4: §6 look-back of one series
SELECT /*+ lookback(30s) */ date_bin_gapfill(INTERVAL '10 seconds', time) AS t, locf(avg(v)) AS kept
FROM door WHERE id = 'b' AND time >= '1970-01-01T00:01:10Z' AND time < '1970-01-01T00:01:50Z'
GROUP BY t;

-- 5: §6 look-back without earlier rows
SELECT /*+ lookback(10s) */ date_bin_gapfill(INTERVAL '10 seconds', time) AS t, locf(avg(v)) AS kept
FROM door WHERE id = 'b' AND time >= '1970-01-01T00:01:10Z' AND time < '1970-01-01T00:01:50Z'
GROUP BY t;

-- 6: §6 look-back, the first bin starts before the range
SELECT /*+ lookback(30s) */ date_bin_gapfill(INTERVAL '10 seconds', time) AS t, locf(avg(v)) AS kept
FROM door WHERE id = 'a' AND time >= '1970-01-01T00:01:05Z' AND time < '1970-01-01T00:01:35Z'
GROUP BY t;

-- 7: §6 look-back of a selector
SELECT /*+ lookback(30s) */ date_bin_gapfill(INTERVAL '10 seconds', time) AS t, locf(selector_last(v, time))['value'] AS kept
FROM door WHERE id = 'a' AND time BETWEEN '1970-01-01T00:01:10Z' AND '1970-01-01T00:01:49Z'
GROUP BY t;

-- 8: §6 look-back of a common table
WITH w AS (SELECT * FROM door WHERE id = 'a')
SELECT /*+ lookback(30s) */ date_bin_gapfill(INTERVAL '10 seconds', time) AS t, locf(avg(v)) AS kept
FROM w WHERE '1970-01-01T00:01:10Z' <= time AND time < '1970-01-01T00:01:50Z'
GROUP BY t;

-- 9: §6 look-back, interpolate is not changed
SELECT /*+ lookback(30s) */ date_bin_gapfill(INTERVAL '10 seconds', time) AS t, interpolate(avg(v)) AS line, locf(max(v)) AS kept
FROM door WHERE id = 'a' AND time >= '1970-01-01T00:01:10Z' AND time < '1970-01-01T00:01:50Z'
GROUP BY t;

-- 10: §6 look-back, HAVING and ORDER BY apply after filling
SELECT /*+ lookback(30s) */ date_bin_gapfill(INTERVAL '10 seconds', time) AS t, id, locf(avg(v)) AS kept
FROM door WHERE time >= '1970-01-01T00:01:10Z' AND time < '1970-01-01T00:01:50Z'
GROUP BY t, id HAVING locf(avg(v)) > 4 ORDER BY t DESC, id LIMIT 3;

-- 11: §6 look-back
SELECT /*+ lookback(30s) */ date_bin_gapfill(INTERVAL '10 seconds', time) AS t, locf(avg(v)) AS kept
FROM (SELECT * FROM door WHERE time >= '1970-01-01T00:01:10Z') WHERE time < '1970-01-01T00:01:50Z'
GROUP BY t;

-- 12: §6 look-back
SELECT /*+ lookback(1 parsec) */ date_bin_gapfill(INTERVAL '10 seconds', time) AS t, id, avg(v) AS m, locf(avg(v)) AS kept, count(v) AS n
FROM door WHERE time >= '1970-01-01T00:01:10Z' AND time < '1970-01-01T00:01:50Z'
GROUP BY t, id;

-- 13: §6 look-back
SELECT /*+ lookback(1h) */ date_bin_gapfill(INTERVAL '10 seconds', time) AS t, id, avg(v) AS m, locf(avg(v)) AS kept, count(v) AS n
FROM door WHERE time >= '1970-01-01T00:01:10Z' AND time < '1970-01-01T00:01:50Z' /*+ lookback(2h) */
GROUP BY t, id;
