import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readCredential } from './credential.js';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

it('reads the token from each form of the Authorization header', () => {
  const check = (header: string | undefined, token: string | undefined) =>
    assert.equal(readCredential('/api/v3/query_sql?db=x', header)?.token, token, header);
  check(undefined, undefined);
  check('Bearer abc', 'abc');
  check('Token abc', 'abc');
  check('Token user:abc', 'abc');
  check('Bearer user:abc', 'user:abc');
  check(basic('user:abc'), 'abc');
  check(basic(':abc'), 'abc');
  check(basic('a:b:abc'), 'abc');
  check(basic('user:'), '');
});

it('rejects every other form', () => {
  const headers = [
    '',
    ...['Bearer', 'Token', 'abc', 'bearer abc', 'BEARER abc', 'token abc', 'basic dTphYmM='],
    ...['Digest abc', 'Bearer abc def', 'Bearer  abc', 'Bearer\tabc'],
    'Basic !!!',
    'Basic dTphYmM',
    'Basic YWJj',
    `${basic('user:abc')} x`,
  ];
  for (const header of headers) {
    assert.throws(() => readCredential('/', header), { kind: 'credential_malformed' }, header);
  }
});

it('prefers p over any header, only on the version 1 paths', () => {
  const check = (target: string, header: string | undefined, token: string | undefined) =>
    assert.equal(readCredential(target, header)?.token, token, target);
  check('/query?q=x&u=root&p=secret', undefined, 'secret');
  check('/write?p=secret&db=x', 'Bearer other', 'secret');
  check('/write?p=secret&db=x', 'malformed', 'secret');
  check('/write?p=a%2Bb', undefined, 'a+b');
  check('/write?p=', 'Bearer other', '');
  check('/write?db=x', 'Bearer other', 'other');
  check('/write', undefined, undefined);
  check('/api/v1/prom/write?p=secret', 'Bearer other', 'secret');
  check('/api/v1/prom/read?p=secret', undefined, 'secret');
  check('/api/v1/write?p=secret', undefined, undefined);
  check('/api/v3/write_lp?p=secret', undefined, undefined);
  check('/query/?p=secret', undefined, undefined);
  check('/api/v2/write?p=secret', 'Token other', 'other');
});

it('splits user and password at the first colon', () => {
  const check = (target: string, header: string | undefined, login: object | undefined) =>
    assert.deepEqual(readCredential(target, header)?.login, login, header ?? target);
  check('/', 'Bearer a:b', undefined);
  check('/', 'Token a', undefined);
  check('/', 'Token a:b', { user: 'a', password: 'b' });
  check('/', basic('a:b:c'), { user: 'a', password: 'b:c' });
  check('/', basic(':b'), { user: '', password: 'b' });
  check('/query?u=a&p=b:c', undefined, { user: 'a', password: 'b:c' });
  check('/write?p=b', basic('x:y'), { user: '', password: 'b' });
  check('/write?u=a', undefined, undefined);
  check('/api/v3/query_sql?u=a&p=b', undefined, undefined);
});
