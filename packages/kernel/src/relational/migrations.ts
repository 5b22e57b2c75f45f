import { type Kysely, sql, type Transaction } from 'kysely';
import { storeError } from './relational-errors.js';
import type { DatabaseSystem, Migration, RelationalStore } from './relational-store.js';

type MigrationTables = { kernel_migrations: { service: string; name: string } };

/** The next holder of the lock must see the changes that the previous holder has committed. */
const LOCKED = { isolation: 'read_committed' } as const;

const IS_TABLE_THERE = {
  sqlite: sql<{ name: string }>`
    select name from sqlite_master where type = 'table' and name = 'kernel_migrations'`,
  postgresql: sql<{ name: string }>`
    select 'kernel_migrations' as name where to_regclass('kernel_migrations') is not null`,
} as const satisfies Record<DatabaseSystem, unknown>;

type InTransaction = (work: (tx: Transaction<unknown>) => Promise<void>) => Promise<void>;

/** The migrations of one open store. */
export class Migrations {
  readonly #store: RelationalStore;
  readonly #transaction: InTransaction;
  readonly #applying = new Map<string, Promise<void>>();
  /**
   * Names of the applied migrations in order, by service. Read once for all services at startup. The list may lack
   * migrations of a node that starts at the same time; the write detects this.
   */
  #applied: Promise<Map<string, readonly string[]>> | undefined;

  /** @param transaction runs the migrations; a transaction of the store by default. */
  constructor(
    store: RelationalStore,
    transaction: InTransaction = (work) => store.transaction<unknown, void>(work, LOCKED),
  ) {
    this.#store = store;
    this.#transaction = transaction;
  }

  /** Applies missing migrations and records them in one transaction. Concurrent calls for a service share it. */
  async apply(service: string, migrations: readonly Migration[]): Promise<void> {
    const before = this.#applying.get(service);
    if (before !== undefined) return await before;
    const applying = this.#apply(service, migrations).finally(() => this.#applying.delete(service));
    this.#applying.set(service, applying);
    await applying;
  }

  async #apply(service: string, migrations: readonly Migration[]): Promise<void> {
    const applied = await this.#readOnce();
    const known = applied.get(service) ?? [];
    refuseOtherHistory(service, known, migrations);
    const missing = migrations.slice(known.length);
    if (missing.length === 0) return;
    const { system } = this.#store;
    await this.#transaction(async (tx) => {
      await waitForOthers(tx, system);
      await createTable(tx);
      for (const migration of missing) {
        const { numInsertedOrUpdatedRows: isFirst } = await tx
          .withTables<MigrationTables>()
          .insertInto('kernel_migrations')
          .values({ service, name: migration.name })
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirst();
        if (isFirst !== 0n) await migration.up(tx, system); // otherwise another node was faster
      }
    });
    applied.set(
      service,
      migrations.map(({ name }) => name),
    );
  }

  async #readOnce(): Promise<Map<string, readonly string[]>> {
    this.#applied ??= readApplied(this.#store).catch((error: unknown) => {
      this.#applied = undefined; // A retry may reach the database again.
      throw error;
    });
    return await this.#applied;
  }
}

/** Serializes the migrations of nodes that start together. */
async function waitForOthers(tx: Kysely<unknown>, system: DatabaseSystem): Promise<void> {
  if (system === 'postgresql') await sql`select pg_advisory_xact_lock(7270114)`.execute(tx);
}

async function createTable(tx: Kysely<unknown>): Promise<void> {
  await sql`create table if not exists kernel_migrations (
    service text not null, name text not null, primary key (service, name))`.execute(tx);
}

async function readApplied(store: RelationalStore): Promise<Map<string, readonly string[]>> {
  const reader = store.reader<MigrationTables>();
  const applied = new Map<string, readonly string[]>();
  const { rows: tables } = await IS_TABLE_THERE[store.system].execute(reader);
  if (tables.length === 0) return applied;
  const rows = await reader.selectFrom('kernel_migrations').selectAll().orderBy('name').execute();
  for (const { service, name } of rows) {
    applied.set(service, [...(applied.get(service) ?? []), name]);
  }
  return applied;
}

function refuseOtherHistory(
  service: string,
  applied: readonly string[],
  migrations: readonly Migration[],
): void {
  for (const [index, { name }] of migrations.entries()) {
    const before = migrations[index - 1]?.name;
    if (before !== undefined && before >= name) {
      throw storeError('migrations_differ', {
        service,
        why: `${name} follows ${before}; names must be in ascending order`,
      });
    }
  }
  for (const [index, name] of applied.entries()) {
    const expected = migrations[index]?.name;
    if (expected === name) continue;
    throw storeError('migrations_differ', {
      service,
      why: `the database contains migration ${name}, but this version expects ${expected ?? 'no further migration'}; use the newest version that has opened the database`,
    });
  }
}
