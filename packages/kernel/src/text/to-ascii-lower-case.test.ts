import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toAsciiLowerCase } from './to-ascii-lower-case.js';

it('changes only the letters A to Z', () => {
  assert.equal(toAsciiLowerCase('AutoGen_7Z'), 'autogen_7z');
  for (const text of ['\u212anown', '\u0130d', 'ÄÖ', 'a1_']) {
    assert.equal(toAsciiLowerCase(text), text);
  }
});
