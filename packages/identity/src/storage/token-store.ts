import type { Permission, RelationalStore, ReportEvent } from '@plinth/kernel';
import type { Selectable } from 'kysely';
import type { ApiToken } from '../model/api-token.js';
import type { IdentityTables } from './token-tables.js';
import { IDENTITY_MIGRATIONS } from './token-tables.js';

/** Tokens in the relational store. */
export class TokenStore {
  readonly #store: RelationalStore;
  readonly #report: ReportEvent | undefined;

  /** @param report told of every change, in its commit; never of a secret. */
  constructor(store: RelationalStore, report?: ReportEvent) {
    this.#store = store;
    this.#report = report;
  }

  async migrate(): Promise<void> {
    await this.#store.migrate('identity', IDENTITY_MIGRATIONS);
  }

  async readAll(): Promise<{ readonly tokens: readonly ApiToken[]; readonly nextId: number }> {
    const reader = this.#store.reader<IdentityTables>();
    const rows = await reader.selectFrom('identity_tokens').selectAll().orderBy('id').execute();
    const sequence = await reader
      .selectFrom('identity_sequences')
      .select('next')
      .where('name', '=', 'token')
      .executeTakeFirst();
    return { tokens: rows.map(fromRow), nextId: sequence?.next ?? 1 };
  }

  /** Adds the token and keeps the next id with it. */
  async insert(token: ApiToken, nextId: number): Promise<void> {
    await this.#store.transaction<IdentityTables, void>(async (tx) => {
      await tx.insertInto('identity_tokens').values(toRow(token)).execute();
      await tx
        .insertInto('identity_sequences')
        .values({ name: 'token', next: nextId })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ next: nextId }))
        .execute();
      await this.#report?.(tx, { type: 'token.created', payload: payloadOf(token) });
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

  async delete(token: ApiToken): Promise<void> {
    await this.#store.transaction<IdentityTables, void>(async (tx) => {
      await tx.deleteFrom('identity_tokens').where('id', '=', token.id).execute();
      await this.#report?.(tx, { type: 'token.revoked', payload: payloadOf(token) });
    });
  }
}

function payloadOf({ id, name }: ApiToken): object {
  return { token: { id, name } };
}

/**
 * In front of the hash of a token with permissions: a server of an older version, which knows tokens of admins alone, must
 * not find it.
 */
const OF_GRANTED = 'granted:';

type TokenRow = Selectable<IdentityTables['identity_tokens']>;

function toRow(token: ApiToken): TokenRow {
  return {
    id: token.id,
    name: token.name,
    hash: token.permissions === undefined ? token.hash : OF_GRANTED + token.hash,
    created_ms: token.createdMs,
    created_by_token_id: token.createdByTokenId ?? null,
    updated_ms: token.updatedMs ?? null,
    updated_by_token_id: token.updatedByTokenId ?? null,
    expiry_ms: token.expiryMs ?? null,
    permissions: token.permissions === undefined ? null : JSON.stringify(token.permissions),
  };
}

function fromRow(row: TokenRow): ApiToken {
  const isGranted = row.permissions !== null || row.hash.startsWith(OF_GRANTED);
  return {
    id: row.id,
    name: row.name,
    hash: isGranted ? row.hash.slice(OF_GRANTED.length) : row.hash,
    createdMs: Number(row.created_ms),
    createdByTokenId: row.created_by_token_id ?? undefined,
    updatedMs: numberOf(row.updated_ms),
    updatedByTokenId: row.updated_by_token_id ?? undefined,
    expiryMs: numberOf(row.expiry_ms),
    permissions: isGranted ? permissionsOf(row.permissions) : undefined,
  };
}

/** Some drivers hand out 64-bit columns as text; milliseconds fit a number. */
function numberOf(value: number | string | null): number | undefined {
  return value === null ? undefined : Number(value);
}

/** As they were written by this module. */
export const permissionsOf = (text: string | null): readonly Permission[] =>
  text === null ? [] : JSON.parse(text);
