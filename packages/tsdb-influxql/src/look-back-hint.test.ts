// Source: query-languages, "Look-back".
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { printStatement } from './ast/print.js';
import { liftValues } from './parse/lift-values.js';
import { ParseError } from './parse/parse-error.js';
import { parseQuery } from './parse/parse-query.js';

const printed = (text: string): string => parseQuery(text).map(printStatement).join('; ');

describe('a look-back hint', () => {
  it('belongs to the SELECT that it follows', () => {
    const inner = '(SELECT /*+ lookback(1h) */ difference(v) FROM m GROUP BY h)';
    const text = `SELECT /*+ lookback(0s) */ last(difference) FROM ${inner}`;
    assert.equal(printed(text), text);
    assert.equal(printed('select /*+LOOKBACK*/v from m'), 'SELECT /*+ lookback(5m) */ v FROM m');
    assert.equal(printed('SELECT/* a *//*+ lookbacks(1h) */v FROM m'), 'SELECT v FROM m');
  });

  it('is rejected at another place', () => {
    for (const text of [
      '/*+ lookback(1h) */ SELECT v FROM m',
      'SELECT /* a */ /*+ lookback(1h) */ v FROM m',
      'SELECT /*+ lookback(1h) */ /*+ lookback(1h) */ v FROM m',
      'SELECT v /*+ lookback(1h) */ FROM m',
      'SELECT v FROM m /*+ lookback(1h) */',
      'SHOW /*+ lookback(1h) */ DATABASES',
    ])
      assert.throws(
        () => parseQuery(text),
        (error) =>
          error instanceof ParseError &&
          error.message.includes(
            'misplaced hint; write the "lookback" hint directly after SELECT',
          ) &&
          error.pos === text.lastIndexOf('/*+'),
        text,
      );
  });

  it('keeps statements apart whose results differ', () => {
    const keyOf = (hint: string) => liftValues(`SELECT ${hint} v FROM m WHERE h = 'a'`)?.key;
    const keys = ['', '/*+ lookback(1h) */', '/*+ lookback(2h) */'].map(keyOf);
    assert.ok(!keys.includes(undefined));
    assert.equal(new Set(keys).size, keys.length);
    assert.equal(keyOf('/* lookback(1h) */'), undefined);
    assert.equal(keyOf('/*+ lookback(1h)'), undefined);
  });
});
