-- 1: §5.5 strings
SELECT ascii('abc') AS r;

-- 2: §5.5 strings
SELECT ascii('é') AS r;

-- 3: §5.5 strings
SELECT bit_length('abc') AS r;

-- 4: §5.5 strings
SELECT bit_length('é') AS r;

-- 5: §5.5 strings
SELECT btrim('  a b  ') AS r;

-- 6: §5.5 strings
SELECT btrim('xxaxbxx', 'x') AS r;

-- 7: §5.5 strings
SELECT trim('xyaxy', 'xy') AS r;

-- 8: §5.5 strings
SELECT trim(LEADING 'x' FROM 'xxax') AS r;

-- 9: §5.5 strings
SELECT trim(TRAILING 'x' FROM 'xxax') AS r;

-- 10: §5.5 strings
SELECT trim(BOTH 'x' FROM 'xxax') AS r;

-- 11: §5.5 strings
SELECT char_length('héllo') AS r;

-- 12: §5.5 strings
SELECT character_length('') AS r;

-- 13: §5.5 strings
SELECT length('👍a') AS r;

-- 14: §5.5 strings
SELECT chr(64) AS r;

-- 15: §5.5 strings
SELECT chr(233) AS r;

-- 16: §5.5 strings
SELECT concat('a', NULL, 'b') AS r;

-- 17: §5.5 strings
SELECT concat('a', 1, 2.5) AS r;

-- 18: §5.5 strings
SELECT concat_ws(',', 'a', NULL, 'b') AS r;

-- 19: §5.5 strings
SELECT concat_ws(NULL, 'a', 'b') AS r;

-- 20: §5.5 strings
SELECT 'a' || 'b' AS r;

-- 21: §5.5 strings
SELECT 'a' || NULL AS r;

-- 22: §5.5 strings
SELECT contains('alphabet', 'pha') AS r;

-- 23: §5.5 strings
SELECT contains('alphabet', 'x') AS r;

-- 24: §5.5 strings
SELECT ends_with('alphabet', 'bet') AS r;

-- 25: §5.5 strings
SELECT starts_with('alphabet', 'alp') AS r;

-- 26: §5.5 strings
SELECT starts_with('alphabet', 'bet') AS r;

-- 27: §5.5 strings
SELECT find_in_set('b', 'a,b,c') AS r;

-- 28: §5.5 strings
SELECT find_in_set('x', 'a,b,c') AS r;

-- 29: §5.5 strings
SELECT find_in_set('b', NULL) AS r;

-- 30: §5.5 strings
SELECT initcap('hello wORLD-foo 3d') AS r;

-- 31: §5.5 strings
SELECT initcap('') AS r;

-- 32: §5.5 strings
SELECT instr('abcab', 'c') AS r;

-- 33: §5.5 strings
SELECT instr('abc', 'x') AS r;

-- 34: §5.5 strings
SELECT strpos('héllo', 'llo') AS r;

-- 35: §5.5 strings
SELECT strpos('abc', '') AS r;

-- 36: §5.5 strings
SELECT position('c' IN 'abc') AS r;

-- 37: §5.5 strings
SELECT left('hello', 2) AS r;

-- 38: §5.5 strings
SELECT left('hello', -2) AS r;

-- 39: §5.5 strings
SELECT left('hello', -9) AS r;

-- 40: §5.5 strings
SELECT left('hello', 0) AS r;

-- 41: §5.5 strings
SELECT right('hello', 2) AS r;

-- 42: §5.5 strings
SELECT right('hello', -2) AS r;

-- 43: §5.5 strings
SELECT right('hello', -9) AS r;

-- 44: §5.5 strings
SELECT right('héé', 2) AS r;

-- 45: §5.5 strings
SELECT levenshtein('kitten', 'sitting') AS r;

-- 46: §5.5 strings
SELECT levenshtein('é', 'e') AS r;

-- 47: §5.5 strings
SELECT levenshtein('', 'abc') AS r;

-- 48: §5.5 strings
SELECT lower('ÀB') AS r;

-- 49: §5.5 strings
SELECT upper('straz é') AS r;

-- 50: §5.5 strings
SELECT lpad('a', 3) AS r;

-- 51: §5.5 strings
SELECT lpad('abc', 6, '12') AS r;

-- 52: §5.5 strings
SELECT lpad('abc', 2, 'x') AS r;

-- 53: §5.5 strings
SELECT rpad('abc', 6, '12') AS r;

-- 54: §5.5 strings
SELECT rpad('é', 3, 'x') AS r;

-- 55: §5.5 strings
SELECT lpad('a', -1, 'x') AS r;

-- 56: §5.5 strings
SELECT ltrim('  a ') AS r;

-- 57: §5.5 strings
SELECT ltrim('zzzytest', 'xyz') AS r;

-- 58: §5.5 strings
SELECT rtrim('testxxzx', 'xyz') AS r;

-- 59: §5.5 strings
SELECT octet_length('é') AS r;

-- 60: §5.5 strings
SELECT overlay('Txxxxas' PLACING 'hom' FROM 2 FOR 4) AS r;

-- 61: §5.5 strings
SELECT overlay('Txxxxas' PLACING 'hom' FROM 2) AS r;

-- 62: §5.5 strings
SELECT repeat('ab', 3) AS r;

-- 63: §5.5 strings
SELECT repeat('ab', 0) AS r;

-- 64: §5.5 strings
SELECT replace('ABabbaBA', 'ab', 'cd') AS r;

-- 65: §5.5 strings
SELECT reverse('héllo') AS r;

-- 66: §5.5 strings
SELECT split_part('1.2.3', '.', 2) AS r;

-- 67: §5.5 strings
SELECT split_part('1.2.3', '.', -1) AS r;

-- 68: §5.5 strings
SELECT split_part('1.2.3', '.', 4) AS r;

-- 69: §5.5 strings
SELECT split_part('1.2.3', '.', 0) AS r;

-- 70: §5.5 strings
SELECT substr('alphabet', 3) AS r;

-- 71: §5.5 strings
SELECT substr('alphabet', 3, 2) AS r;

-- 72: §5.5 strings
SELECT substr('alphabet', 0, 3) AS r;

-- 73: §5.5 strings
SELECT substr('alphabet', -2, 4) AS r;

-- 74: §5.5 strings
SELECT substr('héllo', 2, 2) AS r;

-- 75: §5.5 strings
SELECT substring('alphabet', 3, 2) AS r;

-- 76: §5.5 strings
SELECT substring('alphabet' FROM 3 FOR 2) AS r;

-- 77: §5.5 strings
SELECT substr('abc', 1, -1) AS r;

-- 78: §5.5 strings
SELECT substr_index('www.apache.org', '.', 1) AS r;

-- 79: §5.5 strings
SELECT substr_index('www.apache.org', '.', 2) AS r;

-- 80: §5.5 strings
SELECT substr_index('www.apache.org', '.', -1) AS r;

-- 81: §5.5 strings
SELECT substr_index('www.apache.org', '.', -2) AS r;

-- 82: §5.5 strings
SELECT substr_index('www.apache.org', '.', 9) AS r;

-- 83: §5.5 strings
SELECT substr_index('www.apache.org', '.', 0) AS r;

-- 84: §5.5 strings
SELECT substring_index('a,b', ',', 1) AS r;

-- 85: §5.5 strings
SELECT to_hex(12345689) AS r;

-- 86: §5.5 strings
SELECT to_hex(0) AS r;

-- 87: §5.5 strings
SELECT to_hex(-1) AS r;

-- 88: §5.5 strings
SELECT translate('twice', 'wic', 'her') AS r;

-- 89: §5.5 strings
SELECT translate('12345', '143', 'ax') AS r;

-- 90: §5.5 strings
SELECT length(uuid()) AS r;

-- 91: §5.5 strings
SELECT lower(NULL) AS r;

-- 92: §5.5 strings
SELECT left() AS r;

-- 93: §5.5 strings
SELECT no_such(1) AS r;

-- 94: §5.5 strings
SELECT lowr('A') AS r;

-- 95: §5.5 strings
SELECT UPPER('a') AS r;

-- 96: §5.5 encodings
SELECT encode('abcd', 'base64') AS r;

-- 97: §5.5 encodings
SELECT encode('abc', 'hex') AS r;

-- 98: §5.5 encodings
SELECT encode(decode('YWJjZA', 'base64'), 'hex') AS r;

-- 99: §5.5 encodings
SELECT encode(decode('YWJjZA==', 'base64'), 'hex') AS r;

-- 100: §5.5 encodings
SELECT encode(decode('616263', 'hex'), 'base64') AS r;

-- 101: §5.5 encodings
SELECT encode(decode('zz', 'hex'), 'hex') AS r;

-- 102: §5.5 encodings
SELECT md5('abc') AS r;

-- 103: §5.5 encodings
SELECT encode(sha224('abc'), 'hex') AS r;

-- 104: §5.5 encodings
SELECT encode(sha256('abc'), 'hex') AS r;

-- 105: §5.5 encodings
SELECT encode(sha384('abc'), 'hex') AS r;

-- 106: §5.5 encodings
SELECT encode(digest('abc', 'md5'), 'hex') AS r;

-- 107: §5.5 encodings
SELECT encode(digest('abc', 'blake2s'), 'hex') AS r;

-- 108: §5.5 encodings
SELECT digest('abc', 'crc32') AS r;

-- 109: §5.5 encodings
SELECT encode('a', 'rot13') AS r;

-- 110: §5.6 regular expressions
SELECT regexp_like('Köln', '[a-z]') AS r;

-- 111: §5.6 regular expressions
SELECT regexp_like('ABC', 'b') AS r;

-- 112: §5.6 regular expressions
SELECT regexp_like('ABC', 'b', 'i') AS r;

-- 113: §5.6 regular expressions
SELECT regexp_like('a', '^a$') AS r;

-- 114: §5.6 regular expressions
SELECT regexp_match('foobarbequebaz', '(bar)(beque)') AS r;

-- 115: §5.6 regular expressions
SELECT regexp_match('foobarbequebaz', 'ba.') AS r;

-- 116: §5.6 regular expressions
SELECT regexp_match('abc', 'x') AS r;

-- 117: §5.6 regular expressions
SELECT regexp_match('ABC', '(b)', 'i') AS r;

-- 118: §5.6 regular expressions
SELECT regexp_replace('foobarbaz', 'b(..)', 'X${1}Y') AS r;

-- 119: §5.6 regular expressions
SELECT regexp_replace('foobarbaz', 'b(..)', 'X\1Y', 'g') AS r;

-- 120: §5.6 regular expressions
SELECT regexp_replace('aBc', 'b', 'x', 'i') AS r;

-- 121: §5.6 regular expressions
SELECT regexp_replace('2024-05', '(?P<y>\d+)-(?P<m>\d+)', '${m}/${y}') AS r;

-- 122: §5.6 regular expressions
SELECT regexp_replace('a', 'a', '$$') AS r;

-- 123: §5.6 regular expressions
SELECT regexp_count('abcAbAbc', 'abc') AS r;

-- 124: §5.6 regular expressions
SELECT regexp_count('abcAbAbc', 'abc', 2, 'i') AS r;

-- 125: §5.6 regular expressions
SELECT regexp_count('aaa', 'a') AS r;

-- 126: §5.6 regular expressions
SELECT regexp_instr('ABCDEF', 'C(.)(..)') AS r;

-- 127: §5.6 regular expressions
SELECT regexp_instr('abc', 'x') AS r;

-- 128: §5.6 regular expressions
SELECT 'foobar' ~ '^foo' AS r;

-- 129: §5.6 regular expressions
SELECT 'foobar' ~* 'BAR$' AS r;

-- 130: §5.6 regular expressions
SELECT 'foobar' !~ 'baz' AS r;

-- 131: §5.6 regular expressions
SELECT 'foobar' !~* 'BAR' AS r;

-- 132: §5.6 regular expressions
SELECT 'foobar' LIKE 'foo%' AS r;

-- 133: §5.6 regular expressions
SELECT 'foobar' LIKE 'f_obar' AS r;

-- 134: §5.6 regular expressions
SELECT 'foobar' ILIKE 'FOO%' AS r;

-- 135: §5.6 regular expressions
SELECT 'foobar' NOT LIKE 'x%' AS r;

-- 136: §5.6 regular expressions
SELECT '100%' LIKE '100\%' AS r;

-- 137: §5.6 regular expressions
SELECT '1000' LIKE '100\%' AS r;

-- 138: §5.5 encodings
SELECT encode(digest('abc', 'blake3'), 'hex') AS r;

-- 139: §5.5 encodings
SELECT encode(digest('abc', 'blake2b'), 'hex') AS r;

-- 140: §5.5 encodings
SELECT encode(sha512('abc'), 'hex') AS r;

-- 141: §5.5 results have a bound
SELECT repeat('ab', 100000000) AS r;

-- 142: §5.5 results have a bound
SELECT lpad('a', 100000000, 'x') AS r;

-- 143: §5.5 characters of several bytes against an empty text, more than 16 bits count
SELECT levenshtein(s, repeat('ä', 100000)) AS r FROM (VALUES ('')) v(s);

-- 144: §4.5 a pattern that ends with its escape character
SELECT s LIKE '%\' AS a, s NOT LIKE '%\' AS b, s ILIKE 'A\' AS c, s LIKE '_\' AS d FROM (VALUES ('a\'), ('a'), ('b\\')) v(s);

-- 145: §4.5 a pattern that ends with its escape character
SELECT s LIKE p AS a, s ILIKE p AS b FROM (VALUES ('a\', '%\'), ('a', '%\'), ('a\\', 'a\\\'), ('a\', 'a\\')) v(s, p);

-- 146: §4.5 operators of PostgreSQL
SELECT s ~~ 'f%' AS a, s ~~* 'F%' AS b, s !~~ 'f%' AS c, s !~~* 'F%' AS d FROM (VALUES ('foo'), ('bar'), (NULL)) v(s);

-- 147: §4.5 operators of PostgreSQL
SELECT s ~~ p AS a FROM (VALUES ('foo', 'f__'), ('foo', NULL), ('f', 'f_')) v(s, p);

-- 148: §4.5 operators of PostgreSQL
SELECT 'foo' ~~ 'f%';

-- 149: §3.2 strings in dollar signs, as in DataFusion 55
SELECT $$it's$$ AS a, $tag$a $$ b$tag$ AS b, $$$$ AS c, x = $$a'b$$ AS d FROM (VALUES ('a''b')) v(x);

-- 150: §3.2 strings in dollar signs, as in DataFusion 55
SELECT $$a#b$$ AS a, 5 # 3 = 6 AND $t$it's # $t$ = 'it''s # ' AS b;
