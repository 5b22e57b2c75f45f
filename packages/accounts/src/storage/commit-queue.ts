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
import { type Guard, readGuards, toGuardRow } from './guard-store.js';
import type { OldestRecordMs } from './oldest-record.js';

type Row<T extends TableName> = Insertable<AccountTables[T]>;
/** Which table a row belongs to is checked where it is put in. */
type AnyRow = Record<string, unknown>;

/** Everything that one request changes; it becomes durable together or not at all. */
export class WriteSet {
  readonly rows = new Map<TableName, AnyRow[]>();
  readonly deletedIds = new Map<TableName, string[]>();
  /** Bundles of events that somebody waits for. */
  readonly announcedIds: string[] = [];
  /** Under what the changes were decided; see `GuardStore`. */
  readonly guards: Guard[] = [];
  /** Events in the bundles among the rows. */
  eventCount = 0;

  /** Inserts the row, or replaces the one with its id. */
  put<T extends TableName>(table: T, row: Row<T>): this {
    this.rows.set(table, [...(this.rows.get(table) ?? []), row as AnyRow]);
    return this;
  }

  delete(table: TableName, id: string): this {
    this.deletedIds.set(table, [...(this.deletedIds.get(table) ?? []), id]);
    return this;
  }

  announce(bundleId: string): this {
    this.announcedIds.push(bundleId);
    return this;
  }

  guard(guards: readonly Guard[]): this {
    this.guards.push(...guards);
    return this;
  }

  /** Takes over what another set holds. */
  add(other: WriteSet): this {
    for (const [table, rows] of other.rows) append(this.rows, table, rows);
    for (const [table, ids] of other.deletedIds) append(this.deletedIds, table, ids);
    this.announcedIds.push(...other.announcedIds);
    this.guards.push(...other.guards);
    this.eventCount += other.eventCount;
    return this;
  }
}

/** Announced in the outbox; its payload is `{ids}`, the ids of bundles of events. */
export const EVENTS_COMMITTED = 'accounts.events_committed';

/**
 * Whether the changes were made; `taken`: the request's key is that of another request; `stale`: another node has
 * changed what they were decided under.
 */
export type CommitResult = 'done' | 'taken' | 'stale';

interface Waiting {
  readonly writes: WriteSet;
  readonly recordId: string | undefined;
}

const MAX_BATCH_COUNT = 128;
const RECORDS = 'accounts_idempotency';
/** The record that is there counts no more, or only refused requests with the same parameters have used its key. */
const IS_FREE = `${RECORDS}.created_ms < ? or (${RECORDS}.status is null and excluded.status is not null
  and ${RECORDS}.fingerprint = excluded.fingerprint)`;

/**
 * Commits what requests change. Sets that wait at the same time go into one transaction of two messages to the store,
 * one that takes keys of requests and one that writes the rest: a message costs more than its statements. Two sets that wait together never hold
 * the same row, because whoever changes a row holds its lock until the commit.
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

  constructor(needs: {
    readonly store: RelationalStore;
    readonly outbox: Outbox;
    readonly oldestRecordMs: OldestRecordMs;
  }) {
    this.#store = needs.store;
    this.#outbox = needs.outbox;
    this.#oldestRecordMs = needs.oldestRecordMs;
    this.#sql = new RawStatements(needs.store.engine);
  }

  /**
   * Resolves when the changes are on stable storage.
   * @param recordId id of the idempotency record among the rows: when its key is not free, nothing is changed. Asking for all
   * of a batch at once costs less than each request's own look before it begins.
   */
  async commit(writes: WriteSet, recordId?: string): Promise<CommitResult> {
    return await this.#writer.add({ writes, recordId });
  }

  /** Hears of every write set as soon as it is durable, before whoever waits for it. */
  onCommitted(listener: (writes: WriteSet) => void): void {
    this.#listener = listener;
  }

  /** Resolves when nothing waits. */
  async idle(): Promise<void> {
    await this.#writer.idle();
  }

  async #commitBatch(batch: readonly Waiting[]): Promise<readonly CommitResult[]> {
    // What no guard protects is decided by its own rows: nodes that write other ones need not meet each other.
    const isGuarded = batch.some(({ writes }) => writes.guards.length > 0);
    const results = await this.#store.transaction<AccountTables, readonly CommitResult[]>(
      (tx) => this.#write(tx, batch),
      { isolation: isGuarded ? 'serializable' : 'read_committed' },
    );
    for (const [index, { writes }] of batch.entries())
      if (results[index] === 'done') this.#listener?.(writes);
    return results;
  }

  /** @returns what became of each set, in their order. */
  async #write(
    tx: Transaction<AccountTables>,
    batch: readonly Waiting[],
  ): Promise<readonly CommitResult[]> {
    const isCurrent = await this.#currentGuards(tx, batch);
    const isFresh = ({ writes }: Waiting): boolean => writes.guards.every(isCurrent);
    const freeIds = await this.#takeRecords(tx, batch.filter(isFresh));
    const results = batch.map((each): CommitResult => {
      if (!isFresh(each)) return 'stale';
      // Of two sets with one key the first has it.
      return each.recordId === undefined || freeIds.delete(each.recordId) ? 'done' : 'taken';
    });
    const rows = new Map<TableName, AnyRow[]>();
    const deletedIds = new Map<TableName, string[]>();
    const announcedIds: string[] = [];
    for (const [index, { writes, recordId }] of batch.entries()) {
      if (results[index] !== 'done') continue;
      for (const [table, some] of writes.rows) {
        append(rows, table, table === RECORDS ? some.filter(({ id }) => id !== recordId) : some);
      }
      for (const [table, some] of writes.deletedIds) append(deletedIds, table, some);
      announcedIds.push(...writes.announcedIds);
      if (writes.guards.length > 0) append(rows, 'accounts_guards', writes.guards.map(toGuardRow));
    }
    await this.#sql.together(tx, [
      ...[...rows].flatMap(([table, some]) => this.#upserts(table, some)),
      ...[...deletedIds].map(([table, ids]) => ({
        text: `delete from ${table} where ${this.#sql.isOneOf('id')}`,
        parameters: [JSON.stringify(ids)],
      })),
    ]);
    if (announcedIds.length > 0) {
      await this.#outbox.publish(tx, { type: EVENTS_COMMITTED, payload: { ids: announcedIds } });
    }
    return results;
  }

  /**
   * Writes the records of the sets whose key is free. Who writes the same one elsewhere is waited for, and
   * seen. @returns their ids.
   */
  async #takeRecords(
    tx: Transaction<AccountTables>,
    batch: readonly Waiting[],
  ): Promise<Set<string>> {
    const records = new Map<string, AnyRow>();
    for (const { writes, recordId } of batch) {
      const row = writes.rows.get(RECORDS)?.find(({ id }) => id === recordId);
      if (recordId === undefined || records.has(recordId)) continue;
      invariant(row !== undefined, 'a set with the id of a record has that record');
      records.set(recordId, row);
    }
    // In one order everywhere, so that nodes do not wait for each other in a circle.
    const rows = [...records.keys()].sort().map((id) => records.get(id) as AnyRow); // its own keys
    const statements = this.#upserts(RECORDS, rows, IS_FREE).map(({ text, parameters }) => ({
      text: `${text} returning id`,
      parameters: [...parameters, this.#oldestRecordMs()],
    }));
    const results = await this.#sql.together<{ readonly id: string }>(tx, statements);
    return new Set(results.flatMap(({ rows: taken }) => taken.map(({ id }) => id)));
  }

  /** Versions that nobody has changed since they were seen; the transaction is serializable, so nobody does. */
  async #currentGuards(
    tx: Transaction<AccountTables>,
    batch: readonly Waiting[],
  ): Promise<(guard: Guard) => boolean> {
    const ids = batch.flatMap(({ writes }) => writes.guards.map(({ id }) => id));
    const found = ids.length === 0 ? [] : await readGuards(this.#sql, tx, ids);
    const versions = new Map(found.map(({ id, version }) => [id, version]));
    return ({ id, seen }) => versions.get(id) === seen;
  }

  /** @param condition on the row that is there, for the new one to take its place. */
  #upserts(table: TableName, rows: readonly AnyRow[], condition?: string): Statement[] {
    const columns = Object.keys(rows[0] ?? {});
    const values = rows.map((row) => {
      invariant(Object.keys(row).length === columns.length, 'rows of a table have all its columns');
      return columns.map((column) => row[column] as StatementValue); // `put` has checked the row against its table
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
