// Source: tsdb-http, "Failures".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { checkNative } from './check-native.js';
import { parseQuery } from './parse/parse-query.js';

it('accepts one statement that InfluxDB 3 supports', () => {
  for (const text of [
    ...['SELECT n FROM cpu', 'EXPLAIN SELECT n FROM (SELECT n FROM cpu)', 'SHOW DATABASES'],
    ...['SHOW MEASUREMENTS ON d', 'SHOW TAG KEYS', 'SHOW FIELD KEYS', 'SHOW RETENTION POLICIES'],
    'SHOW TAG VALUES WITH KEY = host',
  ]) {
    checkNative(parseQuery(text));
  }
});

it('rejects others with the messages of InfluxDB 3', () => {
  const missing = (what: string) => `This feature is not implemented: ${what}`;
  const invalid = 'parsing error: invalid InfluxQL statement at pos 0';
  for (const [text, message] of [
    ['', invalid],
    ['SELECT n FROM cpu; SELECT n FROM cpu', 'must provide only one InfluxQl statement per query'],
    ['CREATE DATABASE x', missing('CREATE DATABASE')],
    ['DELETE FROM cpu', missing('DELETE')],
    ['DROP MEASUREMENT cpu', missing('DROP MEASUREMENT')],
    ['SELECT n FROM cpu SLIMIT 1', missing('SLIMIT or SOFFSET')],
    ['SELECT n FROM (SELECT n FROM cpu SOFFSET 1)', missing('SLIMIT or SOFFSET')],
    ['EXPLAIN SELECT n FROM cpu SLIMIT 1', missing('SLIMIT or SOFFSET')],
    ['SELECT n INTO m FROM cpu', invalid],
    [
      'SHOW MEASUREMENTS ON *',
      'error in InfluxQL statement: can only perform queries on a single database',
    ],
    ['SHOW SERIES', invalid],
    ['DROP DATABASE x', invalid],
  ] as const) {
    assert.throws(() => checkNative(parseQuery(text)), { message }, text);
  }
});
