import type { RelationalStore } from '@plinth/kernel';
import type { Selectable, Transaction } from 'kysely';
import type { Credential, CredentialKind } from '../model/credential-token.js';
import type { IdentityAttributes, IdentityKind, IdentityRecord } from '../model/identity-record.js';
import { REGISTRY_MIGRATIONS, type RegistryTables } from './registry-tables.js';

/** Identities and their credentials in the relational store. */
export class RegistryStore {
  readonly #store: RelationalStore;

  constructor(store: RelationalStore) {
    this.#store = store;
  }

  /** Whether other nodes can change the stored data. */
  get isShared(): boolean {
    return this.#store.system === 'postgresql';
  }

  async migrate(): Promise<void> {
    await this.#store.migrate('identity_registry', REGISTRY_MIGRATIONS);
  }

  async find(key: string): Promise<IdentityRecord | undefined> {
    const row = await this.#store
      .reader<RegistryTables>()
      .selectFrom('identity_records')
      .selectAll()
      .where('identity_key', '=', key)
      .executeTakeFirst();
    return row && recordFromRow(row);
  }

  /** Returns identities ordered by key, starting after `after`. */
  async list(after: string, limit: number): Promise<readonly IdentityRecord[]> {
    const rows = await this.#store
      .reader<RegistryTables>()
      .selectFrom('identity_records')
      .selectAll()
      .where('identity_key', '>', after)
      .orderBy('identity_key')
      .limit(limit)
      .execute();
    return rows.map(recordFromRow);
  }

  /** @returns false if an identity with this key exists. */
  async insert(record: IdentityRecord): Promise<boolean> {
    return await this.#store.transaction<RegistryTables, boolean>(async (tx) => {
      const result = await tx
        .insertInto('identity_records')
        .values(recordToRow(record))
        .onConflict((conflict) => conflict.column('identity_key').doNothing())
        .executeTakeFirst();
      return Number(result.numInsertedOrUpdatedRows ?? 0) > 0;
    });
  }

  /** Runs exclusively. Rethrows errors of `change` without storing anything. */
  async update(
    key: string,
    change: (record: IdentityRecord) => IdentityRecord,
  ): Promise<IdentityRecord | undefined> {
    return await this.#store.transaction<RegistryTables, IdentityRecord | undefined>(async (tx) => {
      const row = await tx
        .selectFrom('identity_records')
        .selectAll()
        .where('identity_key', '=', key)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const changed = change(recordFromRow(row));
      await tx
        .updateTable('identity_records')
        .set(recordToRow(changed))
        .where('identity_key', '=', key)
        .execute();
      return changed;
    });
  }

  /** Also deletes its credentials. @returns whether the identity existed. */
  async delete(key: string): Promise<boolean> {
    return await this.#store.transaction<RegistryTables, boolean>(async (tx) => {
      await tx.deleteFrom('identity_credentials').where('identity_key', '=', key).execute();
      const result = await tx
        .deleteFrom('identity_records')
        .where('identity_key', '=', key)
        .executeTakeFirst();
      return Number(result.numDeletedRows) > 0;
    });
  }

  async insertCredential(credential: Omit<Credential, 'id'>): Promise<Credential> {
    return await this.#store.transaction<RegistryTables, Credential>(async (tx) => {
      await removeExpired(tx, credential.createdMs);
      const { id } = await tx
        .insertInto('identity_credentials')
        .values({
          hash: credential.hash,
          kind: credential.kind,
          identity_key: credential.identity,
          via_app: credential.viaApp ?? null,
          created_ms: credential.createdMs,
          expires_ms: credential.expiresMs ?? null,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      return { ...credential, id: Number(id) };
    });
  }

  async findCredential(hash: string): Promise<Credential | undefined> {
    const row = await this.#store
      .reader<RegistryTables>()
      .selectFrom('identity_credentials')
      .selectAll()
      .where('hash', '=', hash)
      .executeTakeFirst();
    return row && credentialFromRow(row);
  }

  async deleteCredential(id: number): Promise<boolean> {
    return await this.#store.transaction<RegistryTables, boolean>(async (tx) => {
      const result = await tx
        .deleteFrom('identity_credentials')
        .where('id', '=', id)
        .executeTakeFirst();
      return Number(result.numDeletedRows) > 0;
    });
  }
}

/** Rows that expired longer ago than this are removed in small batches when new rows are inserted. */
const EXPIRED_KEPT_MS = 86_400_000;
const EXPIRED_BATCH_COUNT = 20;

async function removeExpired(tx: Transaction<RegistryTables>, nowMs: number): Promise<void> {
  await tx
    .deleteFrom('identity_credentials')
    .where('id', 'in', (query) =>
      query
        .selectFrom('identity_credentials')
        .select('id')
        .where('expires_ms', '<', nowMs - EXPIRED_KEPT_MS)
        .limit(EXPIRED_BATCH_COUNT),
    )
    .execute();
}

type RecordRow = Selectable<RegistryTables['identity_records']>;

function recordToRow(record: IdentityRecord): RecordRow {
  return {
    identity_key: record.key,
    kind: record.kind,
    id: String(record.id),
    attributes: JSON.stringify(record.attributes),
    secret_hash: record.secretHash ?? null,
    created_ms: record.createdMs,
    updated_ms: record.updatedMs,
  };
}

function recordFromRow(row: RecordRow): IdentityRecord {
  const kind = row.kind as IdentityKind; // written from an IdentityKind
  return {
    key: row.identity_key,
    kind,
    id: kind === 'oauth_app' ? row.id : Number(row.id),
    attributes: JSON.parse(row.attributes) as IdentityAttributes, // written from IdentityAttributes
    secretHash: row.secret_hash ?? undefined,
    createdMs: Number(row.created_ms),
    updatedMs: Number(row.updated_ms),
  };
}

function credentialFromRow(row: Selectable<RegistryTables['identity_credentials']>): Credential {
  return {
    id: Number(row.id),
    hash: row.hash,
    kind: row.kind as CredentialKind, // written from a CredentialKind
    identity: row.identity_key,
    viaApp: row.via_app ?? undefined,
    createdMs: Number(row.created_ms),
    expiresMs: row.expires_ms === null ? undefined : Number(row.expires_ms),
  };
}
