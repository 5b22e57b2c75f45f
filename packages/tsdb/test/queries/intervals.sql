-- 1: §4.4 fractions of months are days of 30
SELECT TIMESTAMP '2024-12-30' + INTERVAL '1.5 months' AS r;

-- 2: §4.4 fractions of months are days of 30
SELECT INTERVAL '1.5 months' AS a, INTERVAL '0.5 month' AS b, INTERVAL '1.1 mon' AS c, INTERVAL '1.999999999 months' AS d;

-- 3: §4.4 fractions of months are days of 30
SELECT INTERVAL '-1.5 months' AS a, - INTERVAL '1.5 months' AS b, INTERVAL '1.5 month' + INTERVAL '1 day' AS c;

-- 4: §4.4 fractions of months are days of 30
SELECT INTERVAL 1.5 MONTH AS a, INTERVAL '1.5' MONTH AS b, '1.5 months'::INTERVAL AS c;

-- 5: §4.4 fractions of months are days of 30
SELECT INTERVAL '1.5 years' AS a, INTERVAL '1.1 years' AS b, INTERVAL '0.3 decade' AS c, INTERVAL '2.3 centuries' AS d;

-- 6: §4.4 fractions of months are days of 30
SELECT INTERVAL '1.5 weeks' AS a, INTERVAL '0.1 weeks' AS b, INTERVAL '-1.3 days' AS c, INTERVAL '1.5 months 1.5 weeks' AS d;

-- 7: §4.4 fractions of months are days of 30
SELECT date_bin(INTERVAL '0.5 month', TIMESTAMP '2024-12-30') AS r;

-- 8: §4.4 fractions of months are days of 30
SELECT date_bin(INTERVAL '1.5 months', TIMESTAMP '2024-12-30') AS r;

-- 9: §4.4 fractions of months are days of 30
SELECT DATE '2024-12-30' + INTERVAL '0.5 month' AS a, DATE '2024-12-30' - INTERVAL '1.5 weeks' AS b;

-- 10: §4.4 units in each spelling
SELECT INTERVAL 1 WEEK AS a, INTERVAL '1' WEEK AS b, INTERVAL '1 week' AS c, INTERVAL 2 WEEKS AS d, INTERVAL '2' WEEKS AS e, INTERVAL -1 WEEK AS f;

-- 11: §4.4 units in each spelling
SELECT INTERVAL 1 YEAR AS a, INTERVAL '1' YEARS AS b, INTERVAL '1 y' AS c, INTERVAL '1 yrs' AS d, INTERVAL 1 MONTH AS e, INTERVAL '2' MONTHS AS f, INTERVAL '1 mons' AS g;

-- 12: §4.4 units in each spelling
SELECT INTERVAL 1 CENTURY AS a, INTERVAL '1' CENTURY AS b, INTERVAL '1 centuries' AS c, INTERVAL '1 c' AS d, INTERVAL '1 cents' AS e;

-- 13: §4.4 units in each spelling
SELECT INTERVAL 1 DECADE AS a, INTERVAL '1' DECADE AS b, INTERVAL '1 decades' AS c, INTERVAL '1 decs' AS d;

-- 14: §4.4 units in each spelling
SELECT INTERVAL 1 DAY AS a, INTERVAL '1' DAYS AS b, INTERVAL '1 d' AS c, INTERVAL 1 HOUR AS d, INTERVAL '1' HOURS AS e, INTERVAL '1 hrs' AS f, INTERVAL 1 MINUTE AS g, INTERVAL '1' MINUTES AS h, INTERVAL '1 mins' AS i;

-- 15: §4.4 units in each spelling
SELECT INTERVAL 1 SECOND AS a, INTERVAL '1' SECONDS AS b, INTERVAL '1 secs' AS c, INTERVAL 1 MILLISECOND AS d, INTERVAL '1' MILLISECONDS AS e, INTERVAL '1 mseconds' AS f;

-- 16: §4.4 units in each spelling
SELECT INTERVAL 1 MICROSECOND AS a, INTERVAL '1' MICROSECONDS AS b, INTERVAL '1 useconds' AS c, INTERVAL 1 NANOSECOND AS d, INTERVAL '1' NANOSECONDS AS e;

-- 17: §4.4 units in each spelling
SELECT TIMESTAMP '2024-12-30' + INTERVAL 1 WEEK AS a, TIMESTAMP '2024-12-30' - INTERVAL '2' WEEK AS b, date_bin(INTERVAL 1 WEEK, TIMESTAMP '2024-12-30') AS c;

-- 18: §4.4 units in each spelling
SELECT INTERVAL '1' WEEK(MONDAY) AS r;
