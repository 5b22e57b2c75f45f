import {
  RawStatements,
  type RelationalStore,
  type SecretBox,
  SecretUnreadable,
  type SqlConnection,
} from '@plinth/kernel';
import type { Hook, HookSecrets, RetryPolicy } from '../model/hook.js';
import { WEBHOOK_MIGRATIONS } from './tables.js';

interface HookRow {
  id: number;
  app_id: number;
  url: string;
  content_type: Hook['content_type'];
  insecure_ssl: number;
  secrets: Uint8Array | null;
  active: number;
  events: string;
  custom_headers: string;
  retry: string | null;
  ordering: Hook['ordering'];
  standard_webhooks: Hook['standard_webhooks'];
  suspended: number;
  failing_since_ms: number | null;
  disabled_reason: string | null;
  disabled_ms: number | null;
  version: number;
  created_ms: number;
  updated_ms: number;
}

export type NewHook = Omit<Hook, 'id'>;

/** Plaintext whose stored ciphertext shows that the database uses this node's master key. */
const KEY_PROOF = 'webhooks master key';
const SELECT_KEY_PROOF = `select value from webhooks_meta where name = 'master_key'`;

/** Whether the key of `box` decrypts the secrets in a store. True for a store without secrets. Changes nothing. */
export async function opensSecrets(store: RelationalStore, box: SecretBox): Promise<boolean> {
  const sql = new RawStatements(store.system);
  const reader = store.reader<never>();
  const [table] = await sql.all<{ name: string }>(
    reader,
    `select name from sqlite_master where name = 'webhooks_meta'`,
  );
  if (table === undefined) return true;
  const [row] = await sql.all<{ value: string }>(reader, SELECT_KEY_PROOF);
  if (row === undefined) return true;
  try {
    box.open(Buffer.from(row.value, 'base64'), KEY_PROOF);
    return true;
  } catch (error) {
    if (error instanceof SecretUnreadable) return false;
    throw error;
  }
}

/** Stores the webhooks of apps. URLs, which may contain credentials, and secrets are encrypted. */
export class HookStore {
  readonly #store: RelationalStore;
  readonly #box: SecretBox;
  readonly #sql: RawStatements;

  constructor(store: RelationalStore, box: SecretBox) {
    this.#store = store;
    this.#box = box;
    this.#sql = new RawStatements(store.system);
  }

  async prepare(): Promise<void> {
    await this.#store.migrate('webhooks', WEBHOOK_MIGRATIONS);
  }

  /** Throws `SecretUnreadable` when the database was written with another master key. */
  async start(): Promise<void> {
    await this.prepare();
    const sealed = Buffer.from(this.#box.seal(KEY_PROOF, KEY_PROOF)).toString('base64');
    const value = await this.#store.transaction<never, string>(async (tx) => {
      await this.#sql.run(
        tx,
        `insert into webhooks_meta (name, value) values ('master_key', ?)
          on conflict (name) do nothing`,
        [sealed],
      );
      const [row] = await this.#sql.all<{ value: string }>(tx, SELECT_KEY_PROOF);
      return row?.value ?? sealed;
    });
    this.#box.open(Buffer.from(value, 'base64'), KEY_PROOF);
  }

  async readAll(): Promise<readonly Hook[]> {
    const rows = await this.#sql.all<HookRow>(
      this.#store.reader<never>(),
      'select * from webhooks_hooks order by app_id',
    );
    return rows.map((row) => this.#fromRow(row));
  }

  /** Returns the version of all webhooks: a value that changes whenever one of them changes. */
  async readVersion(): Promise<string> {
    const [row] = await this.#sql.all<{ count: number; versions: number | null }>(
      this.#store.reader<never>(),
      'select count(*) as count, cast(sum(version) as bigint) as versions from webhooks_hooks',
    );
    return `${row?.count} ${row?.versions}`;
  }

  async find(appId: number, on?: SqlConnection): Promise<Hook | undefined> {
    const [row] = await this.#sql.all<HookRow>(
      on ?? this.#store.reader<never>(),
      'select * from webhooks_hooks where app_id = ?',
      [appId],
    );
    return row && this.#fromRow(row);
  }

  async insert(tx: SqlConnection, hook: NewHook): Promise<void> {
    await this.#sql.run(
      tx,
      `insert into webhooks_hooks (${['app_id', ...Object.keys(this.#toColumns(hook))].join(', ')},
        version, created_ms)
        values (?, ${Object.keys(this.#toColumns(hook))
          .map(() => '?')
          .join(', ')}, 1, ?)`,
      [hook.appId, ...Object.values(this.#toColumns(hook)), hook.createdMs],
    );
  }

  async update(tx: SqlConnection, hook: NewHook): Promise<void> {
    const columns = this.#toColumns(hook);
    await this.#sql.run(
      tx,
      `update webhooks_hooks set version = version + 1,
        ${Object.keys(columns)
          .map((name) => `${name} = ?`)
          .join(', ')}
        where app_id = ?`,
      [...Object.values(columns), hook.appId],
    );
  }

  /** Reads, changes and writes one webhook in its own transaction. @returns the stored webhook. */
  async change(appId: number, decide: (hook: Hook) => Hook | undefined): Promise<Hook | undefined> {
    return await this.#store.transaction<never, Hook | undefined>(async (tx) => {
      const hook = await this.find(appId, tx);
      if (hook === undefined) return undefined;
      const changed = decide(hook);
      if (changed === undefined) return hook;
      await this.update(tx, changed);
      return changed;
    });
  }

  async remove(tx: SqlConnection, appId: number): Promise<void> {
    await this.#sql.run(tx, 'delete from webhooks_hooks where app_id = ?', [appId]);
  }

  #toColumns(hook: NewHook): Record<string, string | number | Uint8Array | null> {
    const associatedData = associatedDataOf(hook.appId);
    return {
      url: hook.url === '' ? '' : seal(this.#box, hook.url, associatedData),
      content_type: hook.content_type,
      insecure_ssl: hook.insecure_ssl ? 1 : 0,
      secrets: this.#box.seal(JSON.stringify(hook.secrets), associatedData),
      active: hook.active ? 1 : 0,
      events: JSON.stringify(hook.events),
      custom_headers: seal(this.#box, JSON.stringify(hook.custom_headers), associatedData),
      retry: hook.retry === undefined ? null : JSON.stringify(hook.retry),
      ordering: hook.ordering,
      standard_webhooks: hook.standard_webhooks,
      suspended: hook.isSuspended ? 1 : 0,
      failing_since_ms: hook.failingSinceMs ?? null,
      disabled_reason: hook.disabled?.reason ?? null,
      disabled_ms: hook.disabled?.atMs ?? null,
      updated_ms: hook.updatedMs,
    };
  }

  #fromRow(row: HookRow): Hook {
    const associatedData = associatedDataOf(row.app_id);
    const secrets = row.secrets === null ? '{}' : this.#box.open(row.secrets, associatedData);
    return {
      id: row.id,
      appId: row.app_id,
      url: row.url === '' ? '' : open(this.#box, row.url, associatedData),
      content_type: row.content_type,
      insecure_ssl: row.insecure_ssl === 1,
      // `#toColumns` wrote these columns.
      secrets: JSON.parse(secrets) as HookSecrets,
      active: row.active === 1,
      events: JSON.parse(row.events) as string[],
      custom_headers: JSON.parse(open(this.#box, row.custom_headers, associatedData)) as Record<
        string,
        string
      >,
      retry: row.retry === null ? undefined : (JSON.parse(row.retry) as RetryPolicy),
      ordering: row.ordering,
      standard_webhooks: row.standard_webhooks,
      isSuspended: row.suspended === 1,
      failingSinceMs: row.failing_since_ms ?? undefined,
      disabled:
        row.disabled_reason === null || row.disabled_ms === null
          ? undefined
          : { reason: row.disabled_reason, atMs: row.disabled_ms },
      createdMs: row.created_ms,
      updatedMs: row.updated_ms,
    };
  }
}

const associatedDataOf = (appId: number): string => `webhooks_hooks ${appId}`;

const seal = (box: SecretBox, text: string, associatedData: string): string =>
  Buffer.from(box.seal(text, associatedData)).toString('base64');

const open = (box: SecretBox, text: string, associatedData: string): string =>
  box.open(Buffer.from(text, 'base64'), associatedData);
