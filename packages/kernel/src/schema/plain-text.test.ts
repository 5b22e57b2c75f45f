// Source: docs/SECURITY-CREDENTIALS.md, "Names and keys": names consist of complete characters without control characters.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { hasLoneSurrogate, isPlainText, isSafeName } from './plain-text.js';

it('accepts complete characters without control characters', () => {
  for (const text of ['', 'a b', 'größe', '\u{1f600}', '\u00a0', '\ufffd', '~']) {
    assert.equal(isPlainText(text), true, JSON.stringify(text));
    assert.equal(hasLoneSurrogate(text), false);
  }
  for (const text of ['a\0', '\n', '\t', '\u001f', '\u007f', '\u0080', '\u009f']) {
    assert.equal(isPlainText(text), false, JSON.stringify(text));
    assert.equal(hasLoneSurrogate(text), false);
  }
  for (const text of ['\ud800', 'a\udfff', '\udc00\ud800', 'x\ud83dy', '\u{1f600}\ud83d']) {
    assert.equal(isPlainText(text), false, JSON.stringify(text));
    assert.equal(hasLoneSurrogate(text), true, JSON.stringify(text));
  }
});

it('rejects separators, directional marks and invisible characters in names that grant access', () => {
  // Separators end lines in logs and scripts; the others can make one name look like another.
  for (const text of [
    'a\u2028b',
    '\u2029',
    'a\u202eb',
    '\u202a',
    '\u2066x',
    '\u2069',
    '\u200f',
    '\u061c',
    'admin\u200b',
    'ad\u200dmin',
    'ad\u200cmin',
    '\ufeffadmin',
    'ad\u00admin',
    'ad\u2060min',
    'ad\u180emin',
    'admin\u034f',
    'admin\u115f',
    'admin\u3164',
    'admin\uffa0',
    'admin\u17b4',
    'admin\ufe0f',
    'admin\u{e0041}',
    'admin\u{e0101}',
    'admin\ufff9',
    'admin\u{1d173}',
    '1\ufe0f',
    '\u{1f469}\u200c',
  ]) {
    assert.equal(isSafeName(text), false, JSON.stringify(text));
  }
  for (const text of [
    '\u05d0\u05d1',
    '\u0645\u0631',
    '\u{1f469}\u{1f3fd}\u200d\u{1f4bb}',
    '\u2764\ufe0f\u200d\u{1f525}',
    'e\u0301',
    '\u0928\u093f',
  ]) {
    assert.equal(isSafeName(text), true, JSON.stringify(text));
  }
  for (const text of ['a\0', 'a\ud800']) assert.equal(isSafeName(text), false);
});
