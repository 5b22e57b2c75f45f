import assert from 'node:assert/strict';
import { it } from 'node:test';
import { principalOf } from '../model/api-token.js';
import { openTestIdentity } from '../testing/open-test-identity.js';

const named = { name: 'a', expirySec: undefined, byTokenId: undefined };

it('loads tokens created, deleted or renewed by another node', async () => {
  await using test = await openTestIdentity();
  const [{ tokens: here }, { tokens: there }] = [await test.openOther(), await test.openOther()];
  const operator = await there.createOperator(undefined);
  const { text } = await there.createNamed(named);
  assert.equal(here.find(text), undefined);
  await here.refresh();
  assert.equal(here.find(text)?.name, 'a');
  assert.equal(here.find(operator.text)?.name, operator.token.name);
  await there.delete('a');
  const renewed = await there.regenerateOperator(undefined);
  await here.refresh();
  assert.equal(here.find(text), undefined);
  assert.equal(here.find(operator.text), undefined);
  assert.equal(here.find(renewed.text)?.name, operator.token.name);
  assert.deepEqual(
    here.list().map(({ name }) => name),
    [operator.token.name],
  );
  // Ids assigned by the other node are not reused.
  const next = await there.createNamed(named);
  await here.refresh();
  const mine = await here.createNamed({ ...named, name: 'b' });
  assert.ok(mine.token.id > next.token.id);
});

it('refuses to check tokens that were not reloaded for too long', async () => {
  await using test = await openTestIdentity();
  const { tokens } = await test.openOther(60);
  const { text } = await tokens.createNamed(named);
  await test.clock.advanceMs(60_000);
  assert.equal(tokens.find(text)?.name, 'a');
  await test.clock.advanceMs(1);
  assert.throws(() => tokens.find(text), { kind: 'credential_uncheckable' });
  assert.equal(tokens.find('nonsense'), undefined);
  await tokens.refresh();
  assert.equal(tokens.find(text)?.name, 'a');
});

it('loads permissions granted or revoked by another node', async () => {
  await using test = await openTestIdentity();
  const [{ tokens: here }, { tokens: there }] = [await test.openOther(), await test.openOther()];
  const permissions = [{ resource: 'db', names: ['a'], actions: ['read'] }] as const;
  const { text } = await there.createNamed({ ...named, permissions });
  await here.refresh();
  const found = here.find(text);
  assert.deepEqual(found?.permissions, permissions);
  assert.deepEqual(found && principalOf(found), {
    ...{ kind: 'grantee', id: String(found?.id), owner: String(found?.id), name: 'a', permissions },
    isAdministrator: false,
  });
  await assert.rejects(here.createNamed(named), { kind: 'token_name_exists' });
  await there.delete('a');
  await here.refresh();
  assert.equal(here.find(text), undefined);
});
