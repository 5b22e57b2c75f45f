// Source: docs/SEVERAL-NODES.md, "Move an existing server to PostgreSQL".
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import {
  LocalObjectStore,
  NodeFileSystem,
  openPostgresStore,
  openRelationalStore,
  SystemClock,
} from '@plinth/kernel';
import {
  POSTGRES_URL,
  PostgresDatabase,
  SeededRandom,
  temporaryFolder,
} from '@plinth/kernel/testing';
import { sql } from 'kysely';
import { adoptFolder } from './adopt-folder.js';
import { EditionStore } from './edition-store.js';
import { GroupStore } from './group-store.js';
import { RelationalObjects } from './relational-objects.js';
import { GAMEDATA_MIGRATIONS, type GameDataTables } from './tables.js';

const CHANGE_COUNT = 40_000;
/** The real limit scaled down, like the history. */
const MAX_TRANSACTION_MS = 10_000;
/** Slows down every statement of the database: at 200 rows per statement, the move took 20 s. */
const SLOW = [
  `create function take_time() returns trigger language plpgsql
    as $$ begin perform pg_sleep(0.1); return null; end $$`,
  `create trigger slow before insert on gamedata_history
    for each statement execute function take_time()`,
];

it('moves a history that takes longer than a transaction may', {
  skip: POSTGRES_URL === undefined && 'set PLINTH_TEST_POSTGRES_URL',
}, async () => {
  const folder = await temporaryFolder();
  await using database = await PostgresDatabase.create();
  const clock = new SystemClock();
  const random = new SeededRandom(1);
  const fileSystem = new NodeFileSystem();
  const own = await openRelationalStore({ path: join(folder, 'plinth.db'), clock, fileSystem });
  const shared = await openPostgresStore({
    ...{ url: database.url, clock, random, maxTransactionMs: MAX_TRANSACTION_MS },
    onConnectionLost: () => {},
  });
  try {
    const objects = await LocalObjectStore.open({
      fileSystem,
      root: join(folder, 'objects'),
      random,
    });
    for (const store of [own, shared]) await store.migrate('gamedata', GAMEDATA_MIGRATIONS);
    await shared.transaction(async (tx) => {
      for (const statement of SLOW) await sql.raw(statement).execute(tx);
    });
    const changes = await new GroupStore(objects).put({ head: {}, lines: [] });
    await own.transaction<GameDataTables, void>(async (tx) => {
      await sql`insert into gamedata_versions values
        (1, 1, '', 'a', 'edit', '{"groups":{}}', '{}', '{}', ${changes})`.execute(tx);
      await sql`with recursive counted(n) as (
          select 1 union all select n + 1 from counted where n < ${CHANGE_COUNT})
        insert into gamedata_history
        select n * 3, n, 'a', 'update', 'items', 'i' || n, '{"name":"before"}', '{"name":"after"}', null, null, 1
        from counted`.execute(tx);
      await sql`update gamedata_state set last_seq = ${CHANGE_COUNT * 3}`.execute(tx);
    });

    const to = {
      editions: new EditionStore(shared),
      objects: new RelationalObjects(shared),
      random,
    };
    const adopted = await adoptFolder({ relational: own, objects }, to);
    assert.deepEqual(adopted, { version: 1, leavesDraft: false });
    const sum = sql<{ count: number; last: number; ids: number }>`
      select count(*) as count, max(seq) as last, sum(length(id)) as ids from gamedata_history`;
    const [found, wanted] = await Promise.all(
      [shared, own].map(async (store) => (await sum.execute(store.reader())).rows[0]),
    );
    assert.equal(found?.count, CHANGE_COUNT);
    assert.deepEqual({ ...found }, { ...wanted });
    const moving = sql`select 1 from gamedata_moving_history limit 1`.execute(shared.reader());
    assert.deepEqual((await moving).rows, []);
    const next = await to.editions.transaction((tx) => to.editions.takeSeq(tx));
    assert.ok(next.seq > CHANGE_COUNT * 3);
  } finally {
    await own.close();
    await shared.close();
  }
});
