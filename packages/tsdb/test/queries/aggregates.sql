-- write
-- cpu,host=a,region=eu usage=1.5,n=1i,u=1u,ok=true,s="x" 10
-- cpu,host=a,region=eu usage=2.5,n=2i,u=2u,ok=false,s="y" 20
-- cpu,host=b usage=4,n=4i,s="z" 10
-- cpu,host=b,region=us usage=8,n=9i,u=7u,ok=true 30
-- cpu,host=c n=-3i 40
-- big,k=a v=9223372036854775807i,u=18446744073709551615u 1
-- big,k=b v=9223372036854775807i,u=1u 2

-- 1: §5.1 aggregates
SELECT count(*) AS all_rows, count(usage) AS c, count(u) AS cu, count(DISTINCT host) AS d
FROM cpu;

-- 2: §5.1 aggregates
SELECT sum(usage) AS f, sum(n) AS i, sum(u) AS u FROM cpu;

-- 3: §5.1 aggregates
SELECT arrow_typeof(sum(usage)) AS f, arrow_typeof(sum(n)) AS i, arrow_typeof(sum(u)) AS u, arrow_typeof(count(*)) AS c, arrow_typeof(avg(n)) AS a
FROM cpu;

-- 4: §5.1 aggregates
SELECT sum(v) AS s FROM big;

-- 5: §5.1 aggregates
SELECT min(s) AS a, max(s) AS b, min(ok) AS c, max(ok) AS d, min(n) AS e, max(n) AS f
FROM cpu;

-- 6: §5.1 aggregates
SELECT min(time) AS a, max(time) AS b FROM cpu;

-- 7: §5.1 aggregates
SELECT avg(usage) AS a, mean(n) AS b FROM cpu;

-- 8: §5.1 aggregates
SELECT median(usage) AS a, median(n) AS b FROM cpu;

-- 9: §5.1 aggregates
SELECT median(n) AS m FROM cpu WHERE host = 'a';

-- 10: §5.1 aggregates
SELECT median(n) AS m FROM cpu WHERE n IN (-3, 2);

-- 11: §5.1 aggregates
SELECT median(v) AS m FROM big;

-- 12: §5.1 aggregates
SELECT round(stddev(usage), 6) AS a, round(stddev_samp(usage), 6) AS b, round(stddev_pop(usage), 6) AS c
FROM cpu;

-- 13: §5.1 aggregates
SELECT round(var(usage), 6) AS a, round(var_samp(usage), 6) AS b, round(var_sample(usage), 6) AS c, round(var_pop(usage), 6) AS d, round(var_population(usage), 6) AS e
FROM cpu;

-- 14: §5.1 aggregates
SELECT stddev(usage) AS a, var(usage) AS b, stddev_pop(usage) AS c FROM cpu WHERE s = 'z';

-- 15: §5.1 aggregates
SELECT bit_and(n) AS a, bit_or(n) AS b, bit_xor(n) AS c FROM cpu WHERE n > 0;

-- 16: §5.1 aggregates
SELECT bool_and(ok) AS a, bool_or(ok) AS b FROM cpu;

-- 17: §5.1 aggregates
SELECT array_agg(n ORDER BY n) AS a FROM cpu;

-- 18: §5.1 aggregates
SELECT array_agg(u ORDER BY time, host) AS a FROM cpu;

-- 19: §5.1 aggregates
SELECT array_agg(n ORDER BY n DESC) AS a FROM cpu WHERE host = 'a';

-- 20: §5.1 aggregates
SELECT string_agg(s, '-' ORDER BY s) AS a, string_agg(s, ',' ORDER BY s DESC) AS b
FROM cpu;

-- 21: §5.1 aggregates
SELECT first_value(s ORDER BY time, host) AS a, last_value(n ORDER BY time) AS b, nth_value(n, 2 ORDER BY n) AS c
FROM cpu;

-- 22: §5.1 aggregates
SELECT first_value(u ORDER BY host DESC, time) AS a FROM cpu;

-- 23: §5.1 aggregates
SELECT first_value(u ORDER BY host DESC, time) IGNORE NULLS AS a FROM cpu;

-- 24: §5.1 aggregates
SELECT round(corr(usage, n), 6) AS a, round(covar(usage, n), 6) AS b, covar_pop(usage, n) AS c, round(covar_samp(usage, n), 6) AS d
FROM cpu;

-- 25: §5.1 aggregates
SELECT round(regr_slope(usage, n), 6) AS a, round(regr_intercept(usage, n), 6) AS b, round(regr_r2(usage, n), 6) AS c, regr_count(usage, n) AS d
FROM cpu;

-- 26: §5.1 aggregates
SELECT regr_avgx(usage, n) AS a, regr_avgy(usage, n) AS b, round(regr_sxx(usage, n), 6) AS c, round(regr_syy(usage, n), 6) AS d, round(regr_sxy(usage, n), 6) AS e
FROM cpu;

-- 27: §5.1 aggregates
SELECT approx_distinct(host) AS a, arrow_typeof(approx_distinct(host)) AS b FROM cpu;

-- 28: §5.1 aggregates
SELECT approx_median(n) AS a, arrow_typeof(approx_median(n)) AS b, approx_median(usage) AS c
FROM cpu;

-- 29: §5.1 aggregates
SELECT approx_percentile_cont(0.5) WITHIN GROUP (ORDER BY usage) AS a, approx_percentile_cont(n, 0.5) AS b
FROM cpu;

-- 30: §5.1 aggregates
SELECT approx_percentile_cont(1.5) WITHIN GROUP (ORDER BY usage) AS a FROM cpu;

-- 31: §5.1 aggregates
SELECT percentile_cont(0.25) WITHIN GROUP (ORDER BY usage) AS a, percentile_cont(0.25) WITHIN GROUP (ORDER BY usage DESC) AS b
FROM cpu;

-- 32: §5.1 aggregates
SELECT count(*) FILTER (WHERE host = 'a') AS a, sum(usage) FILTER (WHERE host = 'b') AS b
FROM cpu;

-- 33: §5.1 aggregates
SELECT sum(usage) AS a, count(*) AS b, avg(n) AS c, median(n) AS d, max(s) AS e, bool_or(ok) AS f
FROM cpu
WHERE host = 'nobody';

-- 34: §5.1 aggregates
SELECT host, count(*) AS c, sum(n) AS s FROM cpu GROUP BY host ORDER BY host;

-- 35: §5.1 aggregates
SELECT host, sum(usage) AS s FROM cpu GROUP BY host ORDER BY s DESC;

-- 36: §5.1 aggregates
SELECT host FROM cpu GROUP BY host HAVING count(usage) > 1 ORDER BY host;

-- 37: §5.1 aggregates
SELECT host AS h, max(n) AS m FROM cpu GROUP BY h HAVING m > 1 ORDER BY m;

-- 38: §5.1 aggregates
SELECT host, count(*) AS c FROM cpu GROUP BY 1 ORDER BY 1 DESC LIMIT 1;

-- 39: §5.1 aggregates
SELECT region, count(*) AS c FROM cpu GROUP BY region ORDER BY region;

-- 40: §5.1 aggregates
SELECT sum(DISTINCT x) AS s FROM (VALUES (1), (1), (2)) AS t(x);

-- 41: §5.1 aggregates
SELECT count(DISTINCT x) AS c, count(x) AS d FROM (VALUES (1), (1), (NULL)) AS t(x);

-- 42: §5.1 aggregates
SELECT avg(usage) FROM cpu;

-- 43: §5.1 aggregates
SELECT count(*), max(n) FROM cpu;

-- 44: §5.1 aggregates
SELECT sum(s) AS a FROM cpu;

-- 45: §5.1 aggregates
SELECT host, usage FROM cpu GROUP BY host;

-- 46: §5.1 aggregates
SELECT usage FROM cpu WHERE sum(usage) > 1;

-- 47: §3.1 grouping sets
SELECT host, sum(n) AS s FROM cpu GROUP BY ROLLUP(host) ORDER BY host;

-- 48: §3.1 grouping sets
SELECT host, ok, count(*) AS c
FROM cpu
WHERE host = 'a'
GROUP BY CUBE(host, ok) ORDER BY host, ok;

-- 49: §3.1 grouping sets
SELECT host, grouping(host) AS g, count(*) AS c
FROM cpu
GROUP BY GROUPING SETS ((host), ()) ORDER BY g, host;

-- 50: §5.1 aggregates
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY n) AS a, percentile_cont(n, 0.25) AS b, arrow_typeof(quantile_cont(0.5) WITHIN GROUP (ORDER BY n)) AS c
FROM cpu
WHERE n > 0;

-- 51: §5.1 aggregates
SELECT approx_percentile_cont_with_weight(1, 0.5) WITHIN GROUP (ORDER BY usage) AS a
FROM cpu
WHERE host = 'a';

-- 52: §5.1 ORDER BY takes a name of the list before a column
SELECT n AS host, host AS h, count(*) AS c
FROM cpu
GROUP BY n, cpu.host
ORDER BY host;

-- 53: §5.1 the same, the column by its bare name among the keys
SELECT n AS host, count(*) AS c
FROM cpu
GROUP BY 1, host
ORDER BY host;

-- 54: §3.2 a column beside another value of its name
SELECT usage AS host, host FROM cpu;

-- 55: §5.1 a subquery within a weighted percentile
SELECT approx_percentile_cont_with_weight(CASE WHEN n > ALL (SELECT n FROM cpu WHERE host = 'a') THEN 1 ELSE 0 END, 1, 1.0) AS p, count(*) AS c
FROM cpu;

-- 56: §5.1 constants within a weighted percentile
SELECT approx_percentile_cont_with_weight(3, 1, 0.5) AS p FROM cpu;

-- 57: §5.1 positions are of type Int64
SELECT nth_value(n, 18446744073709551615) AS r FROM cpu;

-- 58: §5.1 two percentiles of the same values
SELECT approx_percentile_cont_with_weight(n, 1, 0.0) AS a, approx_percentile_cont_with_weight(n, 1, 1.0) AS b
FROM cpu;
