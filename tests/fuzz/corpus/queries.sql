SELECT * FROM cpu ORDER BY time DESC LIMIT 10
SELECT host, avg(usage) AS mean FROM cpu WHERE time >= '2024-12-30T09:00:00Z' AND time < now() GROUP BY host HAVING avg(usage) > 0.5 ORDER BY mean
SELECT date_bin(INTERVAL '5 minutes', time) AS bin, count(*), max(usage) FROM cpu GROUP BY 1 ORDER BY 1
SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS bin, host, interpolate(avg(usage)) FROM cpu WHERE time >= '2024-12-30T09:00:00Z' AND time <= '2024-12-30T09:05:00Z' GROUP BY bin, host
SELECT /*+ lookback(1h) */ date_bin_gapfill(INTERVAL '1 minute', time) AS bin, host, locf(max(usage)) FROM cpu WHERE time BETWEEN '2024-12-30T09:00:00Z' AND '2024-12-30T09:05:00Z' GROUP BY bin, host
SELECT selector_last(usage, time)['value'], selector_first(usage, time)['time'] FROM cpu
SELECT a.host, b.usage FROM cpu a JOIN cpu b ON a.time = b.time AND a.host <> b.host
WITH t AS (SELECT host, usage FROM cpu), u AS (SELECT * FROM t WHERE usage BETWEEN 1 AND 3) SELECT count(*) FROM u
SELECT host, usage, row_number() OVER (PARTITION BY host ORDER BY time) AS n, lag(usage) OVER (ORDER BY time) FROM cpu
SELECT CASE WHEN usage > 1 THEN 'hi' ELSE 'lo' END AS level, count(DISTINCT host) FROM cpu GROUP BY 1
SELECT upper(note), substr(note, 2, 3), regexp_replace(note, '(a+)', '[\1]', 'g') FROM cpu WHERE note LIKE '%x%'
SELECT n / 0, n % 3, -n, CAST(usage AS BIGINT), usage::text FROM cpu WHERE n IS NOT NULL
SELECT approx_percentile_cont(usage, 0.9), stddev(usage), median(usage) FROM cpu
SELECT to_timestamp('2024-12-30T09:00:00Z'), now(), date_part('hour', time), time AT TIME ZONE 'Europe/Berlin' FROM cpu LIMIT 1
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v(x, y) UNION ALL SELECT 3, 'c'
SELECT array_agg(usage), make_array(1, 2, 3)[1], array_length(make_array(1, NULL)) FROM cpu
SELECT host FROM cpu WHERE host IN (SELECT host FROM cpu WHERE usage > 0) AND EXISTS (SELECT 1)
SHOW TABLES
SHOW COLUMNS FROM cpu
EXPLAIN SELECT * FROM cpu WHERE host = 'a'
SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'iox'
SELECT 9223372036854775807 + 1, 1e308 * 10, 0.1 + 0.2, 18446744073709551615
SELECT "host", "usage" FROM "cpu" WHERE "time" > '1970-01-01' OFFSET 1 LIMIT 3
