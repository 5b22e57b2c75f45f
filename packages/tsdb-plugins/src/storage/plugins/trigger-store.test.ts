// Source: `docs/formats/sealed-secret.md`.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import {
  NodeFileSystem,
  openRelationalStore,
  type RelationalStore,
  SecretBox,
  SecretUnreadable,
  SystemClock,
  SystemRandom,
} from '@plinth/kernel';
import { temporaryFolder } from '@plinth/kernel/testing';
import { type TriggerRecord, TriggerStore } from './trigger-store.js';

const SECRET = 'key-of-another-service';
const ARGUMENTS = JSON.stringify({ key: SECRET });
const TRIGGER: Omit<TriggerRecord, 'id'> = {
  database_id: 1,
  name: 't',
  plugin_filename: 'p.py',
  specification: 'all_tables',
  run_async: 0,
  error_behavior: 'log',
  arguments: ARGUMENTS,
  disabled: 0,
};
const NAMED = { database: 'd', name: 't' };
const clock = new SystemClock();
const boxOf = (byte: number) => new SecretBox(Buffer.alloc(32, byte), new SystemRandom(clock));

async function withStore(test: (store: RelationalStore, path: string) => Promise<void>) {
  const folder = await temporaryFolder();
  const path = join(folder, 'plinth.db');
  const store = await openRelationalStore({ path, clock, fileSystem: new NodeFileSystem() });
  try {
    await test(store, path);
  } finally {
    await store.close();
  }
}
const argumentsIn = async (store: RelationalStore): Promise<readonly (string | null)[]> =>
  (
    await store
      .reader<{ tsdb_triggers: TriggerRecord }>()
      .selectFrom('tsdb_triggers')
      .select('arguments')
      .orderBy('id')
      .execute()
  ).map((row) => row.arguments);

it('encrypts arguments and decrypts them unchanged', async () => {
  await withStore(async (store, path) => {
    const triggers = new TriggerStore(store, boxOf(1));
    await triggers.load();
    await triggers.insert(TRIGGER, NAMED);
    await triggers.insert({ ...TRIGGER, name: 'none', arguments: null }, NAMED);
    const loaded = await new TriggerStore(store, boxOf(1)).load();
    assert.deepEqual(
      loaded.map((row) => row.arguments),
      [ARGUMENTS, null],
    );
    for (const suffix of ['', '-wal']) {
      const bytes = await readFile(path + suffix, 'latin1').catch(() => '');
      assert.ok(!bytes.includes(SECRET), path + suffix);
    }
  });
});

it('cannot be read with another key or after being moved to another trigger', async () => {
  await withStore(async (store) => {
    const triggers = new TriggerStore(store, boxOf(1));
    await triggers.load();
    await triggers.insert(TRIGGER, NAMED);
    await assert.rejects(new TriggerStore(store, boxOf(2)).load(), SecretUnreadable);
    const [text] = await argumentsIn(store);
    await triggers.insert({ ...TRIGGER, name: 'other' }, NAMED);
    await store.transaction<{ tsdb_triggers: TriggerRecord }, void>(async (tx) => {
      await tx
        .updateTable('tsdb_triggers')
        .set({ arguments: text ?? null })
        .where('name', '=', 'other')
        .execute();
    });
    await assert.rejects(triggers.load(), SecretUnreadable);
  });
});

it('encrypts arguments that earlier versions stored in plain text', async () => {
  await withStore(async (store) => {
    const triggers = new TriggerStore(store, boxOf(1));
    await triggers.load();
    await store.transaction<{ tsdb_triggers: TriggerRecord }, void>(async (tx) => {
      await tx
        .insertInto('tsdb_triggers')
        .values({ id: 7, ...TRIGGER })
        .execute();
    });
    assert.deepEqual(
      (await triggers.load()).map((row) => row.arguments),
      [ARGUMENTS],
    );
    const [text] = await argumentsIn(store);
    assert.ok(text !== undefined && text !== null && !text.includes(SECRET));
    assert.deepEqual(
      (await triggers.load()).map((row) => row.arguments),
      [ARGUMENTS],
    );
  });
});
