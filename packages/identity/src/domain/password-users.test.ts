import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openTestIdentity } from '../testing/open-test-identity.js';

const LOGIN = { user: 'ann', password: 'secret' };

it('checks a password once in five minutes while the user keeps it', async () => {
  await using to = await openTestIdentity();
  const { users } = to.identity;
  await users.create({ ...LOGIN, isAdministrator: false });
  const isAtOnce = (login = LOGIN): boolean => {
    const found = users.identify(login, '192.0.2.1');
    if (!(found instanceof Promise)) return true;
    found.catch(() => undefined);
    return false;
  };
  assert.equal(isAtOnce(), false);
  await users.identify(LOGIN, '192.0.2.1');
  assert.equal(isAtOnce(), true);
  assert.equal(isAtOnce({ ...LOGIN, password: 'other' }), false);
  await to.clock.advanceMs(299_999);
  assert.equal(isAtOnce(), true);
  await to.clock.advanceMs(2);
  assert.equal(isAtOnce(), false);
  await users.identify(LOGIN, '192.0.2.1');
  await users.setPassword('ann', 'new');
  await assert.rejects(async () => await users.identify(LOGIN, '192.0.2.1'), {
    kind: 'not_authenticated',
  });
});

it('rejects a password that was replaced during its check', async () => {
  await using to = await openTestIdentity();
  const { users } = to.identity;
  await users.create({ ...LOGIN, isAdministrator: true });
  const looking = Promise.resolve(users.identify(LOGIN, ''));
  await users.drop('ann');
  await assert.rejects(looking, { kind: 'not_authenticated' });
});

it('does not hash if there are no users, and takes equally long for unknown users', async () => {
  await using to = await openTestIdentity();
  const { users } = to.identity;
  assert.throws(() => users.identify(LOGIN, ''), { kind: 'not_authenticated' });
  await users.create({ ...LOGIN, isAdministrator: false });
  const nobody = { ...LOGIN, user: 'bob' };
  await assert.rejects(async () => await users.identify(nobody, ''), { kind: 'not_authenticated' });
  const tookMs = async (login: typeof LOGIN): Promise<number> => {
    const startMs = performance.now();
    await Promise.resolve(users.identify(login, '')).catch(() => undefined);
    return performance.now() - startMs;
  };
  const wrong = await tookMs({ ...LOGIN, password: 'x' });
  const none = await tookMs(nobody);
  assert.ok(none > wrong / 10 && wrong > none / 10, `${none} ms for nobody, ${wrong} ms for ann`);
});

it('limits the waiting checks, in total and per address', async () => {
  await using to = await openTestIdentity();
  const { users } = to.identity;
  await users.create({ ...LOGIN, isAdministrator: false });
  // One check is running and eight are waiting.
  const asked = Array.from({ length: 11 }, async (_, n) => {
    try {
      await users.identify({ ...LOGIN, password: `guess${n}` }, '192.0.2.1');
    } catch (error) {
      return Object(error).kind;
    }
  });
  const other = users.identify(LOGIN, '192.0.2.2');
  const kinds = await Promise.all(asked);
  assert.equal(kinds.filter((kind) => kind === 'credential_uncheckable').length, 2);
  assert.equal(kinds.filter((kind) => kind === 'not_authenticated').length, 9);
  assert.equal((await other).kind, 'grantee');
});

it('shares one check between simultaneous requests', async () => {
  await using to = await openTestIdentity();
  const { users } = to.identity;
  await users.create({ ...LOGIN, isAdministrator: false });
  const found = await Promise.all(
    Array.from({ length: 100 }, async () => await users.identify({ ...LOGIN }, '192.0.2.1')),
  );
  assert.ok(found.every(({ kind }) => kind === 'grantee'));
});

it('counts wrong passwords by user and address, and resets after ten minutes', async () => {
  await using to = await openTestIdentity();
  const { users } = to.identity;
  await users.create({ ...LOGIN, isAdministrator: false });
  const kindOf = async (login: typeof LOGIN, address: string): Promise<unknown> => {
    try {
      return (await users.identify(login, address)).kind;
    } catch (error) {
      return Object(error).kind;
    }
  };
  const wrong = { ...LOGIN, password: 'x' };
  for (let n = 0; n < 19; n++) assert.equal(await kindOf(wrong, '192.0.2.3'), 'not_authenticated');
  // A correct password does not count.
  assert.equal(await kindOf(LOGIN, '192.0.2.3'), 'grantee');
  assert.equal(await kindOf(wrong, '192.0.2.3'), 'not_authenticated');
  assert.equal(await kindOf(wrong, '192.0.2.3'), 'logins_locked');
  await users.setPassword('ann', 'other');
  await users.setPassword('ann', LOGIN.password);
  // A password longer than the limit is rejected without a check and does not count.
  const endless = { ...LOGIN, password: 'x'.repeat(1025) };
  for (let n = 0; n < 30; n++) {
    assert.equal(await kindOf(endless, '192.0.2.1'), 'not_authenticated');
  }
  for (let n = 0; n < 20; n++) assert.equal(await kindOf(wrong, '192.0.2.1'), 'not_authenticated');
  assert.equal(await kindOf(LOGIN, '192.0.2.1'), 'logins_locked');
  assert.equal(await kindOf({ user: 'bob', password: 'x' }, '192.0.2.1'), 'not_authenticated');
  await to.clock.advanceMs(600_001);
  assert.equal(await kindOf(LOGIN, '192.0.2.1'), 'grantee');
});

it('loads changes made by another node', async () => {
  await using to = await openTestIdentity();
  await to.identity.users.create({ ...LOGIN, isAdministrator: false });
  await to.identity.users.grant('ann', 'a', ['read']);
  await using again = await to.restart();
  const { users } = again.identity;
  assert.deepEqual(users.grantsOf('ann'), [{ database: 'a', actions: ['read'] }]);
  await users.revoke('ann', 'a', ['read', 'write']);
  assert.deepEqual(users.grantsOf('ann'), []);
  await users.grant('ann', 'a', ['read', 'write']);
  await users.revoke('ann', 'a', ['write']);
  assert.deepEqual(users.grantsOf('ann'), [{ database: 'a', actions: ['read'] }]);
});
