// Source: docs/SECURITY-CREDENTIALS.md, "Names and keys": names consist of complete characters without control characters.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { hasHalfCharacter, isPlainText, isSafeName } from './plain-text.js';

it('accepts complete characters without control characters', () => {
  for (const text of ['', 'a b', 'größe', '\u{1f600}', '\u00a0', '\ufffd', '~']) {
    assert.equal(isPlainText(text), true, JSON.stringify(text));
    assert.equal(hasHalfCharacter(text), false);
  }
  for (const text of ['a\0', '\n', '\t', '\u001f', '\u007f', '\u0080', '\u009f']) {
    assert.equal(isPlainText(text), false, JSON.stringify(text));
    assert.equal(hasHalfCharacter(text), false);
  }
  for (const text of ['\ud800', 'a\udfff', '\udc00\ud800', 'x\ud83dy', '\u{1f600}\ud83d']) {
    assert.equal(isPlainText(text), false, JSON.stringify(text));
    assert.equal(hasHalfCharacter(text), true, JSON.stringify(text));
  }
});

it('rejects separators and directional marks in names that grant access', () => {
  // Separators end lines in logs and scripts; directional marks can make one name look like another.
  for (const text of [
    'a\u2028b',
    '\u2029',
    'a\u202eb',
    '\u202a',
    '\u2066x',
    '\u2069',
    '\u200f',
    '\u061c',
  ]) {
    assert.equal(isSafeName(text), false, JSON.stringify(text));
  }
  for (const text of ['\u05d0\u05d1', '\u0645\u0631', '\u{1f469}\u200d\u{1f4bb}']) {
    assert.equal(isSafeName(text), true, JSON.stringify(text));
  }
  for (const text of ['a\0', 'a\ud800']) assert.equal(isSafeName(text), false);
});
