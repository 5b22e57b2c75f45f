-- 1: §5.7 conditional
SELECT coalesce(NULL, NULL, 3) AS r;

-- 2: §5.7 conditional
SELECT coalesce(NULL, 'a', 'b') AS r;

-- 3: §5.7 conditional
SELECT nullif(1, 1) AS r;

-- 4: §5.7 conditional
SELECT nullif(1, 2) AS r;

-- 5: §5.7 conditional
SELECT nvl(NULL, 'x') AS r;

-- 6: §5.7 conditional
SELECT ifnull(2, 3) AS r;

-- 7: §5.7 conditional
SELECT nvl2(NULL, 'a', 'b') AS r;

-- 8: §5.7 conditional
SELECT nvl2(1, 'a', 'b') AS r;

-- 9: §5.7 conditional
SELECT greatest(1, 3, NULL, 2) AS r;

-- 10: §5.7 conditional
SELECT least(1, 3, NULL, 2) AS r;

-- 11: §5.7 conditional
SELECT greatest(NULL, NULL) AS r;

-- 12: §5.7 conditional
SELECT greatest('a', 'b') AS r;

-- 13: §5.7 conditional
SELECT CASE WHEN 1 = 2 THEN 'a' ELSE 'b' END AS r;

-- 14: §5.7 conditional
SELECT CASE 3 WHEN 1 THEN 'a' WHEN 3 THEN 'c' END AS r;

-- 15: §5.7 conditional
SELECT CASE WHEN NULL THEN 1 END AS r;

-- 16: §5.7 lists
SELECT make_array(1, 2, 3) AS r;

-- 17: §5.7 lists
SELECT make_array(1, NULL, 3) AS r;

-- 18: §5.7 lists
SELECT make_list('a', 'b') AS r;

-- 19: §5.7 lists
SELECT range(1, 7, 2) AS r;

-- 20: §5.7 lists
SELECT range(3) AS r;

-- 21: §5.7 lists
SELECT generate_series(1, 7, 2) AS r;

-- 22: §5.7 lists
SELECT generate_series(3, 1, -1) AS r;

-- 23: §5.7 lists
SELECT range(1, 5, 0) AS r;

-- 24: §5.7 lists
SELECT array_any_value(make_array(NULL, 2, 3)) AS r;

-- 25: §5.7 lists
SELECT array_append(make_array(1, 2), 3) AS r;

-- 26: §5.7 lists
SELECT array_push_back(make_array(1, 2), 3) AS r;

-- 27: §5.7 lists
SELECT array_concat(make_array(1), make_array(2), make_array(3)) AS r;

-- 28: §5.7 lists
SELECT array_cat(make_array(1), make_array(2)) AS r;

-- 29: §5.7 lists
SELECT array_contains(make_array(1, 2), 2) AS r;

-- 30: §5.7 lists
SELECT array_has(make_array(1, 2), 3) AS r;

-- 31: §5.7 lists
SELECT list_has(make_array('a'), 'a') AS r;

-- 32: §5.7 lists
SELECT array_dims(make_array(make_array(1, 2, 3), make_array(4, 5, 6))) AS r;

-- 33: §5.7 lists
SELECT array_distance(make_array(1.0, 2.0), make_array(1.0, 4.0)) AS r;

-- 34: §5.7 lists
SELECT array_distinct(make_array(3, 1, 3, 2)) AS r;

-- 35: §5.7 lists
SELECT array_element(make_array(1, 2, 3), 2) AS r;

-- 36: §5.7 lists
SELECT array_element(make_array(1, 2, 3), -1) AS r;

-- 37: §5.7 lists
SELECT array_extract(make_array(1, 2, 3), 9) AS r;

-- 38: §5.7 lists
SELECT make_array(10, 20, 30)[2] AS r;

-- 39: §5.7 lists
SELECT empty(make_array(1)) AS r;

-- 40: §5.7 lists
SELECT array_except(make_array(1, 2, 3, 4), make_array(5, 6, 3, 4)) AS r;

-- 41: §5.7 lists
SELECT array_has_all(make_array(1, 2, 3), make_array(3, 1)) AS r;

-- 42: §5.7 lists
SELECT array_has_any(make_array(1, 2), make_array(9, 2)) AS r;

-- 43: §5.7 lists
SELECT arrays_overlap(make_array(1, 2), make_array(9)) AS r;

-- 44: §5.7 lists
SELECT array_intersect(make_array(1, 2, 3, 4), make_array(5, 6, 3, 4)) AS r;

-- 45: §5.7 lists
SELECT array_length(make_array(1, 2, 3)) AS r;

-- 46: §5.7 lists
SELECT array_max(make_array(1, 3, 2)) AS r;

-- 47: §5.7 lists
SELECT array_min(make_array(2, NULL, 1)) AS r;

-- 48: §5.7 lists
SELECT array_ndims(make_array(make_array(1))) AS r;

-- 49: §5.7 lists
SELECT array_pop_back(make_array(1, 2, 3)) AS r;

-- 50: §5.7 lists
SELECT array_pop_front(make_array(1, 2, 3)) AS r;

-- 51: §5.7 lists
SELECT array_position(make_array(1, 2, 2, 3), 2) AS r;

-- 52: §5.7 lists
SELECT array_position(make_array(1, 2, 2, 3), 2, 3) AS r;

-- 53: §5.7 lists
SELECT array_position(make_array(1), 9) AS r;

-- 54: §5.7 lists
SELECT array_indexof(make_array('a', 'b'), 'b') AS r;

-- 55: §5.7 lists
SELECT array_positions(make_array(1, 2, 2, 3), 2) AS r;

-- 56: §5.7 lists
SELECT array_prepend(0, make_array(1, 2)) AS r;

-- 57: §5.7 lists
SELECT array_push_front(0, make_array(1, 2)) AS r;

-- 58: §5.7 lists
SELECT array_remove(make_array(1, 2, 2, 3), 2) AS r;

-- 59: §5.7 lists
SELECT array_remove_n(make_array(1, 2, 2, 3, 2), 2, 2) AS r;

-- 60: §5.7 lists
SELECT array_remove_all(make_array(1, 2, 2, 3, 2), 2) AS r;

-- 61: §5.7 lists
SELECT array_repeat('a', 3) AS r;

-- 62: §5.7 lists
SELECT array_replace(make_array(1, 2, 2), 2, 9) AS r;

-- 63: §5.7 lists
SELECT array_replace_n(make_array(1, 2, 2, 2), 2, 9, 2) AS r;

-- 64: §5.7 lists
SELECT array_replace_all(make_array(1, 2, 2), 2, 9) AS r;

-- 65: §5.7 lists
SELECT array_resize(make_array(1, 2), 4, 0) AS r;

-- 66: §5.7 lists
SELECT array_reverse(make_array(1, 2, 3)) AS r;

-- 67: §5.7 lists
SELECT array_slice(make_array(1, 2, 3, 4, 5), 2, 4) AS r;

-- 68: §5.7 lists
SELECT array_slice(make_array(1, 2, 3, 4, 5), 1, 5, 2) AS r;

-- 69: §5.7 lists
SELECT array_slice(make_array(1, 2, 3, 4, 5), -2, -1) AS r;

-- 70: §5.7 lists
SELECT array_sort(make_array(3, 1, NULL, 2)) AS r;

-- 71: §5.7 lists
SELECT array_sort(make_array(3, 1, NULL, 2), 'DESC', 'NULLS LAST') AS r;

-- 72: §5.7 lists
SELECT array_to_string(make_array(1, NULL, 3), '-') AS r;

-- 73: §5.7 lists
SELECT array_join(make_array(1, NULL, 3), '-', '*') AS r;

-- 74: §5.7 lists
SELECT array_union(make_array(1, 2, 3, 4), make_array(5, 6, 3, 4)) AS r;

-- 75: §5.7 lists
SELECT cardinality(make_array(make_array(1, 2), make_array(3, 4))) AS r;

-- 76: §5.7 lists
SELECT flatten(make_array(make_array(1, 2), make_array(3))) AS r;

-- 77: §5.7 lists
SELECT string_to_array('a,b,,c', ',') AS r;

-- 78: §5.7 lists
SELECT string_to_list('a-b', '-', 'b') AS r;

-- 79: §5.7 structs and maps
SELECT named_struct('a', 1, 'b', 'x') AS r;

-- 80: §5.7 structs and maps
SELECT named_struct('a', 1, 'b', 'x')['b'] AS r;

-- 81: §5.7 structs and maps
SELECT struct(1, 'x') AS r;

-- 82: §5.7 structs and maps
SELECT get_field(named_struct('a', 1), 'a') AS r;

-- 83: §5.7 structs and maps
SELECT map_keys(map(make_array('a', 'b'), make_array(1, 2))) AS r;

-- 84: §5.7 structs and maps
SELECT map_values(map(make_array('a', 'b'), make_array(1, 2))) AS r;

-- 85: §5.7 structs and maps
SELECT map_extract(map(make_array('a', 'b'), make_array(1, 2)), 'b') AS r;

-- 86: §5.7 structs and maps
SELECT element_at(make_map('a', 1, 'b', 2), 'a') AS r;

-- 87: §5.7 structs and maps
SELECT cardinality(map(make_array('a', 'b'), make_array(1, 2))) AS r;

-- 88: §5.7 structs and maps
SELECT named_struct('a') AS r;

-- 89: §4.1 casts and type names
SELECT arrow_typeof(1) AS r;

-- 90: §4.1 casts and type names
SELECT arrow_typeof(1.5) AS r;

-- 91: §4.1 casts and type names
SELECT arrow_typeof('a') AS r;

-- 92: §4.1 casts and type names
SELECT arrow_typeof(true) AS r;

-- 93: §4.1 casts and type names
SELECT arrow_typeof(CAST(1 AS INT)) AS r;

-- 94: §4.1 casts and type names
SELECT arrow_typeof(CAST(1 AS SMALLINT)) AS r;

-- 95: §4.1 casts and type names
SELECT arrow_typeof(CAST(1 AS TINYINT UNSIGNED)) AS r;

-- 96: §4.1 casts and type names
SELECT arrow_typeof(CAST(1 AS FLOAT)) AS r;

-- 97: §4.1 casts and type names
SELECT arrow_typeof(CAST(1 AS DOUBLE PRECISION)) AS r;

-- 98: §4.1 casts and type names
SELECT arrow_typeof(CAST(1 AS DECIMAL(10, 2))) AS r;

-- 99: §4.1 casts and type names
SELECT arrow_typeof(CAST('2022-01-01' AS DATE)) AS r;

-- 100: §4.1 casts and type names
SELECT arrow_typeof(INTERVAL '1 day') AS r;

-- 101: §4.1 casts and type names
SELECT arrow_typeof(CAST('2022-01-01' AS TIMESTAMP)) AS r;

-- 102: §4.1 casts and type names
SELECT arrow_typeof(arrow_cast(1, 'UInt16')) AS r;

-- 103: §4.1 casts and type names
SELECT arrow_typeof(arrow_cast(1, 'Timestamp(Millisecond, None)')) AS r;

-- 104: §4.1 casts and type names
SELECT arrow_cast('5', 'Int32') AS r;

-- 105: §4.1 casts and type names
SELECT arrow_cast(1, 'Nonsense') AS r;

-- 106: §4.1 casts and type names
SELECT arrow_typeof(NULL) AS r;

-- 107: §4.1 casts and type names
SELECT CAST(2.9 AS BIGINT) AS r;

-- 108: §4.1 casts and type names
SELECT CAST(-2.9 AS BIGINT) AS r;

-- 109: §4.1 casts and type names
SELECT CAST('42' AS BIGINT) AS r;

-- 110: §4.1 casts and type names
SELECT CAST('4x' AS BIGINT) AS r;

-- 111: §4.1 casts and type names
SELECT TRY_CAST('4x' AS BIGINT) AS r;

-- 112: §4.1 casts and type names
SELECT TRY_CAST(1e300 AS BIGINT) AS r;

-- 113: §4.1 casts and type names
SELECT CAST(true AS BIGINT) AS r;

-- 114: §4.1 casts and type names
SELECT CAST('true' AS BOOLEAN) AS r;

-- 115: §4.1 casts and type names
SELECT CAST(12.5 AS STRING) AS r;

-- 116: §4.1 casts and type names
SELECT '7'::BIGINT AS r;

-- 117: §4.1 casts and type names
SELECT CAST(300 AS TINYINT) AS r;

-- 118: §4.5 operators and three-valued logic
SELECT NULL = NULL AS r;

-- 119: §4.5 operators and three-valued logic
SELECT NULL IS NULL AS r;

-- 120: §4.5 operators and three-valued logic
SELECT 1 IS NOT NULL AS r;

-- 121: §4.5 operators and three-valued logic
SELECT NULL IS DISTINCT FROM 1 AS r;

-- 122: §4.5 operators and three-valued logic
SELECT NULL IS NOT DISTINCT FROM NULL AS r;

-- 123: §4.5 operators and three-valued logic
SELECT true AND NULL AS r;

-- 124: §4.5 operators and three-valued logic
SELECT false AND NULL AS r;

-- 125: §4.5 operators and three-valued logic
SELECT true OR NULL AS r;

-- 126: §4.5 operators and three-valued logic
SELECT NOT NULL AS r;

-- 127: §4.5 operators and three-valued logic
SELECT 2 BETWEEN 1 AND 3 AS r;

-- 128: §4.5 operators and three-valued logic
SELECT 2 NOT BETWEEN 1 AND 3 AS r;

-- 129: §4.5 operators and three-valued logic
SELECT 2 IN (1, 2) AS r;

-- 130: §4.5 operators and three-valued logic
SELECT 3 IN (1, NULL) AS r;

-- 131: §4.5 operators and three-valued logic
SELECT 3 NOT IN (1, 2) AS r;

-- 132: §4.5 operators and three-valued logic
SELECT 'a' <> 'b' AS r;

-- 133: §4.5 operators and three-valued logic
SELECT 'a' != 'a' AS r;

-- 134: §4.5 operators and three-valued logic
SELECT (1 = 1) IS TRUE AS r;

-- 135: §4.5 operators and three-valued logic
SELECT (NULL = 1) IS UNKNOWN AS r;

-- 136: §4.5 operators and three-valued logic
SELECT 'it''s' AS r;

-- 137: §5.7 results have a bound
SELECT array_resize(make_array(1), 10000000000, 0) AS r;

-- 138: §5.7 results have a bound
SELECT array_repeat('a', 100000000) AS r;

-- 139: §5.7 results have a bound
SELECT range(1, 100000000000) AS r;

-- 140: §5.7 results have a bound
SELECT map(make_array('a', 'a'), make_array(1, 2)) AS r;

-- 141: §5.7 results have a bound
SELECT make_array(1, '2') AS r;

-- 142: §5.7 results have a bound
SELECT make_array() AS r;

-- 143: §5.7 results have a bound
SELECT array_to_string(flatten(make_array(make_array(1.5), make_array(2.0))), ',') AS r;

-- 144: §4.1 a function of a constant NULL keeps its type
SELECT upper(a) AS r FROM (SELECT NULL::BOOLEAN || 'x' AS a) v;

-- 145: §4.1 a function of a constant NULL keeps its type
SELECT (make_array(TIMESTAMP '2024-01-01'))[NULL] AS a, (make_array(TIMESTAMP '2024-01-01'))[TRY_CAST('a' AS BIGINT)] AS b;

-- 146: §4.1 a function of a constant NULL keeps its type
SELECT (make_array(TIMESTAMP '2024-01-01'))[TRY_CAST(array_min(make_array('a')) AS BIGINT)] AS r;

-- 147: §4.1 a function of a constant NULL keeps its type
SELECT date_part('year', a) AS r FROM (SELECT (make_array(TIMESTAMP '2024-01-01'))[nullif(1, 1)] AS a) v;

-- 148: §4.1 a function of a constant NULL keeps its type
WITH w AS (SELECT TRY_CAST(concat('a', 'b') AS TIMESTAMP)::VARCHAR || 'x' AS a LIMIT 0) SELECT * FROM w;

-- 149: §4.1 a function of a constant NULL keeps its type
SELECT length(a) AS r FROM (SELECT get_field(named_struct('k', 'x'), 'k') || nullif('a', 'a') AS a) v;
