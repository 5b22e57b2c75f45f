import type { RelationalStore } from '@plinth/kernel';
import type { Kysely } from 'kysely';
import type { StoredAccount } from '../model/account/account.js';
import type { ConfigurationName } from '../model/account/configuration-name.js';
import type { StoredPerson } from '../model/account/person.js';
import { type Tenant, tenantKey } from '../model/platform/tenant.js';
import { type AccountRow, fromAccountRow, fromPersonRow, masksWith } from './account-codec.js';
import type { AccountTables } from './account-tables.js';
import type { Encryptor } from './encryptor.js';
import { isShared } from './lock-version-store.js';
import { inPage, inPageOrder, type Keyed, type PageQuery } from './pages.js';
import { type CachedSummary, SummaryCache } from './summary-cache.js';

/** The part of an account that most reads and access checks need. */
export interface AccountSummary {
  readonly summaryJson: string;
  readonly isClosed: boolean;
  readonly flags: number;
  readonly nextEvaluationMs: number | undefined;
}

/** An account and its Persons with decrypted id numbers, as writes need them. */
export interface Aggregate {
  readonly account: StoredAccount;
  readonly persons: readonly StoredPerson[];
}

/** Reads accounts and persons of one tenant. Ids of other tenants are not found. */
export class AccountStore {
  readonly #reader: Kysely<AccountTables>;
  readonly #encryptor: Encryptor;

  /** `undefined` if other nodes change accounts as well. */
  readonly #cache: SummaryCache | undefined;

  constructor(store: RelationalStore, encryptor: Encryptor) {
    this.#reader = store.reader<AccountTables>();
    this.#encryptor = encryptor;
    this.#cache = isShared(store) ? undefined : new SummaryCache();
  }

  async summary(tenant: Tenant, id: string): Promise<AccountSummary | undefined> {
    const summary = this.#cache?.get(id) ?? (await this.#readSummary(id));
    return summary?.tenant === tenantKey(tenant) ? summary : undefined;
  }

  /** Updates the cache with committed rows. */
  noteCommitted(rows: readonly AccountRow[]): void {
    for (const row of rows) this.#cache?.keepWritten(row.id, toSummary(row));
  }

  async #readSummary(id: string): Promise<CachedSummary | undefined> {
    const generation = this.#cache?.commitCount ?? 0;
    const row = await this.#reader
      .selectFrom('accounts_accounts')
      .select(['tenant', 'head', 'is_closed', 'flags', 'due_ms'])
      .where('id', '=', id)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const summary = toSummary(row);
    this.#cache?.keepRead(id, summary, generation);
    return summary;
  }

  /** Reads an account for a response; id numbers stay encrypted. */
  async view(
    tenant: Tenant,
    id: string,
  ): Promise<
    { readonly account: StoredAccount; readonly individual: StoredPerson | undefined } | undefined
  > {
    const account = await this.#account(tenant, id);
    if (account?.individualId === undefined) return account && { account, individual: undefined };
    const individual = await this.person(tenant, id, account.individualId);
    return { account, individual };
  }

  async aggregate(tenant: Tenant, id: string): Promise<Aggregate | undefined> {
    const [account, rows] = await Promise.all([
      this.#account(tenant, id, this.#encryptor),
      this.#reader
        .selectFrom('accounts_persons')
        .selectAll()
        .where('account_id', '=', id)
        .orderBy('created_ms')
        .orderBy('id')
        .execute(),
    ]);
    if (account === undefined) return undefined;
    return {
      account,
      persons: rows.map((row) => fromPersonRow(row, tenant.livemode, this.#encryptor)),
    };
  }

  async person(tenant: Tenant, accountId: string, id: string): Promise<StoredPerson | undefined> {
    const row = await this.#reader
      .selectFrom('accounts_persons')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    const isRight =
      row !== undefined && row.tenant === tenantKey(tenant) && row.account_id === accountId;
    return isRight ? fromPersonRow(row, tenant.livemode) : undefined;
  }

  async listSummaries(
    tenant: Tenant,
    filter: { readonly isClosed: boolean; readonly configurations: readonly ConfigurationName[] },
    page: PageQuery,
  ): Promise<readonly (Keyed & { readonly summaryJson: string })[]> {
    const key = tenantKey(tenant);
    const closed = filter.isClosed ? 1 : 0;
    const base = (mask: number | undefined) => {
      const query = this.#reader
        .selectFrom('accounts_accounts')
        .select(['id', 'created_ms', 'head'])
        .where('tenant', '=', key)
        .where('is_closed', '=', closed);
      const masked = mask === undefined ? query : query.where('configurations', '=', mask);
      return masked.$call(inPage(page)).execute();
    };
    // Each mask is a separate index range; there are at most four.
    const masks =
      filter.configurations.length === 0 ? [undefined] : masksWith(filter.configurations);
    const found = (await Promise.all(masks.map(base))).flat();
    return inPageOrder(
      found.map((row) => ({
        id: row.id,
        createdMs: Number(row.created_ms),
        summaryJson: row.head,
      })),
      page,
    );
  }

  async listPersons(
    tenant: Tenant,
    accountId: string,
    page: PageQuery,
  ): Promise<readonly StoredPerson[]> {
    const rows = await this.#reader
      .selectFrom('accounts_persons')
      .selectAll()
      .where('account_id', '=', accountId)
      .$call(inPage(page))
      .execute();
    return inPageOrder(
      rows.map((row) => fromPersonRow(row, tenant.livemode)),
      page,
    );
  }

  async isInvoicePrefixTaken(
    tenant: Tenant,
    prefix: string,
    byOtherThan: string,
  ): Promise<boolean> {
    const row = await this.#reader
      .selectFrom('accounts_accounts')
      .select('id')
      .where('tenant', '=', tenantKey(tenant))
      .where('invoice_prefix', '=', prefix)
      .where('id', '!=', byOtherThan)
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  async countOpen(tenant: Tenant): Promise<number> {
    const { count } = await this.#reader
      .selectFrom('accounts_accounts')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('tenant', '=', tenantKey(tenant))
      .where('is_closed', '=', 0)
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /** Returns the open accounts with a due time in the past, earliest first. */
  async listDue(
    nowMs: number,
    limit: number,
  ): Promise<readonly { readonly id: string; readonly tenant: string }[]> {
    return await this.#reader
      .selectFrom('accounts_accounts')
      .select(['id', 'tenant'])
      .where('due_ms', '<=', nowMs)
      .orderBy('due_ms')
      .limit(limit)
      .execute();
  }

  /** Returns the open accounts of the tenant after `afterId`, ordered by id. */
  async listOpenIds(tenant: Tenant, afterId: string, limit: number): Promise<readonly string[]> {
    const rows = await this.#reader
      .selectFrom('accounts_accounts')
      .select('id')
      .where('id', '>', afterId)
      .where('tenant', '=', tenantKey(tenant))
      .where('is_closed', '=', 0)
      .orderBy('id')
      .limit(limit)
      .execute();
    return rows.map((row) => row.id);
  }

  async listOnClock(clockId: string): Promise<readonly string[]> {
    const rows = await this.#reader
      .selectFrom('accounts_accounts')
      .select('id')
      .where('test_clock', '=', clockId)
      .execute();
    return rows.map((row) => row.id);
  }

  async #account(
    tenant: Tenant,
    id: string,
    encryptor?: Encryptor,
  ): Promise<StoredAccount | undefined> {
    const row = await this.#reader
      .selectFrom('accounts_accounts')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    if (row === undefined || row.tenant !== tenantKey(tenant)) return undefined;
    return fromAccountRow(row satisfies AccountRow, tenant, encryptor);
  }
}

function toSummary(
  row: Pick<AccountRow, 'tenant' | 'head' | 'is_closed' | 'flags' | 'due_ms'>,
): CachedSummary {
  return {
    tenant: row.tenant,
    summaryJson: row.head,
    isClosed: row.is_closed === 1,
    flags: row.flags,
    nextEvaluationMs: row.due_ms === null ? undefined : Number(row.due_ms),
  };
}
