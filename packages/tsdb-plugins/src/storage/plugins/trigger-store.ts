import type { Migration, RelationalStore, ReportEvent, SecretBox } from '@plinth/kernel';
import type { ErrorBehavior } from '@plinth/tsdb-model/plugins/trigger.js';
import type { Transaction } from 'kysely';

/** A stored trigger. The specification is in its canonical form. */
export interface TriggerRecord {
  readonly id: number;
  readonly database_id: number;
  readonly name: string;
  readonly plugin_filename: string;
  readonly specification: string;
  readonly run_async: number;
  readonly error_behavior: ErrorBehavior;
  /**
   * JSON object of strings; null if none were provided. The table contains it encrypted, because
   * arguments often contain keys.
   */
  readonly arguments: string | null;
  readonly disabled: number;
}

/** The names that identify a trigger in events. */
export interface NamedTrigger {
  readonly database: string;
  readonly name: string;
}

type Tables = {
  tsdb_triggers: TriggerRecord;
  tsdb_trigger_ids: { id: number; last_id: number };
};

export const TRIGGER_MIGRATIONS: readonly Migration[] = [
  {
    name: '0001_triggers',
    async up(tx) {
      await tx.schema
        .createTable('tsdb_triggers')
        .addColumn('id', 'integer', (c) => c.primaryKey())
        .addColumn('database_id', 'integer', (c) => c.notNull())
        .addColumn('name', 'text', (c) => c.notNull())
        .addColumn('plugin_filename', 'text', (c) => c.notNull())
        .addColumn('specification', 'text', (c) => c.notNull())
        .addColumn('run_async', 'integer', (c) => c.notNull())
        .addColumn('error_behavior', 'text', (c) => c.notNull())
        .addColumn('arguments', 'text')
        .addColumn('disabled', 'integer', (c) => c.notNull())
        .addUniqueConstraint('tsdb_triggers_name', ['database_id', 'name'])
        .execute();
      // Ids are never reused after deletions.
      await tx.schema
        .createTable('tsdb_trigger_ids')
        .addColumn('id', 'integer', (c) => c.primaryKey())
        .addColumn('last_id', 'integer', (c) => c.notNull())
        .execute();
      await tx
        .withTables<Tables>()
        .insertInto('tsdb_trigger_ids')
        .values({ id: 1, last_id: 0 })
        .execute();
    },
  },
];

/** Records of triggers. Changes are durable when a call resolves. */
export class TriggerStore {
  readonly #store: RelationalStore;
  readonly #secrets: SecretBox;
  readonly #report: ReportEvent | undefined;

  /** @param report receives every change, in the transaction of the change. */
  constructor(store: RelationalStore, secrets: SecretBox, report?: ReportEvent) {
    this.#store = store;
    this.#secrets = secrets;
    this.#report = report;
  }

  /** Throws `SecretUnreadable` if arguments were encrypted with another master key. */
  async load(): Promise<readonly TriggerRecord[]> {
    await this.#store.migrate('tsdb_triggers', TRIGGER_MIGRATIONS);
    const rows = await this.#store
      .reader<Tables>()
      .selectFrom('tsdb_triggers')
      .selectAll()
      .orderBy('id')
      .execute();
    await this.#encryptOld(rows);
    return rows.map((row) => ({ ...row, arguments: this.#decrypted(row) }));
  }

  /** Encrypts arguments that earlier versions stored as JSON. */
  async #encryptOld(rows: readonly TriggerRecord[]): Promise<void> {
    const old = rows.filter(isPlain);
    if (old.length === 0) return;
    await this.#store.transaction<Tables, void>(async (tx) => {
      for (const { id, arguments: text } of old) {
        await tx
          .updateTable('tsdb_triggers')
          .set({ arguments: this.#encrypted(id, text) })
          .where('id', '=', id)
          .execute();
      }
    });
  }

  #encrypted(id: number, text: string | null): string | null {
    return text && Buffer.from(this.#secrets.seal(text, placeOf(id))).toString('base64');
  }

  #decrypted(row: TriggerRecord): string | null {
    const { id, arguments: text } = row;
    if (text === null || isPlain(row)) return text;
    return this.#secrets.open(Buffer.from(text, 'base64'), placeOf(id));
  }

  /** Returns `undefined` if the database already has a trigger with this name. */
  async insert(
    record: Omit<TriggerRecord, 'id'>,
    named: NamedTrigger,
  ): Promise<number | undefined> {
    return await this.#store.transaction<Tables, number | undefined>(async (tx) => {
      const { last_id } = await tx
        .updateTable('tsdb_trigger_ids')
        .set(({ eb }) => ({ last_id: eb('last_id', '+', 1) }))
        .returning('last_id')
        .executeTakeFirstOrThrow();
      const { numInsertedOrUpdatedRows } = await tx
        .insertInto('tsdb_triggers')
        .values({ ...record, id: last_id, arguments: this.#encrypted(last_id, record.arguments) })
        .onConflict((conflict) => conflict.columns(['database_id', 'name']).doNothing())
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows === 0n) return undefined;
      await this.#record(tx, 'created', named);
      return last_id;
    });
  }

  async setDisabled(id: number, isDisabled: boolean, named: NamedTrigger): Promise<void> {
    await this.#store.transaction<Tables, void>(async (tx) => {
      await tx
        .updateTable('tsdb_triggers')
        .set({ disabled: isDisabled ? 1 : 0 })
        .where('id', '=', id)
        .execute();
      await this.#record(tx, isDisabled ? 'disabled' : 'enabled', named);
    });
  }

  /** Changes the specifications of triggers of a table, in the transaction of its rename. */
  async renameTable<DB>(
    tx: Transaction<DB>,
    renamed: { readonly databaseId: number; readonly before: string; readonly after: string },
  ): Promise<void> {
    // The transaction of another store part can change every table.
    await (tx as unknown as Transaction<Tables>)
      .updateTable('tsdb_triggers')
      .set({ specification: tableSpecification(renamed.after) })
      .where('database_id', '=', renamed.databaseId)
      .where('specification', '=', tableSpecification(renamed.before))
      .execute();
  }

  /** @param named the triggers in `ids` whose databases still exist. */
  async delete(ids: readonly number[], named: readonly NamedTrigger[]): Promise<void> {
    await this.#store.transaction<Tables, void>(async (tx) => {
      await tx
        .deleteFrom('tsdb_triggers')
        .where('id', 'in', [...ids])
        .execute();
      for (const trigger of named) await this.#record(tx, 'deleted', trigger);
    });
  }

  /** Reports `error.count` failed runs of a trigger. */
  async recordFailure(
    named: NamedTrigger,
    error: { readonly message: string; readonly at: string; readonly count: number },
  ): Promise<void> {
    if (this.#report === undefined) return;
    await this.#store.transaction<Tables, void>((tx) =>
      this.#record(tx, 'error', named, { error }),
    );
  }

  async #record<DB>(
    tx: Transaction<DB>,
    action: 'created' | 'deleted' | 'enabled' | 'disabled' | 'error',
    { database, name }: NamedTrigger,
    more: object = {},
  ): Promise<void> {
    const payload = { trigger: { database, name }, ...more };
    await this.#report?.(tx, { type: `processing_trigger.${action}`, payload });
  }
}

/** Returns the specification of a write trigger of one table. */
export const tableSpecification = (table: string): string => `table:${table}`;

/** Identifies the row, so that arguments cannot be moved to another trigger. */
const placeOf = (id: number): string => `tsdb_triggers ${id}`;

/** Arguments that are not encrypted start with a brace, which is not a Base64 character. */
const isPlain = ({ arguments: text }: TriggerRecord): boolean => text?.startsWith('{') === true;
