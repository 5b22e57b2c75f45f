-- 1: §5.4 math
SELECT abs(-5) AS r;

-- 2: §5.4 math
SELECT abs(-5.5) AS r;

-- 3: §5.4 math
SELECT abs(CAST(NULL AS DOUBLE)) AS r;

-- 4: §5.4 math
SELECT acos(1.0) AS r;

-- 5: §5.4 math
SELECT acos(2.0) AS r;

-- 6: §5.4 math
SELECT asin(-1.5) AS r;

-- 7: §5.4 math
SELECT asin(1.0) AS r;

-- 8: §5.4 math
SELECT acosh(0.5) AS r;

-- 9: §5.4 math
SELECT acosh(1.0) AS r;

-- 10: §5.4 math
SELECT asinh(0.0) AS r;

-- 11: §5.4 math
SELECT atan(1.0) AS r;

-- 12: §5.4 math
SELECT atanh(1.0) AS r;

-- 13: §5.4 math
SELECT atanh(2.0) AS r;

-- 14: §5.4 math
SELECT atan2(1.0, 1.0) AS r;

-- 15: §5.4 math
SELECT cbrt(27.0) AS r;

-- 16: §5.4 math
SELECT ceil(1.2) AS r;

-- 17: §5.4 math
SELECT ceil(-1.2) AS r;

-- 18: §5.4 math
SELECT floor(-1.2) AS r;

-- 19: §5.4 math
SELECT cos(0.0) AS r;

-- 20: §5.4 math
SELECT cosh(0.0) AS r;

-- 21: §5.4 math
SELECT degrees(pi()) AS r;

-- 22: §5.4 math
SELECT radians(180.0) AS r;

-- 23: §5.4 math
SELECT exp(0.0) AS r;

-- 24: §5.4 math
SELECT factorial(5) AS r;

-- 25: §5.4 math
SELECT factorial(20) AS r;

-- 26: §5.4 math
SELECT factorial(21) AS r;

-- 27: §5.4 math
SELECT gcd(12, 18) AS r;

-- 28: §5.4 math
SELECT gcd(0, 0) AS r;

-- 29: §5.4 math
SELECT lcm(4, 6) AS r;

-- 30: §5.4 math
SELECT lcm(0, 6) AS r;

-- 31: §5.4 math
SELECT isnan(CAST('NaN' AS DOUBLE)) AS r;

-- 32: §5.4 math
SELECT isnan(1.0) AS r;

-- 33: §5.4 math
SELECT iszero(0.0) AS r;

-- 34: §5.4 math
SELECT iszero(0.1) AS r;

-- 35: §5.4 math
SELECT ln(1.0) AS r;

-- 36: §5.4 math
SELECT ln(0.0) AS r;

-- 37: §5.4 math
SELECT ln(-1.0) AS r;

-- 38: §5.4 math
SELECT log(1000.0) AS r;

-- 39: §5.4 math
SELECT log(2, 8.0) AS r;

-- 40: §5.4 math
SELECT log(10, 1000.0) AS r;

-- 41: §5.4 math
SELECT log10(100.0) AS r;

-- 42: §5.4 math
SELECT log2(8.0) AS r;

-- 43: §5.4 math
SELECT log2(-8.0) AS r;

-- 44: §5.4 math
SELECT nanvl(CAST('NaN' AS DOUBLE), 3.0) AS r;

-- 45: §5.4 math
SELECT nanvl(2.0, 3.0) AS r;

-- 46: §5.4 math
SELECT pi() AS r;

-- 47: §5.4 math
SELECT power(2, 10) AS r;

-- 48: §5.4 math
SELECT power(3, 39) AS r;

-- 49: §5.4 math
SELECT pow(2, 62) AS r;

-- 50: §5.4 math
SELECT pow(2.0, 0.5) AS r;

-- 51: §5.4 math
SELECT pow(2, -1) AS r;

-- 52: §5.4 math
SELECT round(2.5) AS r;

-- 53: §5.4 math
SELECT round(-2.5) AS r;

-- 54: §5.4 math
SELECT round(1.25, 1) AS r;

-- 55: §5.4 math
SELECT round(1234.5, -2) AS r;

-- 56: §5.4 math
SELECT round(0.5) AS r;

-- 57: §5.4 math
SELECT signum(-2.5) AS r;

-- 58: §5.4 math
SELECT signum(0.0) AS r;

-- 59: §5.4 math
SELECT sin(0.0) AS r;

-- 60: §5.4 math
SELECT sqrt(16.0) AS r;

-- 61: §5.4 math
SELECT sqrt(-1.0) AS r;

-- 62: §5.4 math
SELECT tan(0.0) AS r;

-- 63: §5.4 math
SELECT tanh(0.0) AS r;

-- 64: §5.4 math
SELECT sinh(0.0) AS r;

-- 65: §5.4 math
SELECT cot(pi() / 4.0) AS r;

-- 66: §5.4 math
SELECT trunc(2.9) AS r;

-- 67: §5.4 math
SELECT trunc(-2.9) AS r;

-- 68: §5.4 math
SELECT trunc(2.567, 2) AS r;

-- 69: §5.4 math
SELECT random() < 1.0 AS r;

-- 70: §5.4 math
SELECT abs() AS r;

-- 71: §4.2 numbers
SELECT 7 / 2 AS r;

-- 72: §4.2 numbers
SELECT -7 / 2 AS r;

-- 73: §4.2 numbers
SELECT 7 % 3 AS r;

-- 74: §4.2 numbers
SELECT -7 % 3 AS r;

-- 75: §4.2 numbers
SELECT 7 % -3 AS r;

-- 76: §4.2 numbers
SELECT 1 / 0 AS r;

-- 77: §4.2 numbers
SELECT 1 % 0 AS r;

-- 78: §4.2 numbers
SELECT 1.0 / 0 AS r;

-- 79: §4.2 numbers
SELECT -1.0 / 0 AS r;

-- 80: §4.2 numbers
SELECT isnan(0.0 / 0.0) AS r;

-- 81: §4.2 numbers
SELECT 1 + 1.5 AS r;

-- 82: §4.2 numbers
SELECT 9223372036854775807 AS r;

-- 83: §4.2 numbers
SELECT 18446744073709551615 AS r;

-- 84: §4.2 numbers
SELECT 5 & 3 AS r;

-- 85: §4.2 numbers
SELECT 5 | 3 AS r;

-- 86: §4.2 numbers
SELECT 5 ^ 3 AS r;

-- 87: §4.2 numbers
SELECT 1 << 4 AS r;

-- 88: §4.2 numbers
SELECT -16 >> 2 AS r;

-- 89: §4.2 numbers
SELECT 1e3 AS r;

-- 90: §4.2 numbers
SELECT CAST(1 AS BIGINT UNSIGNED) AS r;

-- 91: §4.2 numbers
SELECT 2 + 3 * 4 AS r;

-- 92: §4.2 numbers
SELECT (2 + 3) * 4 AS r;

-- 93: §4.2 numbers
SELECT -(-3) AS r;

-- 94: §4.2 numbers
SELECT CAST('inf' AS DOUBLE) > 1e308 AS r;

-- 95: §4.2 numbers
SELECT 0.1 + 0.2 AS r;

-- 96: §4.2 numbers
SELECT CAST('NaN' AS DOUBLE) AS r;

-- 97: §4.2 numbers
SELECT 9007199254740993 AS r;

-- 98: §4.2 numbers
SELECT 9007199254740993 * 3 AS r;

-- 99: §4.2 comparisons of unsigned sums with constants from 2^63 on
SELECT 18446744073709551614 - n > 18446744073709551612 AS r, n + 18446744073709551610 <> 18446744073709551611 AS s, 18446744073709551615 * n = 18446744073709551615 AS t
FROM (SELECT CAST(1 AS BIGINT UNSIGNED) AS n);

-- 100: §4.2 the negative of an unsigned value
SELECT -n AS r FROM (SELECT CAST(1 AS BIGINT UNSIGNED) AS n);

-- 101: §4.2 the negative of a literal beyond Int64
SELECT -18446744073709551615 AS r, -9223372036854775808 AS s;

-- 102: §4.2 decimals; expected values from DataFusion 55
SELECT CAST(1.5 AS DECIMAL(5, 1)) * CAST(2.5 AS DECIMAL(5, 1)) AS r, CAST(99999.9 AS DECIMAL(6, 1)) * CAST(99999.9 AS DECIMAL(6, 1)) AS s,
CAST(1234567890.12 AS DECIMAL(12, 2)) * CAST(1234567890.12 AS DECIMAL(12, 2)) AS t, 7 * CAST(2.5 AS DECIMAL(5, 1)) AS u;

-- 103: §4.2 decimals; expected values from DataFusion 55
SELECT CAST(10 AS DECIMAL(5, 1)) / CAST(3 AS DECIMAL(5, 1)) AS r, CAST(10.5 AS DECIMAL(5, 1)) / 4 AS s, -7 / CAST(2.5 AS DECIMAL(5, 1)) AS t;

-- 104: §4.2 decimals; expected values from DataFusion 55
SELECT x / y AS r, x * y AS s, x % y AS t, x + y AS u, x - y AS v
FROM (VALUES (CAST(1.23 AS DECIMAL(5, 2)), CAST(0.7 AS DECIMAL(5, 1))), (NULL, CAST(2 AS DECIMAL(5, 1))), (CAST(-9.99 AS DECIMAL(5, 2)), CAST(3 AS DECIMAL(5, 1)))) v(x, y);

-- 105: §4.2 decimals; expected values from DataFusion 55
SELECT arrow_typeof(x * y) AS r, arrow_typeof(x / y) AS s, arrow_typeof(x % y) AS t, arrow_typeof(x + y) AS u, arrow_typeof(x * 3) AS v, arrow_typeof(7 / y) AS w
FROM (VALUES (CAST(1.23 AS DECIMAL(5, 2)), CAST(0.7 AS DECIMAL(5, 1)))) v(x, y);

-- 106: §4.2 decimals; expected value from DataFusion 55
SELECT CAST(999999999999999999 AS DECIMAL(18, 0)) + CAST(1 AS DECIMAL(18, 0)) AS r;

-- 107: §4.2 decimals; expected values from DataFusion 55
SELECT CAST(0.3 AS DECIMAL(5, 1)) % CAST(0.1 AS DECIMAL(5, 2)) AS r, 1 % CAST(0.1 AS DECIMAL(5, 1)) AS s, CAST(7 AS DECIMAL(38, 10)) % CAST(2.5 AS DECIMAL(20, 15)) AS t,
CAST(-7.5 AS DECIMAL(5, 1)) % CAST(2 AS DECIMAL(5, 2)) AS u, CAST('12345678901234567890123456789012345678' AS DECIMAL(38, 0)) % CAST(0.3 AS DECIMAL(5, 1)) AS v;

-- 108: §4.2 decimals; expected values from DataFusion 55
SELECT CAST('123' AS DECIMAL(38, 18)) / 2 AS r, CAST(-1.05 AS DECIMAL(5, 2)) / CAST(0.04 AS DECIMAL(5, 2)) AS s;

-- 109: §4.2 decimals; expected error from DataFusion 55
SELECT CAST(1 AS DECIMAL(38, 20)) * CAST(1 AS DECIMAL(38, 20)) AS r;

-- 110: §4.2 decimals; expected error from DataFusion 55
SELECT CAST(1 AS DECIMAL(38, 0)) / CAST(0.1 AS DECIMAL(38, 38)) AS r;

-- 111: §5.4 rounding decimals; expected values from DataFusion 55
SELECT round(CAST('1.005' AS DECIMAL(10, 3)), 2) AS r, round(CAST('-1.005' AS DECIMAL(10, 3)), 2) AS s, round(CAST('0.5' AS DECIMAL(10, 3))) AS t, round(CAST('1.5' AS DECIMAL(10, 3)), 5) AS u,
round(CAST('123456789012345678.125' AS DECIMAL(38, 3)), 2) AS v, round(CAST(NULL AS DECIMAL(10, 3)), 1) AS w;

-- 112: §5.4 rounding decimals before the point
SELECT round(CAST('15.255' AS DECIMAL(10, 3)), -1) AS r, round(CAST('95' AS DECIMAL(2, 0)), -1) AS s, round(CAST('55' AS DECIMAL(2, 0)), -2) AS t, round(CAST('5' AS DECIMAL(2, 0)), -9) AS u,
trunc(CAST('-159.9' AS DECIMAL(4, 1)), -1) AS v;

-- 113: §5.4 rounding decimals down and up
SELECT trunc(CAST('1.999' AS DECIMAL(10, 3)), 2) AS r, trunc(CAST('-1.999' AS DECIMAL(10, 3))) AS s, trunc(CAST('123456789012345678.129' AS DECIMAL(38, 3)), 2) AS t,
floor(CAST('123456789012345678.125' AS DECIMAL(38, 3))) AS u, floor(CAST('-1.5' AS DECIMAL(10, 2))) AS v, ceil(CAST('123456789012345678.125' AS DECIMAL(38, 3))) AS w, ceil(CAST('99.5' AS DECIMAL(3, 1))) AS x;

-- 114: §5.4 rounding decimals to places that are not constant
SELECT round(CAST(a AS DECIMAL(10, 3)), b) AS r FROM (VALUES ('1.25', 1)) AS v(a, b);
