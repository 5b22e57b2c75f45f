import assert from 'node:assert/strict';
import { it } from 'node:test';
import { requestIdOf, withRequestId } from './request-id.js';

it('accepts 1 to 128 token characters, and no others', () => {
  for (const id of [
    ...['a', '7f3a-22', 'req_1.2~3', "!#$%&'*+.^_`|~-", 'a'.repeat(128)],
    '4bf92f3577b34da6a3ce929d0e0e4736',
  ]) {
    assert.equal(requestIdOf({ 'x-request-id': id }), id);
  }
  const separators = [...'()<>@,;:\\"/[]?={} \t'].map((character) => `a${character}b`);
  for (const id of [
    '',
    'a'.repeat(129),
    'ä',
    'a\nb',
    'a\u0000',
    'a\u007f',
    'a, b',
    ...separators,
  ]) {
    assert.equal(requestIdOf({ 'x-request-id': id }), undefined, JSON.stringify(id));
  }
});

it('returns the same header list for a request without an id', () => {
  const list = [['a', 'b']] as const;
  assert.equal(withRequestId(list, {}), list);
  assert.equal(withRequestId(list, { 'x-request-id': 'a b' }), list);
  assert.deepEqual(withRequestId(list, { 'x-request-id': 'c' }), [...list, ['x-request-id', 'c']]);
});
