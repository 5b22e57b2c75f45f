import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { sql } from 'kysely';
import { SystemClock } from '../../clock/system-clock.js';
import { POSTGRES_URL, PostgresDatabase } from '../../testing/postgres-database.js';
import { relationalStoreConformance } from '../../testing/relational-store-conformance.js';
import { SeededRandom } from '../../testing/seeded-random.js';
import { openPostgresStore } from './open-postgres-store.js';
import type { PostgresStoreOptions } from './postgres-store.js';

const made: PostgresDatabase[] = [];

async function makeDatabase(): Promise<string> {
  const database = await PostgresDatabase.create();
  made.push(database);
  return database.url;
}

const open = async (options: Partial<PostgresStoreOptions> = {}) =>
  await openPostgresStore({
    url: options.url ?? (await makeDatabase()),
    clock: new SystemClock(),
    random: new SeededRandom(1),
    onConnectionLost: () => {},
    ...options,
  });

if (POSTGRES_URL === undefined) {
  it('PostgreSQL as RelationalStore', {
    skip: 'set PLINTH_TEST_POSTGRES_URL to a server on which databases may be created',
  });
} else {
  after(async () => {
    for (const database of made) await database[Symbol.asyncDispose]();
  });

  relationalStoreConformance('PostgreSQL', open);

  describe('PostgreSQL that rejects writes', () => {
    it('is reported after a rejected write, until a write or a probe succeeds', async (t) => {
      const store = await open();
      t.after(() => store.close());
      await store.transaction(async (tx) => await sql`create table t (n bigint)`.execute(tx));
      const write = () => store.transaction((tx) => sql`insert into t values (1)`.execute(tx));
      const refused = (code: string) =>
        store.transaction((tx) =>
          sql`do ${sql.raw(`$$ begin raise exception using errcode = '${code}'; end $$`)}`.execute(
            tx,
          ),
        );
      assert.equal(store.obstacle, undefined);
      for (const code of ['53100', '25006', '57P03']) {
        await assert.rejects(refused(code));
        assert.ok(store.obstacle, code);
        await store.probe();
        assert.equal(store.obstacle, undefined, code);
        await assert.rejects(refused(code));
        await sql`select n from t`.execute(store.reader());
        assert.ok(store.obstacle, code);
        await write();
        assert.equal(store.obstacle, undefined, code);
      }
      await assert.rejects(refused('22012'));
      assert.equal(store.obstacle, undefined, 'a statement of ours failed');
    });

    it('is not reported for a text with U+0000, which is an invalid value', async (t) => {
      const store = await open();
      t.after(() => store.close());
      await assert.rejects(sql`select ${'a\0'}::text`.execute(store.reader()), {
        kind: 'value_refused',
      });
      assert.equal(store.obstacle, undefined);
    });

    it('is probed again while it is read-only', async (t) => {
      await using database = await PostgresDatabase.create();
      await database.set('default_transaction_read_only', 'on');
      const store = await open({ url: database.url });
      t.after(() => store.close());
      await assert.rejects(
        store.transaction(async (tx) => await sql`create table t (n bigint)`.execute(tx)),
        { code: '25006' },
      );
      await store.probe();
      assert.ok(store.obstacle);
    });
  });

  describe('PostgreSQL shared by two nodes', () => {
    it('applies migrations once when both start together', async () => {
      const url = await makeDatabase();
      const stores = await Promise.all([open({ url }), open({ url })]);
      const migration = {
        name: '0001_a',
        up: async (tx: Parameters<Parameters<(typeof stores)[0]['transaction']>[0]>[0]) => {
          await sql`create table once (id bigint)`.execute(tx);
          await sql`insert into once values (1)`.execute(tx);
        },
      };
      await Promise.all(stores.map((store) => store.migrate('one', [migration])));
      const rows = await sql`select * from once`.execute(stores[0].reader());
      assert.deepEqual(rows.rows, [{ id: 1 }]);
      for (const store of stores) await store.close();
    });

    it('loses no update of either node', async () => {
      const url = await makeDatabase();
      const stores = await Promise.all([open({ url }), open({ url })]);
      await stores[0].transaction(async (tx) => {
        await sql`create table counter (n bigint)`.execute(tx);
        await sql`insert into counter values (0)`.execute(tx);
      });
      const increment = async (index: number) =>
        await stores[index % 2]?.transaction(async (tx) => {
          const { rows } = await sql<{ n: number }>`select n from counter`.execute(tx);
          await sql`update counter set n = ${(rows[0]?.n ?? 0) + 1}`.execute(tx);
        });
      await Promise.all(Array.from({ length: 40 }, (_, index) => increment(index)));
      const { rows } = await sql`select n from counter`.execute(stores[1].reader());
      assert.deepEqual(rows, [{ n: 40 }]);
      for (const store of stores) await store.close();
    });

    it('releases the locks of a process that was stopped within a transaction', {
      timeout: 60_000,
    }, async () => {
      const url = await makeDatabase();
      const [stopped, other] = await Promise.all([open({ url }), open({ url })]);
      const touch = async (store: typeof stopped) =>
        await store.transaction(async (tx) => await sql`update held set n = n + 1`.execute(tx));
      await stopped.transaction(async (tx) => {
        await sql`create table held (n bigint)`.execute(tx);
        await sql`insert into held values (1)`.execute(tx);
      });
      let wake = (): void => {};
      const asleep = stopped.transaction(async (tx) => {
        await sql`update held set n = 100`.execute(tx);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      });
      const failed = assert.rejects(asleep);
      await touch(other);
      wake();
      await failed;
      const { rows } = await sql`select n from held`.execute(other.reader());
      assert.deepEqual(rows, [{ n: 2 }]);
      for (const store of [stopped, other]) await store.close();
    });

    it('rolls back a transaction that takes too long', async () => {
      const store = await open({ maxTransactionMs: 200 });
      const slow = store.transaction(async (tx) => {
        await sql`create table never (id bigint)`.execute(tx);
        await sql`select pg_sleep(5)`.execute(tx);
      });
      await assert.rejects(slow, { kind: 'transaction_timed_out' });
      await assert.rejects(sql`select * from never`.execute(store.reader()), { code: '42P01' });
      assert.equal(await store.transaction(async () => 'next'), 'next');
      await store.close();
    });

    it('reports a timeout between the statements of a transaction', async () => {
      const store = await open({ maxTransactionMs: 100 });
      const clock = new SystemClock();
      const stated = store.transaction(async (tx) => {
        await sql`create table never (id bigint)`.execute(tx);
        await clock.sleep(200);
        await sql`insert into never values (1)`.execute(tx);
      });
      await assert.rejects(stated, { kind: 'transaction_timed_out' });
      const committed = store.transaction(async (tx) => {
        await sql`create table never (id bigint)`.execute(tx);
        await clock.sleep(200);
      });
      await assert.rejects(committed, { kind: 'transaction_timed_out' });
      await assert.rejects(sql`select * from never`.execute(store.reader()), { code: '42P01' });
      await store.close();
    });
  });
}
