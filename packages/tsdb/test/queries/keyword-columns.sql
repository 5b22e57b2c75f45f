-- write
-- procs,user=root v=1 1
-- procs,user=root v=3 2
-- procs,user=www v=2 1
-- procs v=9 1

-- 1: §3.2 columns named like words that SQL calls without brackets
SELECT user AS a, current_user AS b, session_user AS c, localtime AS d, localtimestamp AS e, current_catalog AS f FROM (VALUES (1, 2, 3, 4, 5, 6)) t("user", "current_user", "session_user", "localtime", "localtimestamp", "current_catalog");

-- 2: §3.2 columns named like words that SQL calls without brackets
SELECT User FROM (VALUES (1)) t("user");

-- 3: §3.2 columns named like words that SQL calls without brackets
SELECT t.user AS a, t.current_time AS b, t.current_date AS c, t.current_timestamp AS d FROM (VALUES (1, 2, 3, 4)) t("user", "current_time", "current_date", "current_timestamp");

-- 4: §3.2 columns named like words that SQL calls without brackets
SELECT user, count(*) AS n FROM (VALUES ('a'), ('b'), ('a')) t("user") WHERE user IN ('a', 'b') AND t.user <> 'c' GROUP BY user HAVING max(user) > '' ORDER BY user DESC;

-- 5: §3.2 columns named like words that SQL calls without brackets
SELECT a AS user FROM (VALUES (1), (2)) t(a) ORDER BY user DESC;

-- 6: §3.2 columns named like words that SQL calls without brackets
SELECT a.user AS r FROM (VALUES (1)) a("user") JOIN (VALUES (1)) b("user") ON a.user = b.user;

-- 7: §3.2 functions stay what they are
SELECT current_date = CAST(now() AS DATE) AS a, current_date() = current_date AS b FROM (VALUES (1)) t("current_date");

-- 8: §3.2 no such column
SELECT user FROM (VALUES (1)) t(a);

-- 9: §3.2 no such column
SELECT localtime;

-- 10: §3.2 a tag of the table
SELECT user, max(v) AS v FROM procs WHERE user = 'root' OR procs.user = 'www' GROUP BY user ORDER BY user;
