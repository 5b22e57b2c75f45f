import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contextAt, suggestionsFor } from './completion.js';
import { quoteName, quoteText } from './identifiers.js';

const SCHEMA = [
  {
    name: 'cpu',
    columns: [
      { name: 'usage', kind: 'float64' },
      { name: 'host', kind: 'tag' },
      { name: 'time', kind: 'time' },
    ],
  },
  { name: 'Odd name', columns: [{ name: 'v', kind: 'int64' }] },
];

/** `|` marks the cursor. */
const at = (marked: string) => contextAt(marked.replace('|', ''), marked.indexOf('|'));
const first = (marked: string, count: number, language: 'sql' | 'influxql' = 'sql') => {
  const found = at(marked);
  if (found === undefined || found.kind === 'value') return found?.kind;
  return suggestionsFor(found, { language, schema: SCHEMA })
    .slice(0, count)
    .map(({ apply, label }) => apply ?? label);
};

describe('Completion', () => {
  it('suggests tables after FROM and JOIN, quoted where needed', () => {
    assert.deepEqual(first('SELECT * FROM |', 2), ['cpu', '"Odd name"']);
    assert.deepEqual(first('SELECT * FROM a JOIN c|', 2), ['cpu', '"Odd name"']);
    assert.deepEqual(first('select x from |', 1, 'influxql'), ['cpu']);
  });

  it('suggests columns of the named tables, tags first, before and after FROM', () => {
    assert.deepEqual(first('SELECT | FROM cpu', 3), ['host', 'usage', 'time']);
    assert.deepEqual(first('SELECT * FROM cpu WHERE us|', 3), ['host', 'usage', 'time']);
    assert.deepEqual(first('SELECT * FROM "Odd name" WHERE |', 1), ['v']);
    assert.deepEqual(first('SELECT |', 1), ['cpu']);
  });

  it('suggests tag values after = and IN', () => {
    const check = (marked: string, tag: string, from: number) => {
      const found = at(marked);
      assert.deepEqual(found, { kind: 'value', from, tag, tables: ['cpu'] }, marked);
    };
    const text = "SELECT * FROM cpu WHERE host = '|";
    check(text, 'host', text.indexOf("'"));
    const list = `SELECT * FROM cpu WHERE "my tag" IN ('a', 'b|`;
    check(list, 'my tag', list.lastIndexOf("'"));
  });

  it('suggests time range macros, and nothing in strings and comments', () => {
    assert.deepEqual(first('WHERE time >= ${|', 2), ['${from}', '${to}']);
    assert.equal(at("SELECT 'FROM |'"), undefined);
    assert.equal(at('SELECT 1 -- FROM |'), undefined);
  });

  it('uses only the statement at the cursor', () => {
    const found = at("SELECT 'a; FROM |");
    assert.equal(found?.kind, 'table');
  });
});

describe('Names and strings in a statement', () => {
  it('are quoted for their language', () => {
    assert.equal(quoteName('plain_1', 'sql'), 'plain_1');
    assert.equal(quoteName('Upper', 'sql'), '"Upper"');
    assert.equal(quoteName('Upper', 'influxql'), 'Upper');
    assert.equal(quoteName('select', 'sql'), '"select"');
    assert.equal(quoteName('a"b', 'sql'), '"a""b"');
    assert.equal(quoteName('a"b\\', 'influxql'), '"a\\"b\\\\"');
    assert.equal(quoteText("it's", 'sql'), "'it''s'");
    assert.equal(quoteText("it's", 'influxql'), "'it\\'s'");
  });
});
