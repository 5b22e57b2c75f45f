import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parsePermissions, permissionsText } from './permissions.js';

it('parses permissions in the form of the command line', () => {
  assert.deepEqual(parsePermissions(' '), []);
  assert.deepEqual(parsePermissions('db:a,b:read  system:health:read'), [
    { resource_type: 'db', resource_identifier: ['a', 'b'], actions: ['read'] },
    { resource_type: 'system', resource_identifier: ['health'], actions: ['read'] },
  ]);
  for (const text of ['db:a', 'a', 'db:a:read:x', 'db::read', 'db:a:read b']) {
    assert.equal(parsePermissions(text), undefined, text);
  }
});

it('formats the permissions of a token', () => {
  assert.equal(permissionsText('*:*:*'), 'full access (admin)');
  assert.equal(permissionsText('db:a:read;db:b:write'), 'db:a:read db:b:write');
});
