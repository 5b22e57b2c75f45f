// Source: RFC 9110, sections 11.1 and 11.4; tsdb-http, "Authentication and authorization".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { bearerOf, readAuthorization, readExactAuthorization } from './authorization.js';

it('reads scheme and credential leniently, or only in the exact standard form', () => {
  const check = (header: string | undefined, expected: string | undefined, isExact = false) => {
    const { scheme = 'another', credential } = readAuthorization(header) ?? {};
    assert.equal(credential === undefined ? undefined : `${scheme} ${credential}`, expected);
    assert.equal(readExactAuthorization(header ?? '') !== undefined, isExact, header);
    const token = expected?.startsWith('bearer ') && credential !== '' ? credential : undefined;
    assert.equal(bearerOf(header), token, header);
  };
  check('Bearer abc', 'bearer abc', true);
  check('Token abc', 'token abc', true);
  check('Basic eDp5', 'basic eDp5', true);
  for (const word of ['bearer', 'BEARER']) check(`${word} abc`, 'bearer abc');
  check('Token   abc', 'token abc');
  check(' Basic eDp5 ', 'basic eDp5');
  check('Bearer', 'bearer ');
  check('Digest abc', 'another abc');
  check('constructor abc', 'another abc');
  check('Bearer a b', 'another a b');
  for (const word of ['Bearer\tabc', 'Bearerabc']) check(word, 'another ');
  for (const nothing of [undefined, '', '  ']) check(nothing, undefined);
});
