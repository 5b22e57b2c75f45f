-- write
-- m,t=a f=1,i=1i 1
-- m,t=a f=2 1
-- m,t=a s="x" 1
-- m,t=b f=5 1
-- m f=9 2
-- big,t=a i=9223372036854775807i,u=18446744073709551615u,f=1.7976931348623157e308 1700000000123456789
-- big,t=b i=-9223372036854775808i,u=0u,f=-0.5 1700000000123456790
-- case,Host=a,host=b Temp=1,temp=2,pH=7 1
-- q,tag=it's v="quote ' and \" and ünï" 1
-- edge v=1 -9223372036854775806
-- edge v=2 9223372036854775806
-- bools b=true 1
-- bools b=false 2

-- 1: §1 the same point written twice
SELECT f, i, s FROM m WHERE t = 'a';

-- 2: §1 the same point written twice
SELECT count(*) AS c FROM m;

-- 3: §1 the same point written twice
SELECT * FROM m ORDER BY time, t;

-- 4: §1 absent tags
SELECT f FROM m WHERE t IS NULL;

-- 5: §1 absent tags
SELECT count(*) AS c FROM m WHERE t = '';

-- 6: §1 absent tags
SELECT count(*) AS c FROM m WHERE t <> 'a';

-- 7: §1 absent tags
SELECT count(*) AS c FROM m WHERE t IN ('a', 'b');

-- 8: §1 absent tags
SELECT count(*) AS c FROM m WHERE t NOT IN ('a');

-- 9: §1 absent tags
SELECT count(*) AS c FROM m WHERE t LIKE '%';

-- 10: §1 absent tags
SELECT count(*) AS c FROM m WHERE t ~ '^[ab]$';

-- 11: §1 absent tags
SELECT coalesce(t, 'none') AS t FROM m ORDER BY time DESC LIMIT 1;

-- 12: §1 absent tags
SELECT count(*) AS c FROM m WHERE t IS DISTINCT FROM 'a';

-- 13: §4 exact numbers
SELECT i, u, f FROM big WHERE t = 'a';

-- 14: §4 exact numbers
SELECT i FROM big WHERE i = -9223372036854775808;

-- 15: §4 exact numbers
SELECT t FROM big WHERE u > 9223372036854775807;

-- 16: §4 exact numbers
SELECT t FROM big WHERE i < 0.5;

-- 17: §4 exact numbers
SELECT max(u) AS m, min(i) AS n FROM big;

-- 18: §4 exact numbers
SELECT i / 2 AS h FROM big WHERE t = 'a';

-- 19: §4 exact numbers
SELECT i / 0 AS h FROM big;

-- 20: §4 exact numbers
SELECT i % 10 AS h FROM big ORDER BY h;

-- 21: §4 exact numbers
SELECT abs(i) AS h FROM big WHERE t = 'a';

-- 22: §2 nanoseconds
SELECT time FROM big ORDER BY time;

-- 23: §2 nanoseconds
SELECT t FROM big WHERE time = 1700000000123456790;

-- 24: §2 nanoseconds
SELECT t FROM big WHERE time > '2023-11-14T22:13:20.123456789Z';

-- 25: §2 nanoseconds
SELECT t FROM big WHERE time <= '2023-11-14T22:13:20.123456789';

-- 26: §2 nanoseconds
SELECT t
FROM big
WHERE time >= '2023-11-14 22:13:20' AND time < '2023-11-14T22:13:20.12345679Z';

-- 27: §2 nanoseconds
SELECT time + INTERVAL '1 nanosecond' AS n FROM big WHERE t = 'a';

-- 28: §2 nanoseconds
SELECT CAST(time AS BIGINT) AS n FROM big WHERE t = 'a';

-- 29: §2 nanoseconds
SELECT date_bin(INTERVAL '10 nanoseconds', time) AS b, count(*) AS c
FROM big
GROUP BY b ORDER BY b;

-- 30: §2 nanoseconds
SELECT date_trunc('microsecond', time) AS b, count(*) AS c FROM big GROUP BY b;

-- 31: §2 nanoseconds
SELECT v FROM edge WHERE time = -9223372036854775806;

-- 32: §2 nanoseconds
SELECT time FROM edge ORDER BY time;

-- 33: §2 nanoseconds
SELECT count(*) AS c FROM edge WHERE time < now();

-- 34: §2 nanoseconds
SELECT count(*) AS c FROM big WHERE time < now() - INTERVAL '1 hour';

-- 35: §2 nanoseconds
SELECT time FROM big WHERE time > 'tomorrow';

-- 36: §3.2 identifiers
SELECT "Temp", temp, "pH" FROM "case";

-- 37: §3.2 identifiers
SELECT "Host", HOST FROM "case";

-- 38: §3.2 identifiers
SELECT pH FROM "case";

-- 39: §3.2 identifiers
SELECT * FROM "case";

-- 40: §3.2 identifiers
SELECT max("Temp") AS "A", max(temp) AS a FROM "case";

-- 41: §3.2 identifiers
SELECT M.f FROM m WHERE m.t = 'b';

-- 42: §3.2 identifiers
SELECT f FROM iox.m WHERE t = 'b';

-- 43: §3.2 identifiers
SELECT iox.m.f FROM public.iox.m WHERE t = 'b';

-- 44: §3.2 identifiers
SELECT f FROM M WHERE t = 'b';

-- 45: §3.2 identifiers
SELECT x."Temp" AS v FROM "case" AS x;

-- 46: §3.2 identifiers
SELECT v FROM q WHERE tag = 'it''s';

-- 47: §3.2 identifiers
SELECT nope FROM m;

-- 48: §3.2 identifiers
SELECT 1 FROM nope;

-- 49: §3.2 identifiers
SELECT time FROM bools WHERE b;

-- 50: §3.2 identifiers
SELECT count(*) AS c FROM bools WHERE NOT b;

-- 51: §3.2 identifiers
SELECT f AS v FROM m WHERE t = 'b' -- a comment;

-- 52: §3.2 identifiers
SELECT /* inner */ f AS v FROM m WHERE t = 'b';

-- 53: §4.6 parameters
-- params: {"tag": "b", "low": 1, "time": "1970-01-01T00:00:00.000000001Z"}
SELECT f FROM m WHERE t = $tag AND f > $low AND time = $time;

-- 54: §4.6 parameters
-- params: {"1": "b"}
SELECT f FROM m WHERE t = $1;

-- 55: §4.6 parameters
-- params: {}
SELECT f FROM m WHERE t = $host;

-- 56: §4.6 parameters
-- params: {"x": null}
SELECT count(*) AS c FROM m WHERE t = $x;

-- 57: §4.6 parameters
-- params: {"x": 2.5, "unused": true}
SELECT count(*) AS c FROM m WHERE f > $x;

-- 58: §7 schema views
SHOW COLUMNS FROM m;

-- 59: §7 schema views
DESCRIBE big;

-- 60: §7 schema views
SELECT table_name
FROM information_schema.tables
WHERE table_schema = 'iox' ORDER BY table_name;

-- 61: §7 schema views
SELECT column_name, data_type
FROM information_schema.columns
WHERE table_name = 'bools' ORDER BY column_name;

-- 62: §7 schema views
SELECT table_type FROM information_schema.tables WHERE table_name = 'm';

-- 63: §3 only queries
CREATE TABLE x (a INT);

-- 64: §3 only queries
DROP TABLE m;

-- 65: §3 only queries
INSERT INTO m VALUES (1);

-- 66: §3 only queries
DELETE FROM m;

-- 67: §3 only queries
SET x = 1;

-- 68: §3 only queries
SELECT 1; SELECT 2;

-- 69: §3 only queries
SHOW MEASUREMENTS;

-- 70: §3 only queries
SELEC 1;

-- 71: §3 only queries
SELECT * FROM read_csv('/etc/passwd');

-- 72: §3 only queries
SELECT 'a' + 1 AS x FROM m;

-- 73: §13.3 error texts
SELECT tz(time, 'Nope') AS a FROM m;

-- 74: §13.3 error texts
SELECT date_bin(INTERVAL '1 day', time, time) AS a FROM m;

-- 75: §13.3 error texts
SELECT sum(time) AS a FROM m;

-- 76: §13.3 error texts
SELECT avg(s) AS a FROM m;

-- 77: §13.3 error texts
SELECT left(s, 1.5) AS a FROM m;

-- 78: §13.3 error texts
SELECT regexp_like(s, '(') AS a FROM m;

-- 79: §13.3 error texts
SELECT to_char(time, '%Q') AS a FROM m;

-- 80: §13.3 error texts
SELECT count(*) AS c FROM m WHERE f + 's' > 1;

-- 81: §13.3 error texts
SELECT max(f) AS a, max(max(f)) AS b FROM m;

-- 82: §13.3 error texts
SELECT f FROM m ORDER BY nope;

-- 83: §13.3 error texts
SELECT count(*) OVER (ORDER BY time) AS c, sum(f) AS s FROM m;
