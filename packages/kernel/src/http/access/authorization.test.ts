// Source: RFC 9110, sections 11.1 and 11.4; tsdb-http, "Authentication and authorisation".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { bearerOf, readAuthorization, readExactAuthorization } from './authorization.js';

const shown = (header: string | undefined) => {
  const { scheme = 'another', credential } = readAuthorization(header) ?? {};
  return credential === undefined ? 'nothing' : `${scheme} ${credential}`;
};

it('reads the scheme in any letters and any number of spaces behind it', () => {
  const check = (header: string | undefined, expected: string) =>
    assert.equal(shown(header), expected, header);
  for (const word of ['Bearer', 'bearer', 'BEARER']) check(`${word} abc`, 'bearer abc');
  check('token   abc', 'token abc');
  check(' Basic eDp5 ', 'basic eDp5');
  check('Bearer', 'bearer ');
  check('Digest abc', 'another abc');
  check('constructor abc', 'another abc');
  check('Bearer a b', 'another a b');
  check('Bearer\tabc', 'another ');
  check('Bearerabc', 'another ');
  for (const nothing of [undefined, '', '  ']) check(nothing, 'nothing');
  const startMs = performance.now();
  readAuthorization(`Bearer x${' '.repeat(16_000)}y`);
  assert.ok(performance.now() - startMs < 1000);
});

it('reads it only as it is written in the standard, where clients are held to that', () => {
  for (const header of ['Bearer abc', 'Token abc', 'Basic eDp5']) {
    assert.deepEqual(readExactAuthorization(header), readAuthorization(header));
  }
  const others = [
    'bearer abc',
    'Bearer  abc',
    ' Bearer abc',
    'Bearer abc ',
    'Bearer',
    'Bearer a b',
  ];
  for (const header of [...others, 'Digest abc', 'abc', '']) {
    assert.equal(readExactAuthorization(header), undefined, header);
  }
});

it('tells the token of a bearer alone', () => {
  assert.equal(bearerOf('bearer  abc'), 'abc');
  for (const header of ['Token abc', 'Bearer', 'Bearer a b', undefined]) {
    assert.equal(bearerOf(header), undefined, header);
  }
});
