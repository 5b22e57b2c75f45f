import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { NodeFileSystem, openRelationalStore, SecretBox, SystemClock } from '@plinth/kernel';
import { ManualClock, SeededRandom, temporaryFolder } from '@plinth/kernel/testing';
import { ACCOUNT_MIGRATIONS, type AccountTables } from '../account-tables.js';
import { Encryptor } from '../encryptor.js';
import { KeyFile } from './key-file.js';
import { SharedKeys } from './shared-keys.js';

it('a slow rotation destroyed the key of a faster one', async (context) => {
  const { clock, node } = await nodes(context);
  const slow = node();
  const quick = node();
  const first = await slow.open({ hasData: false });
  const known = await quick.open({ hasData: false });
  const sealed = [new Encryptor(first).encrypt('sealed with the first', 'row')];

  const begun = await settled(clock, slow.addKey(first));
  sealed.push(new Encryptor(begun.keys).encrypt('sealed with the second', 'row'));
  // Another node rotates twice while this one is still processing rows.
  const second = await settled(clock, quick.addKey(known));
  assert.deepEqual(second.old, ['k1']);
  sealed.push(new Encryptor(second.keys).encrypt('sealed with the third', 'row'));
  const third = await settled(clock, quick.addKey(second.keys));
  const current = new Encryptor(third.keys).encrypt('sealed with the fourth', 'row');

  // The slow rotation has processed all rows and drops only keys that it knows.
  const left = new Encryptor(await slow.drop(begun.keys, begun.old));
  const texts = [...sealed, current].map((text) => left.decrypt(text, 'row'));
  assert.deepEqual(
    texts,
    ['first', 'second', 'third', 'fourth'].map((name) => `sealed with the ${name}`),
  );
  // The last rotation keeps the key that it replaced.
  assert.deepEqual(third.old, ['k1', 'k2']);
  const dropped = await quick.drop(third.keys, third.old);
  assert.deepEqual([...dropped.keys.keys()], ['k3', 'k4']);
  assert.equal(dropped.current, 'k4');
});

it('activates a key that another node has just created', async (context) => {
  const { clock, node } = await nodes(context);
  const one = node();
  const keys = await one.open({ hasData: false });
  const both = await settled(clock, Promise.all([one.addKey(keys), node().addKey(keys)]));
  for (const { keys, old } of both) {
    assert.equal(keys.current, 'k2');
    assert.deepEqual(old, []);
  }
});

it('drops no key when there are many, but creates no more', async (context) => {
  const { clock, node } = await nodes(context);
  const one = node();
  const first = await one.open({ hasData: false });
  const sealed = new Encryptor(first).encrypt('the first', 'row');
  let keys = first;
  // This simulates interrupted rotations.
  for (let count = 0; count < 20; count++) ({ keys } = await settled(clock, one.addKey(keys)));
  assert.equal(keys.keys.size, 16);
  assert.equal(keys.current, 'k16');
  assert.equal(new Encryptor(keys).decrypt(sealed, 'row'), 'the first');
});

it('stores keys and their key check value atomically, and none beside a different one', async (context) => {
  const { store, node } = await nodes(context);
  const names = async () => {
    const reader = store.reader<AccountTables>();
    const rows = await reader.selectFrom('accounts_meta').select('name').orderBy('name').execute();
    return rows.map(({ name }) => name);
  };
  await node().open({ hasData: false });
  assert.deepEqual(await names(), ['key_file', 'sealing_keys']);
  await store.transaction<AccountTables, void>(async (tx) => {
    await tx.deleteFrom('accounts_meta').where('name', '=', 'sealing_keys').execute();
  });
  await assert.rejects(node().open({ hasData: false }), { kind: 'key_file_missing' });
  assert.deepEqual(await names(), ['key_file']);
});

it('refuses to continue with unreadable keys and reports them', async (context) => {
  const { store, secrets, node } = await nodes(context);
  const keys = await node().open({ hasData: false });
  const put = (value: string) =>
    store.transaction<AccountTables, void>(async (tx) => {
      const row = tx.updateTable('accounts_meta').set({ value });
      await row.where('name', '=', 'sealing_keys').execute();
    });
  // Encrypted correctly with the master key, but with invalid content.
  for (const text of ['', 'k1', '{"current":"k2","keys":{}}']) {
    await put(Buffer.from(secrets.seal(text, 'accounts_meta/sealing_keys')).toString('base64'));
    await assert.rejects(node().open({ hasData: true }), { kind: 'shared_keys_damaged' }, text);
    await assert.rejects(node().drop(keys, []), { kind: 'shared_keys_damaged' });
  }
});

async function nodes(context: TestContext) {
  const folder = await temporaryFolder();
  const files = new NodeFileSystem();
  const store = await openRelationalStore({
    path: join(folder, 'db'),
    clock: new SystemClock(),
    fileSystem: files,
  });
  context.after(() => store.close());
  await store.migrate('accounts', ACCOUNT_MIGRATIONS);
  const clock = new ManualClock();
  const random = new SeededRandom(1);
  const secrets = new SecretBox(randomBytes(32), random);
  const node = (): SharedKeys => {
    const file = new KeyFile({ files, random, folder: join(folder, 'accounts') });
    return new SharedKeys({ store, secrets, random, clock, file });
  };
  return { clock, store, secrets, node };
}

/** Advances the clock until the promise settles. */
async function settled<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
  let isDone = false;
  const marked = work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await clock.advanceMs(100);
    await setImmediate();
  }
  return await marked;
}
