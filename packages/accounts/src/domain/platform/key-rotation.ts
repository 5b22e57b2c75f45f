import type { RelationalStore } from '@plinth/kernel';
import {
  fromAccountRow,
  fromPersonRow,
  toAccountRow,
  toPersonRow,
} from '../../storage/account-codec.js';
import type { AccountTables } from '../../storage/account-tables.js';
import { WriteSet } from '../../storage/commit-queue.js';
import { hasEncryptedUrl, reencryptBody } from '../../storage/destination-store.js';
import type { EncryptionKeys, Encryptor } from '../../storage/encryptor.js';
import { type KeyStore, oldOf } from '../../storage/keys/encryption-keys.js';
import type { KeyedLocks } from '../change/keyed-locks.js';
import type { OptimisticCommits } from '../change/optimistic-commits.js';

interface RotationDeps {
  readonly store: RelationalStore;
  readonly commits: OptimisticCommits;
  readonly locks: KeyedLocks;
  readonly keyStore: KeyStore;
  readonly encryptor: Encryptor;
  readonly keys: EncryptionKeys;
}

/** Number of rows per batch. */
const BATCH_SIZE = 100;

/** Columns whose complete value is one encrypted string. */
const SEALED_COLUMNS = [
  { table: 'accounts_tokens', column: 'payload' },
  { table: 'accounts_idempotency', column: 'body' },
] as const;

/** All columns that contain encrypted strings. */
const COLUMNS = [
  { table: 'accounts_accounts', column: 'body' },
  { table: 'accounts_persons', column: 'body' },
  { table: 'accounts_destinations', column: 'body' },
  ...SEALED_COLUMNS,
] as const;

/**
 * Replaces the encryption key. The new key is stored before first use, and an old key is deleted
 * once no data needs it. An interrupted rotation is finished at the next start or, if nodes share
 * the keys, by the next rotation.
 */
export class KeyRotation {
  readonly #deps: RotationDeps;
  #keys: EncryptionKeys;
  #running: Promise<{ readonly rewrittenCount: number; readonly keyId: string }> | undefined;

  constructor(deps: RotationDeps) {
    this.#deps = deps;
    this.#keys = deps.keys;
  }

  /** Runs one rotation at a time. A concurrent call returns the result of the running rotation. */
  async rotate(): Promise<{ readonly rewrittenCount: number; readonly keyId: string }> {
    this.#running ??= this.#rotate().finally(() => {
      this.#running = undefined;
    });
    return await this.#running;
  }

  /**
   * Finishes an interrupted rotation, and encrypts data that an earlier version stored unencrypted.
   */
  async resume(): Promise<void> {
    // If nodes share the keys, old keys are kept until the next rotation, because another node may
    // be rotating.
    const isCutShort = this.#keys.keys.size > 1 && !this.#deps.keyStore.isShared;
    if (isCutShort) await this.#rewriteAll(oldOf(this.#keys));
    else if (await this.#hasClearUrls()) await this.#rewriteDestinations();
  }

  async #hasClearUrls(): Promise<boolean> {
    const found = await this.#reader()
      .selectFrom('accounts_destinations')
      .select('id')
      .where('body', 'not like', '%"url":"s1.%')
      .limit(1)
      .executeTakeFirst();
    return found !== undefined;
  }

  async #rotate(): Promise<{ readonly rewrittenCount: number; readonly keyId: string }> {
    const { keyStore, encryptor } = this.#deps;
    const { keys, old } = await keyStore.addKey(this.#keys);
    this.#keys = keys;
    encryptor.use(keys);
    return { rewrittenCount: await this.#rewriteAll(old), keyId: keys.current };
  }

  /** @param old keys to delete when no data needs them. */
  async #rewriteAll(old: readonly string[]): Promise<number> {
    let count = await this.#rewriteAccounts();
    count += await this.#rewritePersons();
    for (const { table, column } of SEALED_COLUMNS)
      count += await this.#rewriteTexts(table, column);
    count += await this.#rewriteDestinations();
    const needed = old.length === 0 ? new Set<string>() : await this.#neededKeys();
    const unneeded = old.filter((id) => !needed.has(id));
    this.#keys = await this.#deps.keyStore.drop(this.#keys, unneeded);
    this.#deps.encryptor.use(this.#keys);
    return count;
  }

  /**
   * Checks again after all rows were processed, because a slow node may have stored another row in the meantime.
   */
  async #neededKeys(): Promise<ReadonlySet<string>> {
    const needed = new Set<string>();
    for (const { table, column } of COLUMNS) {
      for (let afterId = '', hasMore = true; hasMore; ) {
        const rows = await this.#reader()
          .selectFrom(table)
          .select(['id', `${column} as text`])
          .where('id', '>', afterId)
          .orderBy('id')
          .limit(BATCH_SIZE)
          .execute();
        for (const { text } of rows) {
          for (const [, id] of (text ?? '').matchAll(/\bs1\.(k\d+)\./g)) needed.add(id ?? '');
        }
        hasMore = rows.length === BATCH_SIZE;
        afterId = rows.at(-1)?.id ?? '';
      }
    }
    return needed;
  }

  async #rewriteAccounts(): Promise<number> {
    const { encryptor } = this.#deps;
    return await this.#eachRow('accounts_accounts', async (id, writes) => {
      const row = await this.#reader()
        .selectFrom('accounts_accounts')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst();
      if (row === undefined || !this.#needsRewriting(row.body)) return;
      const account = fromAccountRow(row, tenantOf(row.tenant), encryptor);
      writes.put('accounts_accounts', toAccountRow(account, row.head, encryptor));
    });
  }

  async #rewritePersons(): Promise<number> {
    const { encryptor } = this.#deps;
    return await this.#eachRow('accounts_persons', async (id, writes) => {
      const row = await this.#reader()
        .selectFrom('accounts_persons')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst();
      if (row === undefined || !this.#needsRewriting(row.body)) return;
      const tenant = tenantOf(row.tenant);
      const person = fromPersonRow(row, tenant.livemode, encryptor);
      writes.put('accounts_persons', toPersonRow(person, tenant, encryptor));
    });
  }

  async #rewriteTexts(
    table: 'accounts_tokens' | 'accounts_idempotency',
    column: 'payload' | 'body',
  ): Promise<number> {
    const { encryptor } = this.#deps;
    return await this.#eachRow(table, async (id, writes) => {
      const row = await this.#reader()
        .selectFrom(table)
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst();
      const sealed: unknown = row === undefined ? undefined : Reflect.get(row, column);
      const isSealed = typeof sealed === 'string' && /^s1\.k\d+\./.test(sealed);
      if (row === undefined || !isSealed || encryptor.isCurrent(sealed)) return;
      const opened = encryptor.decrypt(sealed, id);
      writes.put(table, { ...row, [column]: encryptor.encrypt(opened, id) } as never); // the row with one string replaced
    });
  }

  async #rewriteDestinations(): Promise<number> {
    const { encryptor } = this.#deps;
    return await this.#eachRow('accounts_destinations', async (id, writes) => {
      const row = await this.#reader()
        .selectFrom('accounts_destinations')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst();
      if (row === undefined) return;
      if (hasEncryptedUrl(row.body) && !this.#needsRewriting(row.body)) return;
      const body = reencryptBody(row.body, id, encryptor);
      writes.put('accounts_destinations', { ...row, body });
    });
  }

  /** Processes a table by id and changes each row under the lock of its object. */
  async #eachRow(
    table: keyof AccountTables,
    rewrite: (id: string, writes: WriteSet) => Promise<void>,
  ): Promise<number> {
    let count = 0;
    let afterId = '';
    for (;;) {
      const rows = await this.#idsAfter(table, afterId);
      for (const { id, lock } of rows) {
        await this.#deps.locks.with([lock], async () => {
          const { outcome: isRewritten } = await this.#deps.commits.commit([lock], async () => {
            const writes = new WriteSet();
            await rewrite(id, writes);
            const made = writes.rows.size > 0;
            return { outcome: made, writes: made ? writes : undefined };
          });
          if (isRewritten) count += 1;
        });
      }
      if (rows.length < BATCH_SIZE) return count;
      afterId = rows.at(-1)?.id ?? '';
    }
  }

  async #idsAfter(
    table: keyof AccountTables,
    afterId: string,
  ): Promise<readonly { readonly id: string; readonly lock: string }[]> {
    if (table === 'accounts_persons') {
      const rows = await this.#reader()
        .selectFrom('accounts_persons')
        .select(['id', 'account_id'])
        .where('id', '>', afterId)
        .orderBy('id')
        .limit(BATCH_SIZE)
        .execute();
      return rows.map(({ id, account_id }) => ({ id, lock: `account:${account_id}` }));
    }
    const rows = await this.#reader()
      .selectFrom(table)
      .select('id')
      .where('id', '>', afterId)
      .orderBy('id')
      .limit(BATCH_SIZE)
      .execute();
    return rows.map(({ id }) => ({ id, lock: `${LOCKS[table] ?? table}:${id}` }));
  }

  #needsRewriting(body: string): boolean {
    const sealed = body.match(/"s1\.k\d+\.[\w-]+"/g) ?? [];
    return sealed.some((text) => !this.#deps.encryptor.isCurrent(text.slice(1)));
  }

  #reader() {
    return this.#deps.store.reader<AccountTables>();
  }
}

/** Lock names that requests use for these rows. */
const LOCKS: Partial<Record<keyof AccountTables, string>> = {
  accounts_accounts: 'account',
  accounts_tokens: 'token',
  accounts_destinations: 'destination',
};

function tenantOf(key: string): { readonly platform: string; readonly livemode: boolean } {
  return { platform: key.slice(0, key.lastIndexOf(':')), livemode: key.endsWith(':live') };
}
