import type { Outbox, RelationalStore } from '@plinth/kernel';
import type { Insertable, Transaction } from 'kysely';
import type { AccountTables, TableName } from './account-tables.js';

type Row<T extends TableName> = Insertable<AccountTables[T]>;
/** Which table a row belongs to is checked where it is put in. */
type AnyRow = Record<string, unknown>;

/** Everything that one request changes; it becomes durable together or not at all. */
export class WriteSet {
  readonly rows = new Map<TableName, AnyRow[]>();
  readonly deletedIds = new Map<TableName, string[]>();
  /** Bundles of events that somebody waits for. */
  readonly announcedIds: string[] = [];

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
}

/** Announced in the outbox; its payload is `{ids}`, the ids of bundles of events. */
export const EVENTS_COMMITTED = 'accounts.events_committed';

/** Whether the changes were made; `taken` when the record that guards them was there already. */
export type CommitResult = 'done' | 'taken';

interface Waiting {
  readonly writes: WriteSet;
  readonly guardId: string | undefined;
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
   * @param guardId id of an idempotency record: when it is there, nothing is changed. Asking for all of a batch at
   * once costs less than each request's own look before it begins.
   */
  async commit(writes: WriteSet, guardId?: string): Promise<CommitResult> {
    return await new Promise<CommitResult>((resolve, reject) => {
      this.#waiting.push({ writes, guardId, resolve, reject });
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
      const takenIds = await this.#store.transaction<AccountTables, ReadonlySet<string>>((tx) =>
        this.#write(tx, batch),
      );
      for (const { writes, guardId, resolve } of batch) {
        const isTaken = guardId !== undefined && takenIds.has(guardId);
        if (!isTaken) this.#listener?.(writes);
        resolve(isTaken ? 'taken' : 'done');
      }
    } catch (error) {
      if (batch.length === 1) batch[0]?.reject(error);
      // One that cannot be stored must not fail its neighbours.
      else for (const each of batch) await this.#commitBatch([each]);
    }
  }

  /** @returns guards that were there already. */
  async #write(
    tx: Transaction<AccountTables>,
    batch: readonly Waiting[],
  ): Promise<ReadonlySet<string>> {
    const takenIds = await findTaken(tx, batch);
    const rows = new Map<TableName, AnyRow[]>();
    const deletedIds = new Map<TableName, string[]>();
    const announcedIds: string[] = [];
    for (const { writes, guardId } of batch) {
      if (guardId !== undefined && takenIds.has(guardId)) continue;
      for (const [table, some] of writes.rows) append(rows, table, some);
      for (const [table, some] of writes.deletedIds) append(deletedIds, table, some);
      announcedIds.push(...writes.announcedIds);
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
    return takenIds;
  }
}

async function findTaken(
  tx: Transaction<AccountTables>,
  batch: readonly Waiting[],
): Promise<ReadonlySet<string>> {
  const guardIds = batch.flatMap(({ guardId }) => (guardId === undefined ? [] : [guardId]));
  const taken = new Set<string>();
  for (const chunk of chunked(guardIds)) {
    const rows = await tx
      .selectFrom('accounts_idempotency')
      .select('id')
      .where('id', 'in', chunk)
      .execute();
    for (const { id } of rows) taken.add(id);
  }
  return taken;
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
