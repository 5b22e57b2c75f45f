import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Principal } from '@plinth/kernel';
import { ANONYMOUS } from '@plinth/kernel';
import { accessOf, FULL_ACCESS } from './database-access.js';

const grantee = (names: readonly string[], isAdministrator = false): Principal => ({
  kind: 'grantee',
  id: '7',
  owner: '7',
  name: 'g',
  permissions: [{ resource: 'db', names, actions: ['read'] }],
  isAdministrator,
});
const reads = (principal: Principal, isAuthRequired = true) => {
  const access = accessOf(principal, isAuthRequired);
  return ['a', 'a/two', 'b', '_internal'].filter((name) => access.mayRead(name));
};
const ALL = ['a', 'a/two', 'b', '_internal'];

it('grants everything to admins, and to anonymous callers without authentication', () => {
  const admin: Principal = { kind: 'admin', tokenId: 0, tokenName: 'x' };
  assert.deepEqual(accessOf(admin, true), { ...FULL_ACCESS, principal: admin });
  const nobody = ANONYMOUS;
  assert.deepEqual([reads(nobody, false), reads(nobody)], [ALL, []]);
  // Users belong to other services.
  assert.deepEqual(reads({ kind: 'user', userId: 1 }, false), []);
});

it('grants others their permissions on a database and its policies', () => {
  assert.deepEqual(reads(grantee(['a'])), ['a', 'a/two']);
  assert.deepEqual(reads(grantee(['a/two'])), []);
  assert.deepEqual(reads(grantee([])), []);
  assert.deepEqual(reads(grantee(['b'], true)), ALL);
  assert.equal(accessOf(grantee(['a']), true).mayWrite('a'), false);
});

it('grants the internal database only by name', () => {
  assert.deepEqual(reads(grantee(['*'])), ['a', 'a/two', 'b']);
  assert.deepEqual(reads(grantee(['*', '_internal'])), ALL);
});

it('returns the owner of queries', () => {
  assert.equal(accessOf(grantee(['a']), true).owner, '7');
  assert.equal(accessOf(grantee(['a'], true), true).owner, '7');
  assert.notEqual(FULL_ACCESS.owner, '7');
});

it('denies operator resources to users with all privileges', () => {
  const user = accessOf(grantee([], true), true);
  assert.deepEqual([user.isAdministrator, user.isOperator], [true, false]);
  const token = accessOf(grantee(['*', '_internal']), true);
  assert.deepEqual([token.isAdministrator, token.isOperator], [false, false]);
  assert.equal(FULL_ACCESS.isOperator, true);
});
