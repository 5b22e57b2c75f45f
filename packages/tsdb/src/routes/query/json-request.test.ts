// Source: tsdb-http, "Parameter binding".
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { numberTextOf, parseJsonObject } from './json-request.js';

const textsIn = (text: string) => Object.values(parseJsonObject(text)).map(numberTextOf);

describe('a JSON object whose numbers keep their text', () => {
  it('distinguishes 1 from 1.0, and digits in strings and keys from numbers', () => {
    assert.deepEqual(textsIn('{"1":1,"b":1.0,"c":"2","d":-3e+5}'), [
      '1',
      '1.0',
      undefined,
      '-3e+5',
    ]);
  });

  it('finds the end of strings after backslashes', () => {
    assert.deepEqual(textsIn(String.raw`{"a\\":1,"b\"2":3,"c":"\\\"4\\","d":5}`), [
      '1',
      '3',
      undefined,
      '5',
    ]);
  });

  it('parses plain and escaped strings of several megabytes', () => {
    for (const long of ['x'.repeat(9_000_000), '\n'.repeat(5_000_000), '\\'.repeat(5_000_000)]) {
      const read = parseJsonObject(JSON.stringify({ q: long, n: 7 }));
      assert.equal(read['q'], long);
      assert.equal(numberTextOf(read['n']), '7');
    }
  });
});
