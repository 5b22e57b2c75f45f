import type { RelationalStore } from '@plinth/kernel';
import type { Selectable } from 'kysely';
import type { PlatformKey } from '../model/platform-key.js';
import { noteUses } from './note-uses.js';
import type { IdentityTables } from './token-tables.js';

export interface UsedKey {
  readonly key: PlatformKey;
  /** `undefined` if never used. */
  readonly lastUsedMs: number | undefined;
}

/** Platform keys in the relational store. */
export class PlatformKeyStore {
  readonly #store: RelationalStore;

  constructor(store: RelationalStore) {
    this.#store = store;
  }

  async readAll(): Promise<readonly UsedKey[]> {
    const rows = await this.#store
      .reader<IdentityTables>()
      .selectFrom('identity_platform_keys')
      .selectAll()
      .orderBy('created_ms')
      .orderBy('id')
      .execute();
    return rows.map((row) => ({
      key: fromRow(row),
      lastUsedMs: row.last_used_ms === null ? undefined : Number(row.last_used_ms),
    }));
  }

  async insert(keys: readonly PlatformKey[]): Promise<void> {
    await this.#store.transaction<IdentityTables, void>(async (tx) => {
      // Nodes that start together insert the same preset keys.
      await tx
        .insertInto('identity_platform_keys')
        .values(keys.map(toRow))
        .onConflict((conflict) => conflict.column('hash').doNothing())
        .execute();
    });
  }

  async revoke(id: string, revokedMs: number): Promise<void> {
    await this.#store.transaction<IdentityTables, void>(async (tx) => {
      await tx
        .updateTable('identity_platform_keys')
        .set({ revoked_ms: revokedMs })
        .where('id', '=', id)
        .execute();
    });
  }

  /** Keeps the later of the stored and the given time. */
  async noteUses(uses: readonly (readonly [id: string, usedMs: number])[]): Promise<void> {
    await noteUses(this.#store, 'identity_platform_keys', uses);
  }

  async deletePlatform(platform: string): Promise<void> {
    await this.#store.transaction<IdentityTables, void>(async (tx) => {
      await tx.deleteFrom('identity_platform_keys').where('platform', '=', platform).execute();
    });
  }
}

type KeyRow = Selectable<IdentityTables['identity_platform_keys']>;

function toRow(key: PlatformKey): KeyRow {
  return {
    id: key.id,
    platform: key.platform,
    kind: key.kind,
    livemode: key.livemode ? 1 : 0,
    hash: key.hash,
    last4: key.last4,
    created_ms: key.createdMs,
    expires_ms: key.expiresMs ?? null,
    revoked_ms: key.revokedMs ?? null,
    last_used_ms: null,
  };
}

function fromRow(row: KeyRow): PlatformKey {
  return {
    id: row.id,
    platform: row.platform,
    kind: row.kind === 'publishable' ? 'publishable' : 'secret',
    livemode: row.livemode === 1,
    hash: row.hash,
    last4: row.last4,
    createdMs: Number(row.created_ms),
    expiresMs: row.expires_ms === null ? undefined : Number(row.expires_ms),
    revokedMs: row.revoked_ms === null ? undefined : Number(row.revoked_ms),
  };
}
