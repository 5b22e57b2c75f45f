-- 1: §4.3 texts before AT TIME ZONE
SELECT '2024-12-30T03:00:00-05:00' AT TIME ZONE 'America/New_York' AS a, '2024-12-30T03:00:00Z' AT TIME ZONE 'America/New_York' AS b, '2024-12-30T03:00:00+05' AT TIME ZONE '+02:00' AS c;

-- 2: §4.3 texts before AT TIME ZONE
SELECT '2024-12-30T03:00:00' AT TIME ZONE 'America/New_York' AS a, '2024-12-30' AT TIME ZONE 'America/New_York' AS b, '2024-12-30T03:00:00' AT TIME ZONE '+02:00' AS c;

-- 3: §4.3 texts before AT TIME ZONE
SELECT '2024-12-30 03:00:00 America/New_York' AT TIME ZONE 'Europe/Berlin' AS a, '2024-12-30T03:00:00 EST' AT TIME ZONE '+02:00' AS b;

-- 4: §4.3 texts before AT TIME ZONE
SELECT TIMESTAMP '2024-12-30T03:00:00-05:00' AT TIME ZONE 'America/New_York' AS a, arrow_cast('2024-12-30T03:00:00-05:00', 'Timestamp(Nanosecond, Some("+00:00"))') AT TIME ZONE 'America/New_York' AS b, DATE '2024-12-30' AT TIME ZONE 'America/New_York' AS c;

-- 5: §4.3 texts before AT TIME ZONE
SELECT ('2024-12-30T03:00:00-05:00' AT TIME ZONE 'America/New_York') AT TIME ZONE 'Europe/Berlin' AS a, '2024-12-30T03:00:00-05:00'::TIMESTAMP AT TIME ZONE 'America/New_York' AS b, arrow_cast('2024-12-30T03:00:00', 'Timestamp(Nanosecond, Some("Europe/Berlin"))') AT TIME ZONE 'America/New_York' AS c;

-- 6: §4.3 texts before AT TIME ZONE
SELECT s AT TIME ZONE 'America/New_York' AS a, s AT TIME ZONE '+02:00' AS b, s AT TIME ZONE 'UTC' AS c FROM (VALUES ('2024-12-30T03:00:00-05:00'), ('2024-12-30T03:00:00'), ('2024-12-30 03:00:00 Europe/Berlin'), (NULL)) t(s) ORDER BY s;

-- 7: §4.3 texts before AT TIME ZONE
SELECT NULL AT TIME ZONE 'America/New_York' AS r;

-- 8: §4.3 texts before AT TIME ZONE
SELECT '2024-12-30T03:00:00' AT TIME ZONE 'nowhere' AS r;

-- 9: §4.3 texts before AT TIME ZONE
SELECT TIMESTAMP '2024-12-30T08:00:00' AT TIME ZONE 'America/New_York' = '2024-12-30T08:00:00' AS a, TIMESTAMP '2024-12-30T08:00:00' AT TIME ZONE 'America/New_York' = '2024-12-30T08:00:00Z' AS b;

-- 10: §4.3 names of zones in texts
SELECT '2024-12-30 03:00:00 America/New_York'::TIMESTAMP AS a, TIMESTAMP '2024-12-30 03:00:00 America/New_York' AS b;

-- 11: §4.3 names of zones in texts
SELECT TIMESTAMP '2024-07-01 03:00:00 America/New_York' AS a, TIMESTAMP '2024-12-30 03:00:00America/New_York' AS b, TIMESTAMP '2024-12-30T03:00:00.123456789 America/New_York' AS c, TIMESTAMP '2024-12-30T03:00:00.123   America/New_York' AS d;

-- 12: §4.3 names of zones in texts
SELECT TIMESTAMP '2024-12-30T03:00:00 UTC' AS a, TIMESTAMP '2024-12-30T03:00:00 GMT' AS b, TIMESTAMP '2024-12-30T03:00:00 EST' AS c, TIMESTAMP '2024-12-30T03:00:00 CET' AS d, TIMESTAMP '2024-12-30T03:00:00 Etc/GMT+5' AS e;

-- 13: §4.3 names of zones in texts
SELECT TIMESTAMP '2024-12-30T03:00:00 +05:00' AS a, TIMESTAMP '2024-12-30T03:00:00 +0500' AS b, TIMESTAMP '2024-12-30T03:00:00 +05' AS c;

-- 14: §4.3 names of zones in texts
SELECT TIMESTAMP '2024-12-30 10:00:00' > '2024-12-30 03:00:00 America/New_York' AS a, TIMESTAMP '2024-12-30 07:00:00' > '2024-12-30 03:00:00 America/New_York' AS b, TIMESTAMP '2024-12-30 08:00:00' = '2024-12-30 03:00:00 America/New_York' AS c;

-- 15: §4.3 names of zones in texts
SELECT TIMESTAMP '2024-12-30 08:00:00' BETWEEN '2024-12-30 02:00:00 America/New_York' AND '2024-12-30 03:00:00 America/New_York' AS a, TIMESTAMP '2024-12-30 08:00:00' IN ('2024-12-30 03:00:00 America/New_York') AS b;

-- 16: §4.3 names of zones in texts
SELECT s::TIMESTAMP AS a, to_timestamp(s) AS b FROM (VALUES ('2024-12-30 03:00:00 America/New_York'), ('2024-12-30T03:00:00 Europe/Berlin'), ('2024-12-30T03:00:00Z')) t(s) ORDER BY s;

-- 17: §4.3 names of zones in texts
SELECT '2024-12-30 23:00:00 America/New_York'::DATE AS a, date_trunc('day', '2024-12-30 23:00:00 America/New_York') AS b, date_bin('1 hour', '2024-12-30 03:30:00 America/New_York') AS c;

-- 18: §4.3 names of zones in texts
SELECT TRY_CAST('2024-12-30 03:00:00 Nowhere/City' AS TIMESTAMP) AS a, TRY_CAST(s AS TIMESTAMP) AS b FROM (VALUES ('2024-12-30 03:00:00 Nowhere/City'), ('2024-12-30 03:00:00 America/New_York')) t(s) ORDER BY s;

-- 19: §4.3 names of zones in texts
SELECT arrow_cast('2024-12-30T03:00:00', 'Timestamp(Nanosecond, Some("America/New_York"))') AS a, arrow_cast('2024-12-30T03:00:00Z', 'Timestamp(Nanosecond, Some("America/New_York"))') AS b;

-- 20: §4.3 names of zones in texts
SELECT TIMESTAMP '2024-12-30T03:00:00 Nowhere/City' AS r;

-- 21: §4.3 names of zones in texts
SELECT TIMESTAMP '2024-12-30 America/New_York' AS r;

-- 22: §4.3 names of zones in texts
SELECT s::TIMESTAMP AS r FROM (VALUES ('2024-12-30 03:00:00 Nowhere/City')) t(s);

-- 23: §4.3 names of zones in texts
SELECT TIMESTAMPTZ '2024-12-30 03:00:00 America/New_York' AS a, TIMESTAMP WITH TIME ZONE '2024-12-30 03:00:00 America/New_York' AS b;
