import { type Kysely, sql } from 'kysely';
import { MigrationsDiffer } from './relational-errors.js';
import type { Migration, RelationalStore, SqlEngine } from './relational-store.js';

type MigrationTables = { kernel_migrations: { service: string; name: string } };

/** Applies what is missing, each migration in one transaction with the row that remembers it. */
export async function applyMigrations(
  store: RelationalStore,
  service: string,
  migrations: readonly Migration[],
): Promise<void> {
  await createTable(store);
  const applied = await appliedNames(store.reader<MigrationTables>(), service);
  refuseOtherHistory(service, applied, migrations);
  for (const migration of migrations.slice(applied.length)) {
    await store.transaction<unknown, void>(async (tx) => {
      await waitForOthers(tx, store.engine);
      const { numInsertedOrUpdatedRows: isFirst } = await tx
        .withTables<MigrationTables>()
        .insertInto('kernel_migrations')
        .values({ service, name: migration.name })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      if (isFirst === 0n) return; // another node was quicker
      await migration.up(tx, store.engine);
    }, ALONE);
  }
}

/** What the lock's holder has committed must be seen by whoever gets it next. */
const ALONE = { isolation: 'read_committed' } as const;

/** Nodes that start together change the tables one after the other. */
async function waitForOthers(tx: Kysely<unknown>, engine: SqlEngine): Promise<void> {
  if (engine === 'postgresql') await sql`select pg_advisory_xact_lock(7270114)`.execute(tx);
}

async function createTable(store: RelationalStore): Promise<void> {
  await store.transaction<unknown, void>(async (tx) => {
    await waitForOthers(tx, store.engine);
    await sql`create table if not exists kernel_migrations (
      service text not null, name text not null, primary key (service, name))`.execute(tx);
  }, ALONE);
}

async function appliedNames(
  reader: Kysely<MigrationTables>,
  service: string,
): Promise<readonly string[]> {
  const rows = await reader
    .selectFrom('kernel_migrations')
    .select('name')
    .where('service', '=', service)
    .orderBy('name')
    .execute();
  return rows.map((row) => row.name);
}

function refuseOtherHistory(
  service: string,
  applied: readonly string[],
  migrations: readonly Migration[],
): void {
  for (const [index, { name }] of migrations.entries()) {
    const before = migrations[index - 1]?.name;
    if (before !== undefined && before >= name) {
      throw new MigrationsDiffer(service, `${name} stands after ${before}; names must ascend`);
    }
  }
  for (const [index, name] of applied.entries()) {
    const expected = migrations[index]?.name;
    if (expected === name) continue;
    throw new MigrationsDiffer(
      service,
      `the database has ${name} where this version has ${expected ?? 'none'}`,
    );
  }
}
