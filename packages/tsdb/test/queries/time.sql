-- 1: §5.3 date_bin
SELECT date_bin(INTERVAL '10 minutes', TIMESTAMP '2022-01-01T00:17:30Z') AS r;

-- 2: §5.3 date_bin
SELECT date_bin('10 minutes', TIMESTAMP '2022-01-01T00:17:30Z') AS r;

-- 3: §5.3 date_bin
SELECT date_bin(INTERVAL '10 minutes', TIMESTAMP '2022-01-01T00:17:30Z', TIMESTAMP '1970-01-01T00:00:07Z') AS r;

-- 4: §5.3 date_bin
SELECT date_bin(INTERVAL '1 day', TIMESTAMP '1969-12-31T12:00:00Z') AS r;

-- 5: §5.3 date_bin
SELECT date_bin(INTERVAL '1 week', TIMESTAMP '2022-01-05T00:00:00Z') AS r;

-- 6: §5.3 date_bin
SELECT date_bin(INTERVAL '7 nanoseconds', 20::TIMESTAMP) AS r;

-- 7: §5.3 date_bin
SELECT date_bin(INTERVAL '7 nanoseconds', (-1)::TIMESTAMP) AS r;

-- 8: §5.3 date_bin
SELECT date_bin(INTERVAL '15 minutes', TIMESTAMP '2022-01-01T00:17:30Z', TIMESTAMP '2030-01-01T00:05:00Z') AS r;

-- 9: §5.3 date_bin
SELECT date_bin(INTERVAL '1 month', TIMESTAMP '2000-01-31T00:00:00Z', TIMESTAMP '2000-02-29T00:00:00Z') AS r;

-- 10: §5.3 date_bin
SELECT date_bin(INTERVAL '3 months', TIMESTAMP '2022-04-01T00:00:00Z', TIMESTAMP '2021-05-31T00:04:00Z') AS r;

-- 11: §5.3 date_bin
SELECT date_bin(INTERVAL '5 months', TIMESTAMP '2022-01-01T00:00:00Z') AS r;

-- 12: §5.3 date_bin
SELECT date_bin(INTERVAL '3 years 1 months', TIMESTAMP '2022-09-01T00:00:00Z') AS r;

-- 13: §5.3 date_bin
SELECT date_bin(INTERVAL '1 year', TIMESTAMP '1969-06-01T00:00:00Z') AS r;

-- 14: §5.3 date_bin
SELECT date_bin(INTERVAL '1 month', TIMESTAMP '2024-02-29T23:59:59.999999999Z') AS r;

-- 15: §5.3 date_bin
SELECT date_bin(INTERVAL '0 seconds', TIMESTAMP '2022-01-01T00:00:00Z') AS r;

-- 16: §5.3 date_bin
SELECT date_bin(INTERVAL '1 month 1 day', TIMESTAMP '2022-01-01T00:00:00Z') AS r;

-- 17: §5.3 date_bin
SELECT date_bin(INTERVAL '1 day', CAST(NULL AS TIMESTAMP)) AS r;

-- 18: §5.3 date_bin_wallclock
SELECT date_bin_wallclock(INTERVAL '1 day', tz(TIMESTAMP '2024-03-31T12:00:00Z', 'Europe/Berlin')) AS r;

-- 19: §5.3 date_bin_wallclock
SELECT date_bin_wallclock(INTERVAL '1 day', tz(TIMESTAMP '2024-04-01T12:00:00Z', 'Europe/Berlin')) AS r;

-- 20: §5.3 date_bin_wallclock
SELECT date_bin_wallclock(INTERVAL '1 day', tz(TIMESTAMP '2024-10-27T22:59:00Z', 'Europe/Berlin')) AS r;

-- 21: §5.3 date_bin_wallclock
SELECT date_bin_wallclock(INTERVAL '1 hour', tz(TIMESTAMP '2024-10-27T00:30:00Z', 'Europe/Berlin')) AS r;

-- 22: §5.3 date_bin_wallclock
SELECT date_bin_wallclock(INTERVAL '1 hour', tz(TIMESTAMP '2024-10-27T01:30:00Z', 'Europe/Berlin')) AS r;

-- 23: §5.3 date_bin_wallclock
SELECT date_bin_wallclock(INTERVAL '2 hours', tz(TIMESTAMP '2024-10-27T01:30:00Z', 'Europe/Berlin')) AS r;

-- 24: §5.3 date_bin_wallclock
SELECT date_bin_wallclock(INTERVAL '1 day', tz(TIMESTAMP '2024-03-31T05:00:00Z', 'Europe/Berlin'), TIMESTAMP '1970-01-01T02:30:00') AS r;

-- 25: §5.3 date_bin_wallclock
SELECT date_bin_wallclock(INTERVAL '1 day', TIMESTAMP '2024-03-31T12:00:00Z') AS r;

-- 26: §5.3 date_bin_wallclock
SELECT date_bin_wallclock(INTERVAL '6 hours', tz(TIMESTAMP '2024-07-01T05:00:00Z', 'America/Los_Angeles')) AS r;

-- 27: §5.3 date_trunc
SELECT date_trunc('year', TIMESTAMP '2022-08-17T14:35:47.123456789Z') AS r;

-- 28: §5.3 date_trunc
SELECT date_trunc('quarter', TIMESTAMP '2022-08-17T14:35:47.123456789Z') AS r;

-- 29: §5.3 date_trunc
SELECT date_trunc('month', TIMESTAMP '2022-08-17T14:35:47.123456789Z') AS r;

-- 30: §5.3 date_trunc
SELECT date_trunc('week', TIMESTAMP '2022-08-17T14:35:47.123456789Z') AS r;

-- 31: §5.3 date_trunc
SELECT date_trunc('day', TIMESTAMP '2022-08-17T14:35:47.123456789Z') AS r;

-- 32: §5.3 date_trunc
SELECT date_trunc('hour', TIMESTAMP '2022-08-17T14:35:47.123456789Z') AS r;

-- 33: §5.3 date_trunc
SELECT date_trunc('minute', TIMESTAMP '2022-08-17T14:35:47.123456789Z') AS r;

-- 34: §5.3 date_trunc
SELECT date_trunc('second', TIMESTAMP '2022-08-17T14:35:47.123456789Z') AS r;

-- 35: §5.3 date_trunc
SELECT date_trunc('millisecond', TIMESTAMP '2022-08-17T14:35:47.123456789Z') AS r;

-- 36: §5.3 date_trunc
SELECT date_trunc('microsecond', TIMESTAMP '2022-08-17T14:35:47.123456789Z') AS r;

-- 37: §5.3 date_trunc
SELECT datetrunc('MONTH', TIMESTAMP '1969-12-31T23:59:59Z') AS r;

-- 38: §5.3 date_trunc
SELECT date_trunc('eon', TIMESTAMP '2022-08-17T14:35:47Z') AS r;

-- 39: §5.3 date_part
SELECT date_part('year', TIMESTAMP '2022-08-17T14:35:47.123456789Z') AS r;

-- 40: §5.3 date_part
SELECT date_part('quarter', TIMESTAMP '2022-08-17T14:35:47.123456789Z') AS r;

-- 41: §5.3 date_part
SELECT date_part('month', TIMESTAMP '2022-08-17T14:35:47.123456789Z') AS r;

-- 42: §5.3 date_part
SELECT date_part('week', TIMESTAMP '2021-01-03T00:00:00Z') AS r;

-- 43: §5.3 date_part
SELECT date_part('day', TIMESTAMP '2022-08-17T14:35:47.123456789Z') AS r;

-- 44: §5.3 date_part
SELECT date_part('hour', TIMESTAMP '2022-08-17T14:35:47.123456789Z') AS r;

-- 45: §5.3 date_part
SELECT date_part('minute', TIMESTAMP '2022-08-17T14:35:47.123456789Z') AS r;

-- 46: §5.3 date_part
SELECT date_part('second', TIMESTAMP '2022-08-17T14:35:47.123456789Z') AS r;

-- 47: §5.3 date_part
SELECT date_part('millisecond', TIMESTAMP '2022-08-17T14:35:47.123456789Z') AS r;

-- 48: §5.3 date_part
SELECT date_part('microsecond', TIMESTAMP '2022-08-17T14:35:47.123456789Z') AS r;

-- 49: §5.3 date_part
SELECT date_part('nanosecond', TIMESTAMP '2022-08-17T14:35:47.123456789Z') AS r;

-- 50: §5.3 date_part
SELECT date_part('dow', TIMESTAMP '2022-08-21T00:00:00Z') AS r;

-- 51: §5.3 date_part
SELECT date_part('doy', TIMESTAMP '2024-12-31T00:00:00Z') AS r;

-- 52: §5.3 date_part
SELECT date_part('epoch', TIMESTAMP '1970-01-01T00:00:01.5Z') AS r;

-- 53: §5.3 date_part
SELECT date_part('epoch', TIMESTAMP '1969-12-31T23:59:59.5Z') AS r;

-- 54: §5.3 date_part
SELECT date_part('day', TIMESTAMP '1969-12-31T23:59:59.999999999Z') AS r;

-- 55: §5.3 date_part
SELECT date_part('hour', tz(TIMESTAMP '2024-07-01T12:00:00Z', 'Europe/Berlin')) AS r;

-- 56: §5.3 date_part
SELECT extract(year FROM TIMESTAMP '2022-08-17T14:35:47Z') AS r;

-- 57: §5.3 date_part
SELECT extract(month FROM TIMESTAMP '2022-08-17T14:35:47Z') AS r;

-- 58: §5.3 date_part
SELECT datepart('minute', TIMESTAMP '2022-08-17T14:35:47Z') AS r;

-- 59: §5.3 conversion
SELECT to_timestamp(1643610630123456789) AS r;

-- 60: §5.3 conversion
SELECT to_timestamp('2022-01-31T06:30:30.123Z') AS r;

-- 61: §5.3 conversion
SELECT to_timestamp('2022-01-31T06:30:30+02:00') AS r;

-- 62: §5.3 conversion
SELECT to_timestamp('2022-01-31') AS r;

-- 63: §5.3 conversion
SELECT to_timestamp('2022-01-31 06:30') AS r;

-- 64: §5.3 conversion
SELECT to_timestamp('03:59:00.123456789 05-17-2023', '%H:%M:%S%.f %m-%d-%Y') AS r;

-- 65: §5.3 conversion
SELECT to_timestamp('03:59:00.123456789 05-17-2023', '%c', '%+', '%H:%M:%S%.f %m-%d-%Y') AS r;

-- 66: §5.3 conversion
SELECT to_timestamp('17 May 2023', '%d %b %Y') AS r;

-- 67: §5.3 conversion
SELECT to_timestamp('2023-05-17 03:59 PM', '%Y-%m-%d %I:%M %p') AS r;

-- 68: §5.3 conversion
SELECT to_timestamp('2023-05-17T01:00:00 +0200', '%Y-%m-%dT%H:%M:%S %z') AS r;

-- 69: §5.3 conversion
SELECT to_timestamp('nonsense', '%Y') AS r;

-- 70: §5.3 conversion
SELECT to_timestamp(1.5) AS r;

-- 71: §5.3 conversion
SELECT to_timestamp(5::BIGINT UNSIGNED) AS r;

-- 72: §5.3 conversion
SELECT to_timestamp_seconds(1643610630) AS r;

-- 73: §5.3 conversion
SELECT to_timestamp_millis(1643610630123) AS r;

-- 74: §5.3 conversion
SELECT to_timestamp_micros(1643610630123456) AS r;

-- 75: §5.3 conversion
SELECT to_timestamp_nanos(1643610630123456789) AS r;

-- 76: §5.3 conversion
SELECT to_timestamp_seconds('2022-01-31T06:30:30.9Z') AS r;

-- 77: §5.3 conversion
SELECT arrow_typeof(to_timestamp_seconds(1)) AS r;

-- 78: §5.3 conversion
SELECT arrow_typeof(to_timestamp(1)) AS r;

-- 79: §5.3 conversion
SELECT from_unixtime(1599572549) AS r;

-- 80: §5.3 conversion
SELECT from_unixtime(1599572549, 'America/New_York') AS r;

-- 81: §5.3 conversion
SELECT to_unixtime('2020-09-08T12:00:00+00:00') AS r;

-- 82: §5.3 conversion
SELECT to_unixtime('01-14-2023 01:01:30+05:30', '%q', '%d-%m-%Y %H/%M/%S', '%+', '%m-%d-%Y %H:%M:%S%#z') AS r;

-- 83: §5.3 conversion
SELECT to_unixtime(TIMESTAMP '1970-01-01T00:00:01.9Z') AS r;

-- 84: §5.3 conversion
SELECT to_date('2023-01-31') AS r;

-- 85: §5.3 conversion
SELECT to_date('2023/01/31', '%Y-%m-%d', '%Y/%m/%d') AS r;

-- 86: §5.3 conversion
SELECT to_date(19000) AS r;

-- 87: §5.3 conversion
SELECT make_date(2023, 1, 31) AS r;

-- 88: §5.3 conversion
SELECT make_date(2023, 2, 30) AS r;

-- 89: §5.3 conversion
SELECT to_char(TIMESTAMP '2023-03-01T14:05:06.123456789Z', '%d-%m-%Y') AS r;

-- 90: §5.3 conversion
SELECT to_char(TIMESTAMP '2023-03-01T14:05:06.123456789Z', '%a %A %b %B %e %j') AS r;

-- 91: §5.3 conversion
SELECT to_char(TIMESTAMP '2023-03-01T14:05:06.123456789Z', '%H %I %M %S %p %y') AS r;

-- 92: §5.3 conversion
SELECT to_char(TIMESTAMP '2023-03-01T14:05:06.123456789Z', '%f %3f %6f %9f %.f %.3f') AS r;

-- 93: §5.3 conversion
SELECT to_char(TIMESTAMP '2023-03-01T14:05:06Z', '%T %D %F%%') AS r;

-- 94: §5.3 conversion
SELECT to_char(TIMESTAMP '2021-01-03T00:00:00Z', '%G-W%V %u %w') AS r;

-- 95: §5.3 conversion
SELECT to_char(TIMESTAMP '2023-03-01T14:05:06Z', '%s') AS r;

-- 96: §5.3 conversion
SELECT to_char(TIMESTAMP '2023-03-01T14:05:06Z', '%c') AS r;

-- 97: §5.3 conversion
SELECT to_char(tz(TIMESTAMP '2023-07-01T14:05:06Z', 'Europe/Berlin'), '%H:%M %z %:z') AS r;

-- 98: §5.3 conversion
SELECT date_format(TIMESTAMP '2023-03-01T14:05:06Z', '%Y') AS r;

-- 99: §5.3 conversion
SELECT arrow_typeof(now()) AS r;

-- 100: §5.3 conversion
SELECT arrow_typeof(current_date()) AS r;

-- 101: §5.3 conversion
SELECT arrow_typeof(current_time()) AS r;

-- 102: §5.3 conversion
SELECT now() = now() AS r;

-- 103: §5.3 conversion
SELECT tz(TIMESTAMP '2024-01-01T00:00:00Z', 'America/Los_Angeles') AS r;

-- 104: §5.3 conversion
SELECT tz(TIMESTAMP '2024-01-01T00:00:00Z', '+02:00') AS r;

-- 105: §5.3 conversion
SELECT tz(TIMESTAMP '2024-01-01T00:00:00Z') AS r;

-- 106: §5.3 conversion
SELECT tz(TIMESTAMP '2024-01-01T00:00:00Z', 'Mars/Base') AS r;

-- 107: §5.3 conversion
SELECT tz(TIMESTAMP '2024-01-01T00:00:00Z', 5) AS r;

-- 108: §5.3 conversion
SELECT arrow_typeof(tz(TIMESTAMP '2024-01-01T00:00:00Z', 'Europe/Berlin')) AS r;

-- 109: §5.3 conversion
SELECT to_local_time(tz(TIMESTAMP '2024-07-01T00:00:00Z', 'Europe/Berlin')) AS r;

-- 110: §5.3 conversion
SELECT to_local_time(TIMESTAMP '2024-07-01T00:00:00Z') AS r;

-- 111: §4.3 time
SELECT TIMESTAMP '2022-01-31T06:30:30.123456789Z' AS r;

-- 112: §4.3 time
SELECT '2022-01-31 06:30:30'::TIMESTAMP AS r;

-- 113: §4.3 time
SELECT 1643610630123000000::TIMESTAMP AS r;

-- 114: §4.3 time
SELECT CAST(TIMESTAMP '1970-01-01T00:00:00.000000005Z' AS BIGINT) AS r;

-- 115: §4.3 time
SELECT TIMESTAMP '2022-01-31T00:00:00Z' + INTERVAL '1 month' AS r;

-- 116: §4.3 time
SELECT TIMESTAMP '2022-03-31T00:00:00Z' - INTERVAL '1 month' AS r;

-- 117: §4.3 time
SELECT TIMESTAMP '2022-01-01T00:00:00Z' + INTERVAL '4 minutes 1 nanosecond' AS r;

-- 118: §4.3 time
SELECT TIMESTAMP '2022-01-01T00:00:00Z' + INTERVAL '1 day 6 hours 30 minutes' AS r;

-- 119: §4.3 time
SELECT TIMESTAMP '2022-01-01T00:00:00Z' - INTERVAL 1 DAY AS r;

-- 120: §4.3 time
SELECT TIMESTAMP '2022-01-01T00:00:00Z' + INTERVAL '-1 week' AS r;

-- 121: §4.3 time
SELECT TIMESTAMP '2022-01-01T00:00:00Z' + INTERVAL '90' AS r;

-- 122: §4.3 time
SELECT TIMESTAMP '2022-01-01T00:00:00Z' + INTERVAL '1 decade' AS r;

-- 123: §4.3 time
SELECT TIMESTAMP '2022-01-01T00:00:00Z' + INTERVAL '1us 2ms 3s' AS r;

-- 124: §4.3 time
SELECT TIMESTAMP '2022-01-01T00:00:00Z' = '2022-01-01' AS r;

-- 125: §4.3 time
SELECT TIMESTAMP '2022-01-01T00:00:00Z' < '2022-01-01T00:00:00+01:00' AS r;

-- 126: §4.3 time
SELECT TIMESTAMP '2022-01-01T00:00:00Z' > 'yesterday-ish' AS r;

-- 127: §4.3 time
SELECT TIMESTAMP '2022-01-01T12:00:00Z' BETWEEN '2022-01-01T12:00:00Z' AND '2022-01-01T12:00:00Z' AS r;

-- 128: §4.3 time
SELECT arrow_typeof(TIMESTAMP '2022-01-02T00:00:00Z' - TIMESTAMP '2022-01-01T00:00:00Z') AS r;

-- 129: §4.3 time
SELECT arrow_typeof(TIMESTAMP '2022-01-01T12:00:00Z' AT TIME ZONE 'Europe/Berlin') AS r;

-- 130: §4.3 time
SELECT TIMESTAMP '2022-01-01T12:00:00Z' AT TIME ZONE 'Europe/Berlin' AS r;

-- 131: §4.3 lowercase t and z, as in DataFusion 55
SELECT TIMESTAMP '2023-01-25t09:58:02z' AS r, CAST(x AS TIMESTAMP) AS s FROM (VALUES ('2023-01-25t09:58:02z')) v(x);

-- 132: §4.3 dates outside the range of timestamps; expected values from DataFusion 55
SELECT DATE '9999-12-31' AS r, DATE '0001-01-01' AS s, to_date('1500-06-15') AS t, arrow_cast('2262-04-12', 'Date32') AS u, DATE '9999-12-31' + 1 - 2 AS v,
TRY_CAST('9999-13-31' AS DATE) AS w, TRY_CAST(DATE '9999-12-31' AS TIMESTAMP) AS x;

-- 133: §4.3 comparing a date outside the range of timestamps
SELECT x FROM (VALUES (DATE '2020-01-01'), (DATE '9999-12-31')) v(x) WHERE x > DATE '2300-01-01';

-- 134: §4.3 a timestamp outside its range
SELECT TIMESTAMP '2262-04-12' AS r;

-- 135: §4.3 a date outside the range of timestamps as a timestamp
SELECT TIMESTAMP '2020-01-01' < DATE '9999-12-31' AS r;
