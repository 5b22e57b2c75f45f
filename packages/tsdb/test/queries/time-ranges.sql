-- 1: §5.7 ranges of dates and times
SELECT range(DATE '2024-01-01', DATE '2024-06-01', INTERVAL '1 month') AS a, generate_series(DATE '2024-01-01', DATE '2024-06-01', INTERVAL '1 month') AS b;

-- 2: §5.7 ranges of dates and times
SELECT range(TIMESTAMP '2024-01-31', TIMESTAMP '2024-06-01', INTERVAL '1 month') AS a, generate_series(TIMESTAMP '2024-01-31', TIMESTAMP '2024-03-29', INTERVAL '1 month') AS b;

-- 3: §5.7 ranges of dates and times
SELECT generate_series(TIMESTAMP '2024-01-31T06:00:00.000000007', TIMESTAMP '2024-03-29T06:00:00.000000007', INTERVAL '1 month') AS a, range(TIMESTAMP '2024-01-31T06:00:00.000000007', TIMESTAMP '2024-03-29T06:00:00.000000007', INTERVAL '1 month') AS b;

-- 4: §5.7 ranges of dates and times
SELECT generate_series(DATE '2024-05-31', DATE '2024-01-31', INTERVAL '-1 month') AS a, generate_series(DATE '2024-05-31', DATE '2024-01-31', INTERVAL '1 month') AS b, generate_series(TIMESTAMP '2024-01-31', TIMESTAMP '2024-01-01', INTERVAL '-1 week') AS c;

-- 5: §5.7 ranges of dates and times
SELECT generate_series(TIMESTAMP '2024-01-31', TIMESTAMP '2024-03-31', INTERVAL '1 month 1 day') AS a, generate_series(DATE '2024-01-31', DATE '2024-03-31', INTERVAL '1 month 1 hour') AS b, generate_series(TIMESTAMP '2023-01-01', TIMESTAMP '2025-01-01', INTERVAL '1 year') AS c;

-- 6: §5.7 ranges of dates and times
SELECT generate_series('2024-01-31', '2024-03-31', INTERVAL '1 month') AS a, generate_series(DATE '2024-01-31', '2024-02-02', INTERVAL '1 day') AS b;

-- 7: §5.7 ranges of dates and times
SELECT generate_series(DATE '2024-01-31', NULL, INTERVAL '1 day') AS a, generate_series(NULL, DATE '2024-01-31', INTERVAL '1 day') AS b, generate_series(DATE '2024-01-31', DATE '2024-02-05', NULL) AS c;

-- 8: §5.7 ranges of dates and times
SELECT generate_series(a, b, INTERVAL '1 month') AS r FROM (VALUES (DATE '2024-01-31', DATE '2024-03-31'), (DATE '2024-02-29', DATE '2024-01-01'), (NULL, DATE '2024-01-01')) t(a, b) ORDER BY a;

-- 9: §5.7 ranges of dates and times
SELECT generate_series(TIMESTAMP '2024-03-09' AT TIME ZONE 'America/New_York', TIMESTAMP '2024-03-12' AT TIME ZONE 'America/New_York', INTERVAL '1 day') AS a, generate_series(TIMESTAMP '2024-03-09' AT TIME ZONE 'America/New_York', TIMESTAMP '2024-03-12' AT TIME ZONE 'America/New_York', INTERVAL '24 hours') AS b;

-- 10: §5.7 ranges of dates and times
SELECT generate_series(TIMESTAMP '2024-03-01' AT TIME ZONE 'America/New_York', TIMESTAMP '2024-05-01' AT TIME ZONE 'America/New_York', INTERVAL '1 month') AS r;

-- 11: §5.7 ranges of dates and times
SELECT unnest(generate_series(DATE '2024-01-31', DATE '2024-03-31', INTERVAL '1 month')) AS r;

-- 12: §5.7 ranges of dates and times
SELECT arrow_typeof(a) = arrow_typeof(b) AS r FROM (SELECT range(DATE '2024-05-31', DATE '2024-01-31', INTERVAL '1 month') AS a, make_array(DATE '2024-05-31') AS b);

-- 13: §5.7 ranges of dates and times
SELECT range(TIMESTAMP '2024-01-31', TIMESTAMP '2024-02-01', INTERVAL '0 days') AS r;

-- 14: §5.7 ranges of dates and times
SELECT generate_series(DATE '2024-01-31', DATE '2024-02-01', INTERVAL '1 hour') AS r;

-- 15: §5.7 ranges of dates and times
SELECT generate_series(TIMESTAMP '2024-01-31', TIMESTAMP '2024-06-01', INTERVAL '1 month -1 day') AS r;

-- 16: §5.7 ranges of dates and times
SELECT range(TIMESTAMP '1970-01-01', TIMESTAMP '2200-01-01', INTERVAL '1 second') AS r;

-- 17: §3.1 ranges of dates and times in FROM
SELECT * FROM generate_series(TIMESTAMP '2024-01-31', TIMESTAMP '2024-06-01', INTERVAL '1 month');

-- 18: §3.1 ranges of dates and times in FROM
SELECT * FROM range(DATE '2024-01-31', DATE '2024-03-29', INTERVAL '1 month');

-- 19: §3.1 ranges of dates and times in FROM
SELECT * FROM generate_series(TIMESTAMP '2024-02-02', TIMESTAMP '2024-01-31', INTERVAL '-1 day');

-- 20: §3.1 ranges of dates and times in FROM
SELECT count(*) AS r FROM generate_series(TIMESTAMP '2024-02-02', TIMESTAMP '2024-01-31', INTERVAL '1 day');

-- 21: §3.1 ranges of dates and times in FROM
SELECT count(*) AS r FROM generate_series(DATE '2024-02-03', DATE '2024-02-04', INTERVAL '1 hour');

-- 22: §3.1 ranges of dates and times in FROM
SELECT count(*) AS a FROM generate_series(TIMESTAMP '2024-02-03', NULL, INTERVAL '1 day');

-- 23: §3.1 ranges of dates and times in FROM
SELECT count(*) AS a FROM generate_series(TIMESTAMP '2024-02-03', TIMESTAMP '2024-02-04', NULL);

-- 24: §3.1 ranges of dates and times in FROM
SELECT * FROM generate_series(TIMESTAMP '2024-03-09' AT TIME ZONE 'America/New_York', TIMESTAMP '2024-03-12' AT TIME ZONE 'America/New_York', INTERVAL '1 day');

-- 25: §3.1 ranges of dates and times in FROM
SELECT * FROM range(TIMESTAMP '2024-01-01', TIMESTAMP '2024-01-01T00:00:00.000000003', INTERVAL '1 nanosecond');

-- 26: §3.1 ranges of dates and times in FROM
SELECT i, date_trunc('day', j) AS day FROM generate_series(1, 2) t(i), generate_series(DATE '2024-01-31', DATE '2024-02-01', INTERVAL '12 hours') d(j) ORDER BY i, j;

-- 27: §3.1 ranges of dates and times in FROM
SELECT max(value) AS r FROM generate_series(TIMESTAMP '1970-01-01', TIMESTAMP '1970-02-01', INTERVAL '1 second');

-- 28: §3.1 ranges of dates and times in FROM
SELECT * FROM generate_series(TIMESTAMP '2024-02-03', TIMESTAMP '2024-01-31', INTERVAL '0 days');

-- 29: §3.1 ranges of dates and times in FROM
SELECT * FROM generate_series(DATE '2024-01-31', DATE '2024-02-03');

-- 30: §3.1 ranges of dates and times in FROM
SELECT * FROM generate_series(DATE '2024-01-31', DATE '2024-02-03', 1);

-- 31: §3.1 ranges of dates and times in FROM
SELECT * FROM range(1.5, 3);
