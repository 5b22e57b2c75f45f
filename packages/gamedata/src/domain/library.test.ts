import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { LocalObjectStore, NodeFileSystem, openRelationalStore, SystemClock } from '@plinth/kernel';
import { SeededRandom, temporaryFolder } from '@plinth/kernel/testing';
import { sql } from 'kysely';
import { KINDS } from '../model/kinds.js';
import { EditionStore } from '../storage/edition-store.js';
import { GroupStore } from '../storage/group-store.js';
import { TextStore } from '../storage/text-store.js';
import { DataSet } from './data/data-set.js';
import { Ledger } from './ledger.js';
import { Library } from './library.js';

it('publishes although old versions cannot be removed, and removes them with the next publication', async () => {
  const folder = await temporaryFolder();
  const clock = new SystemClock();
  const fileSystem = new NodeFileSystem();
  const relational = await openRelationalStore({ path: join(folder, 'db'), clock, fileSystem });
  const random = new SeededRandom(1);
  const root = join(folder, 'objects');
  const errors: object[] = [];
  const log = { error: (fields: object) => errors.push(fields) } as never; // the only method it calls
  const editions = new EditionStore(relational);
  const ledger = new Ledger(editions);
  const library = new Library({
    ledger,
    editions,
    groups: new GroupStore(await LocalObjectStore.open({ fileSystem, root, random })),
    texts: new TextStore({ fileSystem, folder, log, memoryLimitBytes: 0 }),
    clock,
    outbox: { publish: async () => 'e1' } as never, // without subscribers
    log,
    keepVersions: 1,
    keepHistory: { count: 10, sizeBytes: 1_048_576 },
  });
  await editions.migrate();
  await library.load(DataSet.empty());
  const publish = async (...languages: string[]) => {
    const draft = DataSet.empty({ languages });
    const publication = { actor: 'a', message: '', source: 'editor', action: 'published' } as const;
    const of = { op: 'publish', kinds: KINDS, draft, dropsDraft: false } as const;
    return await ledger.exclusive(
      async () => await library.publish(draft, { ...publication, ...of }),
    );
  };
  const storedVersions = async () => (await editions.versions()).map(({ version }) => version);
  await publish('en');
  await relational.transaction(async (tx) => {
    await sql`create trigger full before delete on gamedata_versions
      begin select raise(abort, 'no room'); end`.execute(tx);
  });
  assert.equal((await publish('en', 'fr')).version.version, 2);
  assert.deepEqual(library.current.set.metadata.languages, ['en', 'fr']);
  assert.equal(errors.length, 1);
  assert.deepEqual(await storedVersions(), [1, 2]);
  await relational.transaction(async (tx) => {
    await sql`drop trigger full`.execute(tx);
  });
  await publish('en', 'de');
  assert.deepEqual(await storedVersions(), [3]);
  await relational.close();
});
