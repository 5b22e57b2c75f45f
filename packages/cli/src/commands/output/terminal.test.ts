import assert from 'node:assert/strict';
import { it } from 'node:test';
import { printable } from './terminal.js';

it('escapes control characters and leaves other text unchanged', () => {
  const check = (text: string, shown: string) => assert.equal(printable(text), shown);
  check('a\tb\r\nc\nä€😀', 'a\tb\r\nc\nä€😀');
  check('\u001b]0;title\u0007', '\\x1b]0;title\\x07');
  check('\u009b2J', '\\x9b2J');
  check('good\rbad\u0000\u007f', 'good\\x0dbad\\x00\\x7f');
  check('a\u202egnp.exe\u2066', 'a\\u202egnp.exe\\u2066');
});
