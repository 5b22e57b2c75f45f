import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Permission, permissionText, permits } from './permission.js';

const READ_AB: Permission = { resource: 'db', names: ['a', 'b'], actions: ['read'] };
const WRITE_ALL: Permission = { resource: 'db', names: ['*'], actions: ['write'] };

it('permits what a single permission covers completely, and nothing else', () => {
  const check = (permissions: readonly Permission[], asked: string, expected: boolean) => {
    const [resource = '', name = '', action] = asked.split(':');
    const isPermitted = permits(permissions, { resource, name, action: action as 'read' });
    assert.equal(isPermitted, expected, asked);
  };
  check([], 'db:a:read', false);
  check([READ_AB], 'db:a:read', true);
  check([READ_AB], 'db:b:read', true);
  check([READ_AB], 'db:c:read', false);
  check([READ_AB], 'db:A:read', false);
  check([READ_AB], 'db:a:write', false);
  check([READ_AB], 'system:a:read', false);
  check([READ_AB], 'db:*:read', false);
  check([WRITE_ALL], 'db:c:write', true);
  check([READ_AB, WRITE_ALL], 'db:c:read', false);
  check([READ_AB, WRITE_ALL], 'db:a:write', true);
});

it('is formatted like on the command line', () => {
  assert.equal(permissionText(READ_AB), 'db:a,b:read');
  assert.equal(permissionText({ ...WRITE_ALL, actions: ['read', 'write'] }), 'db:*:read,write');
});
