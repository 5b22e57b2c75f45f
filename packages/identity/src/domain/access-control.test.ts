// Source: docs/SECURITY-CREDENTIALS.md, "Revocation": running requests stop when their token or
// user is removed.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ANONYMOUS, type Principal } from '@plinth/kernel';
import { openTestIdentity, type TestIdentity } from '../testing/open-test-identity.js';

const PERMISSIONS = [{ resource: 'db', names: ['d'], actions: ['read'] }] as const;

/** Resolves a bearer token or a login to its principal. */
async function principalOf(to: TestIdentity, authorization: string): Promise<Principal> {
  const head = { headers: { authorization }, url: '/api/v3/query_sql' };
  const client = { address: '192.0.2.1', key: '192.0.2.1' };
  return await to.identity.accessControl.authenticate({ ...head, client } as never, 'granted'); // all that it reads
}
const basic = (login: string) => `Basic ${Buffer.from(login).toString('base64')}`;

it('treats a deleted, replaced or expired token as not current', async () => {
  await using to = await openTestIdentity();
  const { accessControl } = to.identity;
  const operator = await to.send({ method: 'POST', url: '/api/v3/configure/token/admin' });
  const { token } = JSON.parse(String(operator.body)) as { token: string };
  const admin = await principalOf(to, `Bearer ${token}`);
  assert.equal(accessControl.isCurrent(admin), true);
  const named = await to.send({
    method: 'POST',
    url: '/api/v3/enterprise/configure/token',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: Buffer.from(
      JSON.stringify({
        token_name: 'short',
        expiry_secs: 60,
        permissions: [{ resource_type: 'db', resource_identifier: ['d'], actions: ['read'] }],
      }),
    ),
  });
  const short = await principalOf(
    to,
    `Bearer ${(JSON.parse(String(named.body)) as { token: string }).token}`,
  );
  assert.equal(accessControl.isCurrent(short), true);
  await to.clock.advanceMs(60_001);
  assert.equal(accessControl.isCurrent(short), false, 'expired');
  const regenerated = await to.send({
    method: 'POST',
    url: '/api/v3/configure/token/admin/regenerate',
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(regenerated.status, 201, String(regenerated.body));
  assert.equal(accessControl.isCurrent(admin), false, 'replaced');
});

it('treats a dropped user as not current, even if another user has the same name', async () => {
  await using to = await openTestIdentity();
  const { accessControl, users } = to.identity;
  const login = { user: 'ann', password: 'secret', isAdministrator: false };
  await users.create(login);
  const ann = await principalOf(to, basic('ann:secret'));
  await users.grant('ann', 'd', ['read']);
  assert.equal(accessControl.isCurrent(ann), true, 'a new grant is the same user');
  await users.drop('ann');
  assert.equal(accessControl.isCurrent(ann), false);
  await to.clock.advanceMs(1);
  await users.create(login);
  assert.equal(accessControl.isCurrent(ann), false, 'another user of the name');
  assert.equal(accessControl.isCurrent(await principalOf(to, basic('ann:secret'))), true);
});

it('treats a user with a new password or fewer permissions as not current', async () => {
  await using to = await openTestIdentity();
  const { accessControl, users } = to.identity;
  await users.create({ user: 'ann', password: 'secret', isAdministrator: false });
  await users.grant('ann', 'd', ['read', 'write']);
  const before = await principalOf(to, basic('ann:secret'));
  await users.grant('ann', 'e', ['read']);
  await users.refresh();
  assert.equal(accessControl.isCurrent(before), true, 'more permissions, reloaded');
  await users.revoke('ann', 'd', ['write']);
  assert.equal(accessControl.isCurrent(before), false, 'revoked');
  const reader = await principalOf(to, basic('ann:secret'));
  assert.equal(accessControl.isCurrent(reader), true);
  await users.setAdministrator('ann', true);
  assert.equal(accessControl.isCurrent(reader), true, 'an administrator has all permissions');
  const administrator = await principalOf(to, basic('ann:secret'));
  await users.setAdministrator('ann', false);
  assert.equal(accessControl.isCurrent(administrator), false, 'no longer an administrator');
  assert.equal(accessControl.isCurrent(reader), true);
  await users.setPassword('ann', 'other');
  assert.equal(accessControl.isCurrent(reader), false, 'a new password');
});

it('treats principals of other kinds as current', async () => {
  await using to = await openTestIdentity();
  const { accessControl } = to.identity;
  assert.equal(accessControl.isCurrent(ANONYMOUS), true);
  assert.equal(accessControl.isCurrent({ kind: 'app', appId: 1 }), true);
  const made: Principal = {
    ...{ kind: 'grantee', id: '7', owner: '7', name: 'nobody' },
    ...{ permissions: PERMISSIONS, isAdministrator: false },
  };
  assert.equal(accessControl.isCurrent(made), false, 'a user that does not exist');
});
