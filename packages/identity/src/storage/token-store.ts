import type { Permission, RelationalStore, ReportEvent } from '@plinth/kernel';
import type { Selectable, Transaction } from 'kysely';
import type { ApiToken } from '../model/api-token.js';
import { noteUses } from './note-uses.js';
import type { IdentityTables } from './token-tables.js';
import { IDENTITY_MIGRATIONS } from './token-tables.js';

/** Without an id, the token receives the next id. */
export type NewToken = Omit<ApiToken, 'id'> & { readonly id: number | undefined };

export interface UsedToken {
  readonly token: ApiToken;
  /** `undefined` if never used. */
  readonly lastUsedMs: number | undefined;
}

/** Tokens in the relational store. */
export class TokenStore {
  readonly #store: RelationalStore;
  readonly #report: ReportEvent | undefined;

  /** @param report receives every change within its commit; never contains a secret. */
  constructor(store: RelationalStore, report?: ReportEvent) {
    this.#store = store;
    this.#report = report;
  }

  async migrate(): Promise<void> {
    await this.#store.migrate('identity', IDENTITY_MIGRATIONS);
  }

  async readAll(): Promise<readonly UsedToken[]> {
    const reader = this.#store.reader<IdentityTables>();
    const rows = await reader.selectFrom('identity_tokens').selectAll().orderBy('id').execute();
    return rows.map((row) => ({ token: fromRow(row), lastUsedMs: numberOf(row.last_used_ms) }));
  }

  /**
   * Adds the token under `id`, or under the next one. Returns `undefined` if the name exists;
   * another node may have created it at the same moment.
   */
  async insert(token: NewToken): Promise<ApiToken | undefined> {
    return await this.#store.transaction<IdentityTables, ApiToken | undefined>(async (tx) => {
      const taken = await tx
        .selectFrom('identity_tokens')
        .select('id')
        .where((eb) => eb.or([eb('name', '=', token.name), eb('id', '=', token.id ?? -1)]))
        .executeTakeFirst();
      if (taken !== undefined) return undefined;
      const inserted = { ...token, id: token.id ?? (await takeNextId(tx)) };
      await tx.insertInto('identity_tokens').values(toRow(inserted)).execute();
      await this.#report?.(tx, { type: 'token.created', payload: payloadOf(inserted) });
      return inserted;
    });
  }

  async update(token: ApiToken): Promise<void> {
    await this.#store.transaction<IdentityTables, void>(async (tx) => {
      await tx
        .updateTable('identity_tokens')
        .set(toRow(token))
        .where('id', '=', token.id)
        .execute();
      await this.#report?.(tx, { type: 'token.regenerated', payload: payloadOf(token) });
    });
  }

  /** Keeps the later of the stored and the given time. */
  async noteUses(uses: readonly (readonly [id: number, usedMs: number])[]): Promise<void> {
    await noteUses(this.#store, 'identity_tokens', uses);
  }

  async delete(token: ApiToken): Promise<void> {
    await this.#store.transaction<IdentityTables, void>(async (tx) => {
      await tx.deleteFrom('identity_tokens').where('id', '=', token.id).execute();
      await this.#report?.(tx, { type: 'token.revoked', payload: payloadOf(token) });
    });
  }
}

/** Ids are never reused, whichever node creates the token. */
async function takeNextId(tx: Transaction<IdentityTables>): Promise<number> {
  const sequence = await tx
    .selectFrom('identity_sequences')
    .select('next')
    .where('name', '=', 'token')
    .executeTakeFirst();
  const id = sequence?.next ?? 1;
  await tx
    .insertInto('identity_sequences')
    .values({ name: 'token', next: id + 1 })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ next: id + 1 }))
    .execute();
  return id;
}

function payloadOf({ id, name }: ApiToken): object {
  return { token: { id, name } };
}

/**
 * Prefix of the stored hash of a token with permissions. Older server versions, which support only
 * admin tokens, must not find it.
 */
const GRANTED_PREFIX = 'granted:';

type TokenRow = Selectable<IdentityTables['identity_tokens']>;

function toRow(token: ApiToken): TokenRow {
  return {
    id: token.id,
    name: token.name,
    hash: token.permissions === undefined ? token.hash : GRANTED_PREFIX + token.hash,
    created_ms: token.createdMs,
    created_by_token_id: token.createdByTokenId ?? null,
    updated_ms: token.updatedMs ?? null,
    updated_by_token_id: token.updatedByTokenId ?? null,
    expiry_ms: token.expiryMs ?? null,
    permissions: token.permissions === undefined ? null : JSON.stringify(token.permissions),
    last_used_ms: null, // a new secret has not been used
  };
}

function fromRow(row: TokenRow): ApiToken {
  const isGranted = row.permissions !== null || row.hash.startsWith(GRANTED_PREFIX);
  return {
    id: row.id,
    name: row.name,
    hash: isGranted ? row.hash.slice(GRANTED_PREFIX.length) : row.hash,
    createdMs: Number(row.created_ms),
    createdByTokenId: row.created_by_token_id ?? undefined,
    updatedMs: numberOf(row.updated_ms),
    updatedByTokenId: row.updated_by_token_id ?? undefined,
    expiryMs: numberOf(row.expiry_ms),
    permissions: isGranted ? permissionsOf(row.permissions) : undefined,
  };
}

/** Some drivers return 64-bit columns as strings; milliseconds fit a number. */
function numberOf(value: number | string | null): number | undefined {
  return value === null ? undefined : Number(value);
}

/** The text was written by this module. */
export const permissionsOf = (text: string | null): readonly Permission[] =>
  text === null ? [] : JSON.parse(text);
