import type { RelationalStore } from '@plinth/kernel';
import type { Kysely, Selectable, Transaction } from 'kysely';
import type { App, AppKey, AppOwner, AppSelector } from '../model/app.js';
import { APP_MIGRATIONS, type AppTables } from './app-tables.js';

export type AppTransaction = Transaction<AppTables>;

export type NewApp = Pick<App, 'client_id' | 'slug' | 'name' | 'owner' | 'createdMs'>;

/** Apps and their keys in the relational store. */
export class AppStore {
  readonly #store: RelationalStore;

  constructor(store: RelationalStore) {
    this.#store = store;
  }

  /** Whether other nodes can change the same apps. */
  get isShared(): boolean {
    return this.#store.system === 'postgresql';
  }

  async migrate(): Promise<void> {
    await this.#store.migrate('identity_apps', APP_MIGRATIONS);
  }

  async transaction<T>(work: (tx: AppTransaction) => Promise<T>): Promise<T> {
    return await this.#store.transaction<AppTables, T>(work);
  }

  async find(selector: AppSelector): Promise<App | undefined> {
    return await findApp(this.#store.reader<AppTables>(), selector);
  }

  async findTaken(names: NamesOfApp): Promise<readonly (NamesOfApp & { readonly id: number })[]> {
    return await findTaken(this.#store.reader<AppTables>(), names);
  }

  /** Returns apps in ascending order of id. */
  async list(afterId: number, limit: number): Promise<readonly App[]> {
    const reader = this.#store.reader<AppTables>();
    const rows = await reader
      .selectFrom('identity_apps')
      .selectAll()
      .where('id', '>', afterId)
      .orderBy('id')
      .limit(limit)
      .execute();
    const ids = rows.map(({ id }) => id);
    if (ids.length === 0) return [];
    const keys = await reader
      .selectFrom('identity_app_keys')
      .selectAll()
      .where('app_id', 'in', ids)
      .orderBy('id')
      .execute();
    return rows.map((row) =>
      toApp(
        row,
        keys.filter((key) => key.app_id === row.id),
      ),
    );
  }
}

export async function findApp(
  from: Kysely<AppTables>,
  selector: AppSelector,
): Promise<App | undefined> {
  const row = await from
    .selectFrom('identity_apps')
    .selectAll()
    .$if('id' in selector, (query) => query.where('id', '=', Reflect.get(selector, 'id')))
    .$if('client_id' in selector, (query) =>
      query.where('client_id', '=', Reflect.get(selector, 'client_id')),
    )
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const keys = await from
    .selectFrom('identity_app_keys')
    .selectAll()
    .where('app_id', '=', row.id)
    .orderBy('id')
    .execute();
  return toApp(row, keys);
}

/** @returns the new app's id. */
export async function insertApp(tx: AppTransaction, app: NewApp): Promise<number> {
  const { id } = await tx
    .insertInto('identity_apps')
    .values({
      client_id: app.client_id,
      slug: app.slug,
      name: app.name,
      owner: app.owner === undefined ? null : JSON.stringify(app.owner),
      created_ms: app.createdMs,
      updated_ms: app.createdMs,
      suspended_ms: null,
      version: 1,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export interface AppRowChange {
  readonly name?: string;
  readonly slug?: string;
  readonly owner?: AppOwner | null;
  readonly suspendedMs?: number | null;
}

/** Also increments `version`, so that cached copies elsewhere are detected as outdated. */
export async function updateApp(
  tx: AppTransaction,
  appId: number,
  change: AppRowChange & { readonly updatedMs: number },
): Promise<void> {
  const { owner } = change;
  await tx
    .updateTable('identity_apps')
    .set((eb) => ({
      updated_ms: change.updatedMs,
      version: eb('version', '+', 1),
      ...(change.name === undefined ? {} : { name: change.name }),
      ...(change.slug === undefined ? {} : { slug: change.slug }),
      ...(owner === undefined ? {} : { owner: owner === null ? null : JSON.stringify(owner) }),
      ...(change.suspendedMs === undefined ? {} : { suspended_ms: change.suspendedMs }),
    }))
    .where('id', '=', appId)
    .execute();
}

export async function deleteApp(tx: AppTransaction, appId: number): Promise<void> {
  await tx.deleteFrom('identity_app_keys').where('app_id', '=', appId).execute();
  await tx.deleteFrom('identity_apps').where('id', '=', appId).execute();
}

export async function insertKey(
  tx: AppTransaction,
  appId: number,
  key: Omit<AppKey, 'id'>,
): Promise<AppKey> {
  const { id } = await tx
    .insertInto('identity_app_keys')
    .values({
      app_id: appId,
      fingerprint: key.fingerprint,
      public_key: key.publicKey,
      created_ms: key.createdMs,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { ...key, id };
}

export async function deleteKey(tx: AppTransaction, keyId: number): Promise<void> {
  await tx.deleteFrom('identity_app_keys').where('id', '=', keyId).execute();
}

interface NamesOfApp {
  readonly name: string;
  readonly slug: string;
}

/** Finds apps that already have the name or slug. */
export async function findTaken(
  from: Kysely<AppTables>,
  names: NamesOfApp,
): Promise<readonly (NamesOfApp & { readonly id: number })[]> {
  return await from
    .selectFrom('identity_apps')
    .select(['id', 'name', 'slug'])
    .where((eb) => eb.or([eb('name', '=', names.name), eb('slug', '=', names.slug)]))
    .execute();
}

function toApp(
  row: Selectable<AppTables['identity_apps']>,
  keys: readonly Selectable<AppTables['identity_app_keys']>[],
): App {
  return {
    id: row.id,
    client_id: row.client_id,
    slug: row.slug,
    name: row.name,
    owner: row.owner === null ? undefined : (JSON.parse(row.owner) as AppOwner), // written by insertApp
    keys: keys.map((key) => ({
      id: key.id,
      fingerprint: key.fingerprint,
      publicKey: key.public_key,
      createdMs: Number(key.created_ms),
    })),
    createdMs: row.created_ms,
    updatedMs: row.updated_ms,
    suspendedMs: row.suspended_ms ?? undefined,
    version: row.version,
  };
}
