-- write
-- m,t=a f=65,i=3i,s="b",b=true 100
-- m,t=b f=80,i=1i,s="a",b=false 200
-- m,t=c f=60,i=3i,s="c",b=true 300
-- m,t=d f=80,i=2i,s="a",b=false 150
-- e,t=a x=1 1
-- e,t=a y=2 2
-- tie,t=a v=1 5
-- tie,t=b v=2 5

-- 1: §5.2 selectors
SELECT selector_first(f, time)['value'] AS v, selector_first(f, time)['time'] AS t FROM m;

-- 2: §5.2 selectors
SELECT selector_last(f, time)['value'] AS v, selector_last(f, time)['time'] AS t FROM m;

-- 3: §5.2 selectors
SELECT selector_min(f, time)['value'] AS v, selector_min(f, time)['time'] AS t FROM m;

-- 4: §5.2 selectors
SELECT selector_max(f, time)['value'] AS v, selector_max(f, time)['time'] AS t FROM m;

-- 5: §5.2 selectors
SELECT selector_max(i, time) AS r FROM m;

-- 6: §5.2 selectors
SELECT selector_min(s, time) AS r FROM m;

-- 7: §5.2 selectors
SELECT selector_min(b, time) AS r FROM m;

-- 8: §5.2 selectors
SELECT selector_last(s, time) AS r FROM m;

-- 9: §5.2 selectors
SELECT get_field(selector_first(i, time), 'value') AS r FROM m;

-- 10: §5.2 selectors
SELECT selector_last(x, time) AS x, selector_first(y, time) AS y FROM e;

-- 11: §5.2 selectors
SELECT selector_first(f, time) AS r FROM m WHERE t = 'zzz';

-- 12: §5.2 selectors
SELECT selector_first(v, time)['value'] AS f, selector_last(v, time)['value'] AS l
FROM tie;

-- 13: §5.2 selectors
SELECT t, selector_max(f, time)['value'] AS v FROM m GROUP BY t ORDER BY t;

-- 14: §5.2 selectors
SELECT selector_first(f, time)['value'] FROM m;

-- 15: §5.2 selectors
SELECT selector_max(f, f) AS r FROM m;

-- 16: §5.2 selectors
SELECT selector_max(f) AS r FROM m;
