import type { RelationalStore } from '@plinth/kernel';
import type { Kysely } from 'kysely';
import type { StoredToken, TokenKind } from '../model/account/token.js';
import { type Tenant, tenantKey } from '../model/platform/tenant.js';
import type { AccountTables } from './account-tables.js';
import type { WriteSet } from './commit-queue.js';
import type { Encryptor } from './encryptor.js';

/**
 * Person and account tokens. Their content is encrypted, and removed when they are used or have
 * expired.
 */
export class TokenStore {
  readonly #reader: Kysely<AccountTables>;
  readonly #encryptor: Encryptor;

  constructor(store: RelationalStore, encryptor: Encryptor) {
    this.#reader = store.reader<AccountTables>();
    this.#encryptor = encryptor;
  }

  async find(tenant: Tenant, kind: TokenKind, id: string): Promise<StoredToken | undefined> {
    const row = await this.#reader
      .selectFrom('accounts_tokens')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    if (row === undefined || row.tenant !== tenantKey(tenant) || row.kind !== kind)
      return undefined;
    return {
      id,
      kind,
      tenant,
      accountId: row.account_id ?? undefined,
      createdMs: Number(row.created_ms),
      expiresMs: Number(row.expires_ms),
      usedMs: row.used_ms === null ? undefined : Number(row.used_ms),
      payload:
        row.payload === null ? undefined : JSON.parse(this.#encryptor.decrypt(row.payload, id)),
    };
  }

  /** Returns the unused person tokens of an account. */
  async listUnused(accountId: string, nowMs: number): Promise<readonly string[]> {
    const rows = await this.#reader
      .selectFrom('accounts_tokens')
      .select('id')
      .where('expires_ms', '>', nowMs)
      .where('payload', 'is not', null)
      .where('account_id', '=', accountId)
      .execute();
    return rows.map(({ id }) => id);
  }

  put(writes: WriteSet, token: StoredToken): void {
    const { id, payload } = token;
    writes.put('accounts_tokens', {
      id,
      tenant: tenantKey(token.tenant),
      kind: token.kind,
      account_id: token.accountId ?? null,
      created_ms: token.createdMs,
      expires_ms: token.expiresMs,
      used_ms: token.usedMs ?? null,
      payload: payload === undefined ? null : this.#encryptor.encrypt(JSON.stringify(payload), id),
    });
  }
}
