import type { Outbox, RelationalStore } from '@plinth/kernel';
import type { Insertable, Transaction } from 'kysely';
import type { AccountTables, TableName } from './account-tables.js';
import { type Guard, readGuards, toGuardRow } from './guard-store.js';

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
    return this;
  }
}

/** Announced in the outbox; its payload is `{ids}`, the ids of bundles of events. */
export const EVENTS_COMMITTED = 'accounts.events_committed';

/**
 * Whether the changes were made; `taken`: the record of the request's key was there already; `stale`: another node has
 * changed what they were decided under.
 */
export type CommitResult = 'done' | 'taken' | 'stale';

interface Waiting {
  readonly writes: WriteSet;
  readonly recordId: string | undefined;
  readonly resolve: (result: CommitResult) => void;
  readonly reject: (error: unknown) => void;
}

const MAX_BATCH_COUNT = 128;
/** Statements come in few sizes, so that the store has them prepared. */
const CHUNK_SIZES = [64, 32, 16, 8, 4, 2, 1] as const;

/**
 * Commits what requests change. Sets that wait at the same time go into one transaction, with one statement for the
 * rows of a table instead of one per row: the round trip to the store costs more than the insert. Two sets that wait
 * together never hold the same row, because whoever changes a row holds its lock until the commit.
 */
export class CommitQueue {
  readonly #store: RelationalStore;
  readonly #outbox: Outbox;
  readonly #waiting: Waiting[] = [];
  #listener: ((writes: WriteSet) => void) | undefined;
  #isRunning = false;
  #whenIdle: (() => void)[] = [];

  constructor(needs: { readonly store: RelationalStore; readonly outbox: Outbox }) {
    this.#store = needs.store;
    this.#outbox = needs.outbox;
  }

  /**
   * Resolves when the changes are on stable storage.
   * @param recordId id of an idempotency record: when it is there, nothing is changed. Asking for all of a batch at
   * once costs less than each request's own look before it begins.
   */
  async commit(writes: WriteSet, recordId?: string): Promise<CommitResult> {
    return await new Promise<CommitResult>((resolve, reject) => {
      this.#waiting.push({ writes, recordId, resolve, reject });
      if (!this.#isRunning) void this.#run();
    });
  }

  /** Hears of every write set as soon as it is durable, before whoever waits for it. */
  onCommitted(listener: (writes: WriteSet) => void): void {
    this.#listener = listener;
  }

  /** Resolves when nothing waits. */
  async idle(): Promise<void> {
    if (!this.#isRunning) return;
    await new Promise<void>((resolve) => {
      this.#whenIdle.push(resolve);
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // One turn of the event loop gathers what arrived together.
    await Promise.resolve();
    while (this.#waiting.length > 0)
      await this.#commitBatch(this.#waiting.splice(0, MAX_BATCH_COUNT));
    this.#isRunning = false;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  async #commitBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.#store.transaction<AccountTables, readonly CommitResult[]>((tx) =>
        this.#write(tx, batch),
      );
      for (const [index, { writes, resolve }] of batch.entries()) {
        const result = results[index] ?? 'done';
        if (result === 'done') this.#listener?.(writes);
        resolve(result);
      }
    } catch (error) {
      if (batch.length === 1) batch[0]?.reject(error);
      // One that cannot be stored must not fail its neighbours.
      else for (const each of batch) await this.#commitBatch([each]);
    }
  }

  /** @returns what became of each set, in their order. */
  async #write(
    tx: Transaction<AccountTables>,
    batch: readonly Waiting[],
  ): Promise<readonly CommitResult[]> {
    const takenIds = await findTaken(tx, batch);
    const isCurrent = await currentGuards(tx, batch);
    const results = batch.map(({ writes, recordId }): CommitResult => {
      if (recordId !== undefined && takenIds.has(recordId)) return 'taken';
      return writes.guards.every(isCurrent) ? 'done' : 'stale';
    });
    const rows = new Map<TableName, AnyRow[]>();
    const deletedIds = new Map<TableName, string[]>();
    const announcedIds: string[] = [];
    for (const [index, { writes }] of batch.entries()) {
      if (results[index] !== 'done') continue;
      for (const [table, some] of writes.rows) append(rows, table, some);
      for (const [table, some] of writes.deletedIds) append(deletedIds, table, some);
      announcedIds.push(...writes.announcedIds);
      if (writes.guards.length > 0) append(rows, 'accounts_guards', writes.guards.map(toGuardRow));
    }
    for (const [table, some] of rows) {
      for (const chunk of chunked(some)) await upsert(tx, table, chunk);
    }
    for (const [table, ids] of deletedIds) {
      for (const chunk of chunked(ids))
        await tx.deleteFrom(table).where('id', 'in', chunk).execute();
    }
    if (announcedIds.length > 0) {
      await this.#outbox.publish(tx, { type: EVENTS_COMMITTED, payload: { ids: announcedIds } });
    }
    return results;
  }
}

async function findTaken(
  tx: Transaction<AccountTables>,
  batch: readonly Waiting[],
): Promise<ReadonlySet<string>> {
  const recordIds = batch.flatMap(({ recordId }) => (recordId === undefined ? [] : [recordId]));
  const taken = new Set<string>();
  for (const chunk of chunked(recordIds)) {
    const rows = await tx
      .selectFrom('accounts_idempotency')
      .select('id')
      .where('id', 'in', chunk)
      .execute();
    for (const { id } of rows) taken.add(id);
  }
  return taken;
}

/** Versions that nobody has changed since they were seen; the transaction is serializable, so nobody does. */
async function currentGuards(
  tx: Transaction<AccountTables>,
  batch: readonly Waiting[],
): Promise<(guard: Guard) => boolean> {
  const ids = batch.flatMap(({ writes }) => writes.guards.map(({ id }) => id));
  const versions = new Map<string, string>();
  for (const chunk of chunked(ids)) {
    for (const { id, version } of await readGuards(tx, chunk)) versions.set(id, version);
  }
  return ({ id, seen }) => versions.get(id) === seen;
}

async function upsert(
  tx: Transaction<AccountTables>,
  table: TableName,
  rows: readonly AnyRow[],
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {}).filter((column) => column !== 'id');
  await tx
    .insertInto(table)
    .values(rows as never) // `WriteSet.put` has checked each row against its table
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet(
          ({ ref }) =>
            Object.fromEntries(
              columns.map((column) => [column, ref(`excluded.${column}` as never)]),
            ) as never,
        ),
    )
    .execute();
}

function append<T>(to: Map<TableName, T[]>, table: TableName, some: readonly T[]): void {
  const list = to.get(table);
  if (list === undefined) to.set(table, [...some]);
  else list.push(...some);
}

function* chunked<T>(all: readonly T[]): Generator<readonly T[]> {
  let start = 0;
  while (start < all.length) {
    const size = CHUNK_SIZES.find((each) => each <= all.length - start) ?? 1;
    yield all.slice(start, start + size);
    start += size;
  }
}
