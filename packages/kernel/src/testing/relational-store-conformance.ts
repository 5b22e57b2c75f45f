import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Kysely, sql } from 'kysely';
import { RawStatements, type StatementValue } from '../relational/raw-statements.js';
import { storeError } from '../relational/relational-errors.js';
import type { RelationalStore } from '../relational/relational-store.js';

type Tables = {
  item: {
    id: number;
    name: string | null;
    amount: number | bigint | null;
    owner_id: number | null;
  };
};

/** Tests the contract of `RelationalStore`. `open` returns a new, empty store each time. */
export function relationalStoreConformance(
  implementation: string,
  open: () => Promise<RelationalStore>,
): void {
  const withItems = async (
    work: (store: RelationalStore, read: Kysely<Tables>) => Promise<void>,
  ) => {
    const store = await open();
    try {
      await store.migrate('test', [
        {
          name: '0001_item',
          async up(tx) {
            await sql`create table item (id bigint primary key, name varchar(99) unique,
              amount bigint check (amount <> 13), owner_id bigint references item (id))`.execute(
              tx,
            );
          },
        },
      ]);
      await work(store, store.reader<Tables>());
    } finally {
      await store.close();
    }
  };
  const insert = async (store: RelationalStore, row: Partial<Tables['item']> & { id: number }) => {
    const full = { name: null, amount: null, owner_id: null, ...row };
    await store.transaction<Tables, void>(async (tx) => {
      await tx.insertInto('item').values(full).execute();
    });
  };
  const ids = async (read: Kysely<Tables>) =>
    (await read.selectFrom('item').select('id').orderBy('id').execute()).map((row) => row.id);

  describe(`${implementation} as RelationalStore`, () => {
    it('shows a transaction to readers only after it has resolved', async () => {
      await withItems(async (store, read) => {
        const result = await store.transaction<Tables, string>(async (tx) => {
          await tx
            .insertInto('item')
            .values({ id: 1, name: 'a', amount: null, owner_id: null })
            .execute();
          assert.deepEqual(await ids(read), []);
          assert.deepEqual(await ids(tx), [1]);
          return 'done';
        });
        assert.equal(result, 'done');
        assert.deepEqual(await ids(read), [1]);
      });
    });

    it('rolls back a failed transaction and rethrows its error, without affecting others', async () => {
      await withItems(async (store, read) => {
        const broken = new Error('no');
        const outcomes = await Promise.allSettled(
          Array.from({ length: 20 }, async (_, id) => {
            await store.transaction<Tables, void>(async (tx) => {
              await tx
                .insertInto('item')
                .values({ id, name: null, amount: null, owner_id: null })
                .execute();
              if (id % 3 === 0) throw broken;
            });
          }),
        );
        for (const [id, outcome] of outcomes.entries()) {
          if (id % 3 === 0) assert.deepEqual(outcome, { status: 'rejected', reason: broken });
          else assert.equal(outcome.status, 'fulfilled');
        }
        const expected = Array.from({ length: 20 }, (_, id) => id).filter((id) => id % 3 !== 0);
        assert.deepEqual(await ids(read), expected);
      });
    });

    it('notifies of a commit after it is visible, and never of a rollback', async () => {
      await withItems(async (store, read) => {
        const heard: (readonly number[])[] = [];
        const reads: Promise<void>[] = [];
        const write = async (id: number, why?: Error) =>
          await store.transaction<Tables, void>(async (tx) => {
            // As seen by a caller with other tables.
            store.onCommit(tx.withTables<{ other: { id: number } }>(), () => {
              reads.push(ids(read).then((found) => void heard.push(found)));
            });
            await tx
              .insertInto('item')
              .values({ id, name: null, amount: null, owner_id: null })
              .execute();
            if (why !== undefined) throw why;
          });
        await write(1);
        await assert.rejects(write(2, new Error('no')), { message: 'no' });
        await Promise.all(reads);
        assert.deepEqual(heard, [[1]]);
      });
    });

    it('names the kind of a violated constraint', async () => {
      await withItems(async (store) => {
        await insert(store, { id: 1, name: 'a' });
        const check = async (row: Partial<Tables['item']> & { id: number }, constraint: string) =>
          await assert.rejects(insert(store, row), isViolationOf(constraint));
        await check({ id: 1 }, 'unique');
        await check({ id: 2, name: 'a' }, 'unique');
        await check({ id: 2, amount: 13 }, 'check');
        await check({ id: 2, owner_id: 99 }, 'foreign_key');
      });
    });

    it('rejects statements after the end of their transaction', async () => {
      await withItems(async (store, read) => {
        await insert(store, { id: 1 });
        let left: Promise<unknown> = Promise.resolve();
        const work = store.transaction<Tables, void>(async (tx) => {
          const row = { name: null, amount: null, owner_id: null };
          const statements = [1, 2, 3, 4].map((id) =>
            tx
              .insertInto('item')
              .values({ id, ...row })
              .execute(),
          );
          left = Promise.allSettled(statements);
          await Promise.all(statements);
        });
        await assert.rejects(work, { kind: 'constraint_violated' });
        await left;
        assert.deepEqual(await ids(read), [1]);
      });
    });

    it('runs batched statements in order, and rolls them back together', async () => {
      await withItems(async (store, read) => {
        const statements = new RawStatements(store.system);
        const row = (id: number): readonly StatementValue[] => [id, `row ${id}`];
        const insertion = (count: number, from = 0) =>
          statements.insertion(
            'item',
            ['id', 'name'],
            Array.from({ length: count }, (_, index) => row(from + index)),
          );
        const counted = await store.transaction<Tables, readonly number[]>(async (tx) => {
          const results = await statements.runAll<{ count: number }>(tx, [
            ...insertion(100),
            { text: 'select count(*) as count from item', parameters: [] },
            { text: 'delete from item where id >= ?', parameters: [10] },
          ]);
          return results.map(({ rows, changedRowCount }) => rows[0]?.count ?? changedRowCount);
        });
        const inserted = store.system === 'sqlite' ? [64, 32, 4] : [64, 36];
        assert.deepEqual(counted, [...inserted, 100, 90]);
        const failing = store.transaction<Tables, void>(async (tx) => {
          await statements.runAll(tx, [
            ...insertion(3, 10),
            ...insertion(1, 0),
            ...insertion(3, 20),
          ]);
        });
        await assert.rejects(failing, isViolationOf('unique'));
        assert.deepEqual(await ids(read), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      });
    });

    it('rolls back a transaction with a failed statement, even when its work continued', async () => {
      await withItems(async (store, read) => {
        await insert(store, { id: 1, name: 'a' });
        const work = store.transaction<Tables, void>(async (tx) => {
          await tx
            .insertInto('item')
            .values({ id: 2, name: 'b', amount: null, owner_id: null })
            .execute();
          const twice = tx
            .insertInto('item')
            .values({ id: 3, name: 'a', amount: null, owner_id: null });
          await twice.execute().catch(() => {});
        });
        await assert.rejects(work, { kind: 'transaction_aborted' });
        assert.deepEqual(await ids(read), [1]);
      });
    });

    it('serializes transactions, so that no update is lost', async () => {
      await withItems(async (store, read) => {
        await insert(store, { id: 1, amount: 0 });
        const increment = async () =>
          await store.transaction<Tables, void>(async (tx) => {
            const row = await tx.selectFrom('item').select('amount').executeTakeFirstOrThrow();
            await new Promise<void>((resolve) => setImmediate(resolve));
            await tx
              .updateTable('item')
              .set({ amount: Number(row.amount) + 2 })
              .execute();
          });
        await Promise.all(Array.from({ length: 50 }, increment));
        assert.deepEqual(await read.selectFrom('item').select('amount').execute(), [
          { amount: 100 },
        ]);
      });
    });

    it('keeps all 64 bits of an integer, as a number where exact, otherwise as a bigint', async () => {
      await withItems(async (store, read) => {
        const values = [0, -1, 2 ** 53 - 1, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)];
        for (const [id, amount] of values.entries()) await insert(store, { id, amount });
        const rows = await read.selectFrom('item').select('amount').orderBy('id').execute();
        assert.deepEqual(
          rows.map((row) => row.amount),
          values,
        );
        await assert.rejects(insert(store, { id: 99, amount: 2n ** 63n }), {
          kind: 'value_refused',
        });
      });
    });

    it('returns the number of changed rows, and requested rows', async () => {
      await withItems(async (store) => {
        await store.transaction<Tables, void>(async (tx) => {
          const rows = [1, 2, 3].map((id) => ({
            id,
            name: `n${id}`,
            amount: null,
            owner_id: null,
          }));
          await tx.insertInto('item').values(rows).execute();
          const changed = await tx
            .updateTable('item')
            .set({ amount: 1 })
            .where('id', '>', 1)
            .execute();
          assert.equal(changed[0]?.numUpdatedRows, 2n);
          const gone = await tx.deleteFrom('item').where('id', '=', 1).returning('name').execute();
          assert.deepEqual(gone, [{ name: 'n1' }]);
        });
      });
    });

    it('applies each migration once and rejects another history', async () => {
      const store = await open();
      try {
        const applied: string[] = [];
        const step = (name: string) => ({
          name,
          async up() {
            applied.push(name);
          },
        });
        await store.migrate('one', [step('0001_a')]);
        await store.migrate('one', [step('0001_a'), step('0002_b')]);
        await store.migrate('two', [step('0001_a')]);
        assert.deepEqual(applied, ['0001_a', '0002_b', '0001_a']);
        await assert.rejects(store.migrate('one', [step('0001_a')]), { kind: 'migrations_differ' });
        await assert.rejects(store.migrate('two', [step('0001_x')]), { kind: 'migrations_differ' });
      } finally {
        await store.close();
      }
    });

    it('shows readers added and renamed columns, even during a migration', async () => {
      await withItems(async (store, read) => {
        await insert(store, { id: 1, name: 'a' });
        assert.deepEqual(await ids(read), [1]); // Now the reader has cached the old columns.
        const whole = sql<Record<string, unknown>>`select * from item`;
        await store.transaction<Tables, void>(async (tx) => {
          await sql`alter table item add column colour varchar(9)`.execute(tx);
          await sql`alter table item rename column amount to number`.execute(tx);
          if (store.system === 'sqlite') await whole.execute(read); // PostgreSQL would wait for the migration.
        });
        const expected = { id: 1, name: 'a', number: null, owner_id: null, colour: null };
        assert.deepEqual((await whole.execute(read)).rows, [expected]);
        const named = sql`select * from item where id = 1`;
        assert.deepEqual((await named.execute(read)).rows, [expected]);
      });
    });

    it('applies no part of migrations with a failed statement', async () => {
      const store = await open();
      const makes = (name: string, text: string) => ({
        name,
        async up(tx: Kysely<unknown>) {
          await sql.raw(text).execute(tx);
        },
      });
      const first = makes('0001_first', 'create table first (id integer primary key)');
      const wrong = makes('0002_wrong', 'create table first (id integer primary key)');
      const right = makes('0002_right', 'create table second (id integer primary key)');
      try {
        await assert.rejects(store.migrate('one', [first, wrong]), /first/);
        await Promise.all([
          store.migrate('one', [first, right]),
          store.migrate('one', [first, right]),
        ]);
        const read = store.reader<{ first: { id: number }; second: { id: number } }>();
        assert.deepEqual(await read.selectFrom('first').selectAll().execute(), []);
        assert.deepEqual(await read.selectFrom('second').selectAll().execute(), []);
      } finally {
        await store.close();
      }
    });

    it('rejects writes of a reader, and all calls after the close', async () => {
      await withItems(async (store, read) => {
        await assert.rejects(read.updateTable('item').set({ name: 'x' }).execute());
        await store.close();
        await store.close();
        await assert.rejects(insert(store, { id: 1 }), { kind: 'store_unusable' });
        await assert.rejects(ids(read), { kind: 'store_unusable' });
      });
    });
  });
}

const isViolationOf =
  (constraint: string) =>
  (error: unknown): boolean =>
    storeError.is(error, 'constraint_violated') && error.details.constraint === constraint;
