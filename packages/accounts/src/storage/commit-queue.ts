import {
  BatchWriter,
  invariant,
  type Outbox,
  RawStatements,
  type RelationalStore,
  type Statement,
  type StatementValue,
} from '@plinth/kernel';
import type { Insertable, Transaction } from 'kysely';
import type { AccountTables, TableName } from './account-tables.js';
import { type LockVersion, readLockVersions, toLockVersionRow } from './lock-version-store.js';
import type { OldestRecordMs } from './oldest-record.js';

type Row<T extends TableName> = Insertable<AccountTables[T]>;
/** `put` checks the row against its table. */
type AnyRow = Record<string, unknown>;

/** All changes of one request, committed atomically. */
export class WriteSet {
  readonly rows = new Map<TableName, AnyRow[]>();
  readonly deletedIds = new Map<TableName, string[]>();
  /** Event bundles that have a receiver. */
  readonly idsToPublish: string[] = [];
  /** Versions that the changes depend on; see `LockVersionStore`. */
  readonly lockVersions: LockVersion[] = [];
  /** Number of events in the bundles among the rows. */
  eventCount = 0;

  /** Inserts or replaces the row by id. */
  put<T extends TableName>(table: T, row: Row<T>): this {
    this.rows.set(table, [...(this.rows.get(table) ?? []), row as AnyRow]);
    return this;
  }

  delete(table: TableName, id: string): this {
    this.deletedIds.set(table, [...(this.deletedIds.get(table) ?? []), id]);
    return this;
  }

  publish(bundleId: string): this {
    this.idsToPublish.push(bundleId);
    return this;
  }

  checkVersions(lockVersions: readonly LockVersion[]): this {
    this.lockVersions.push(...lockVersions);
    return this;
  }

  /**
   * Makes a second commit with the same `id` `stale`: it detects the row that the first one left.
   */
  onlyOnce(id: string, nowMs: number): this {
    return this.checkVersions([{ id, seen: undefined, next: 'made', createdMs: nowMs }]);
  }

  /** Adds the content of another set. */
  add(other: WriteSet): this {
    for (const [table, rows] of other.rows) append(this.rows, table, rows);
    for (const [table, ids] of other.deletedIds) append(this.deletedIds, table, ids);
    this.idsToPublish.push(...other.idsToPublish);
    this.lockVersions.push(...other.lockVersions);
    this.eventCount += other.eventCount;
    return this;
  }
}

/** Outbox announcement with payload `{ids}`, the ids of event bundles. */
export const EVENTS_COMMITTED = 'accounts.events_committed';

/**
 * Outcome of a commit. `key_in_use`: the idempotency key belongs to another request. `stale`:
 * another node changed data that the changes depend on.
 */
export type CommitResult = 'done' | 'key_in_use' | 'stale';

interface Waiting {
  readonly writes: WriteSet;
  readonly recordId: string | undefined;
}

const MAX_BATCH_COUNT = 128;
const RECORDS = 'accounts_idempotency';
/**
 * The existing record has expired, or only refused requests with the same parameters have used its
 * key.
 */
const IS_FREE = `${RECORDS}.created_ms < ? or (${RECORDS}.status is null and excluded.status is not null
  and ${RECORDS}.fingerprint = excluded.fingerprint)`;

/**
 * Commits the changes of requests. Waiting sets are combined into one transaction with few messages to the store,
 * because a message costs more than its statements. One message claims idempotency keys and one writes the rest; if
 * necessary, others read lock versions and publish to the outbox. Two waiting sets never contain the same row, because
 * a request holds the row's lock until its commit, except for idempotency records. Of several sets with the same key,
 * one claims it.
 */
export class CommitQueue {
  readonly #store: RelationalStore;
  readonly #outbox: Outbox;
  readonly #sql: RawStatements;
  readonly #oldestRecordMs: OldestRecordMs;
  readonly #writer = new BatchWriter<Waiting, CommitResult>({
    maxCount: MAX_BATCH_COUNT,
    write: (batch) => this.#commitBatch(batch),
    retriesAlone: true,
  });
  #listener: ((writes: WriteSet) => void) | undefined;

  constructor(deps: {
    readonly store: RelationalStore;
    readonly outbox: Outbox;
    readonly oldestRecordMs: OldestRecordMs;
  }) {
    this.#store = deps.store;
    this.#outbox = deps.outbox;
    this.#oldestRecordMs = deps.oldestRecordMs;
    this.#sql = new RawStatements(deps.store.system);
  }

  /**
   * Resolves when the changes are on stable storage.
   * @param recordId id of the idempotency record among the rows. If its key is not free, nothing is
   * changed. One query for all keys of a batch is cheaper than a look-up per request before it
   * starts.
   */
  async commit(writes: WriteSet, recordId?: string): Promise<CommitResult> {
    return await this.#writer.add({ writes, recordId });
  }

  /** Registers a listener for durable write sets; it runs before their callers resume. */
  onCommitted(listener: (writes: WriteSet) => void): void {
    this.#listener = listener;
  }

  /** Resolves when the queue is empty. */
  async idle(): Promise<void> {
    await this.#writer.idle();
  }

  async #commitBatch(batch: readonly Waiting[]): Promise<readonly CommitResult[]> {
    // Changes without lock versions depend only on their own rows, so nodes need no serializable isolation
    // for them.
    const checksVersions = batch.some(({ writes }) => writes.lockVersions.length > 0);
    const results = await this.#store.transaction<AccountTables, readonly CommitResult[]>(
      (tx) => this.#write(tx, batch),
      { isolation: checksVersions ? 'serializable' : 'read_committed' },
    );
    for (const [index, { writes }] of batch.entries())
      if (results[index] === 'done') this.#listener?.(writes);
    return results;
  }

  /** @returns the result of each set, in order. */
  async #write(
    tx: Transaction<AccountTables>,
    batch: readonly Waiting[],
  ): Promise<readonly CommitResult[]> {
    const isCurrent = await this.#currentVersions(tx, batch);
    const isFresh = ({ writes }: Waiting): boolean => writes.lockVersions.every(isCurrent);
    const claimedIds = await this.#claimRecords(tx, batch.filter(isFresh));
    const results = batch.map((each): CommitResult => {
      if (!isFresh(each)) return 'stale';
      // If two sets have the same key, the first set uses it.
      return each.recordId === undefined || claimedIds.delete(each.recordId)
        ? 'done'
        : 'key_in_use';
    });
    const rows = new Map<TableName, AnyRow[]>();
    const deletedIds = new Map<TableName, string[]>();
    const idsToPublish: string[] = [];
    for (const [index, { writes, recordId }] of batch.entries()) {
      if (results[index] !== 'done') continue;
      for (const [table, some] of writes.rows) {
        append(rows, table, table === RECORDS ? some.filter(({ id }) => id !== recordId) : some);
      }
      for (const [table, some] of writes.deletedIds) append(deletedIds, table, some);
      idsToPublish.push(...writes.idsToPublish);
      // The stored name of the table of lock versions.
      if (writes.lockVersions.length > 0)
        append(rows, 'accounts_guards', writes.lockVersions.map(toLockVersionRow));
    }
    await this.#sql.runAll(tx, [
      ...[...rows].flatMap(([table, some]) => this.#upserts(table, some)),
      ...[...deletedIds].map(([table, ids]) => ({
        text: `delete from ${table} where ${this.#sql.isOneOf('id')}`,
        parameters: [JSON.stringify(ids)],
      })),
    ]);
    if (idsToPublish.length > 0) {
      await this.#outbox.publish(tx, { type: EVENTS_COMMITTED, payload: { ids: idsToPublish } });
    }
    return results;
  }

  /**
   * Writes the records of the sets whose key is free. Waits for concurrent writers of the same key
   * on other nodes and then finds their record. @returns the written ids.
   */
  async #claimRecords(
    tx: Transaction<AccountTables>,
    batch: readonly Waiting[],
  ): Promise<Set<string>> {
    const records = new Map<string, AnyRow>();
    for (const { writes, recordId } of batch) {
      const row = writes.rows.get(RECORDS)?.find(({ id }) => id === recordId);
      if (recordId === undefined || records.has(recordId)) continue;
      invariant(row !== undefined, 'a write set with a record id must contain that record');
      records.set(recordId, row);
    }
    // The order prevents deadlocks between nodes.
    const rows = [...records.keys()].sort().map((id) => records.get(id) as AnyRow); // the ids are keys of the map
    const statements = this.#upserts(RECORDS, rows, IS_FREE).map(({ text, parameters }) => ({
      text: `${text} returning id`,
      parameters: [...parameters, this.#oldestRecordMs()],
    }));
    const results = await this.#sql.runAll<{ readonly id: string }>(tx, statements);
    return new Set(results.flatMap(({ rows: claimed }) => claimed.map(({ id }) => id)));
  }

  /**
   * Versions that are unchanged since they were read. The transaction is serializable, so they stay
   * unchanged until the commit.
   */
  async #currentVersions(
    tx: Transaction<AccountTables>,
    batch: readonly Waiting[],
  ): Promise<(lockVersion: LockVersion) => boolean> {
    const ids = batch.flatMap(({ writes }) => writes.lockVersions.map(({ id }) => id));
    const found = ids.length === 0 ? [] : await readLockVersions(this.#sql, tx, ids);
    const versions = new Map(found.map(({ id, version }) => [id, version]));
    return ({ id, seen }) => versions.get(id) === seen;
  }

  /** @param condition SQL condition on an existing row under which the new row replaces it. */
  #upserts(table: TableName, rows: readonly AnyRow[], condition?: string): Statement[] {
    const columns = Object.keys(rows[0] ?? {});
    const values = rows.map((row) => {
      invariant(
        Object.keys(row).length === columns.length,
        'each row must have all columns of its table',
      );
      return columns.map((column) => row[column] as StatementValue); // `put` has checked the columns
    });
    return this.#sql.insertion(table, columns, values, onConflict(columns, condition));
  }
}

function onConflict(columns: readonly string[], condition: string | undefined): string {
  const others = columns.filter((column) => column !== 'id');
  const where = condition === undefined ? '' : ` where ${condition}`;
  return `on conflict (id) do update set ${others.map((name) => `${name} = excluded.${name}`).join(', ')}${where}`;
}

function append<T>(to: Map<TableName, T[]>, table: TableName, some: readonly T[]): void {
  const list = to.get(table);
  if (list === undefined) to.set(table, [...some]);
  else list.push(...some);
}
