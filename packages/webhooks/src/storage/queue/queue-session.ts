import {
  RawStatements,
  type RelationalStore,
  SHARED_NOW_MS,
  type SqlConnection,
} from '@plinth/kernel';

const READ_COMMITTED = { isolation: 'read_committed' } as const;

/** A node's access to the queue's store. Contains the name under which the node leases items, for all parts of the queue. */
export class QueueSession {
  readonly sql: RawStatements;
  /** Id of this process's data folder. */
  readonly folder: string;
  /** Whether other nodes use the same store. */
  readonly isShared: boolean;
  readonly #store: RelationalStore;
  readonly #process: string;
  /** Number of lease holder names that this process has used. */
  #nameCount = 1;

  constructor(store: RelationalStore, process: string, folder: string) {
    this.#store = store;
    this.sql = new RawStatements(store.system);
    this.#process = process;
    this.folder = folder;
    this.isShared = store.system === 'postgresql';
  }

  /**
   * Lease holder of this node's items. Unique among all processes that ever used the store; changes
   * after the node lost its leases.
   */
  get leaseHolder(): string {
    return `${this.#process}.${this.#nameCount}`;
  }

  /** Called after the node has lost its leases. */
  renewLeaseHolder(): void {
    this.#nameCount += 1;
  }

  get reader(): SqlConnection {
    return this.#store.reader<never>();
  }

  async write<T>(work: (tx: SqlConnection) => Promise<T>): Promise<T> {
    return await this.#store.transaction<never, T>(work, READ_COMMITTED);
  }

  /** Returns the database time on a shared store, so that all nodes compare leases by one clock. */
  async nowMs(tx: SqlConnection, nowMs: number): Promise<number> {
    if (!this.isShared) return nowMs;
    const [row] = await this.sql.all<{ now_ms: number }>(tx, `select ${SHARED_NOW_MS} as now_ms`);
    return row?.now_ms ?? nowMs;
  }

  /**
   * Locks ordering keys on a shared store. Without the lock, concurrently adding an item and
   * finishing the previous one could leave the new item held.
   */
  async lockKeys(
    tx: SqlConnection,
    items: readonly { readonly appId: number; readonly orderingKey: string | undefined }[],
  ): Promise<void> {
    if (!this.isShared) return;
    const names = new Set(
      items.flatMap(({ appId, orderingKey }) =>
        orderingKey === undefined ? [] : [`${appId} ${orderingKey}`],
      ),
    );
    // A fixed lock order prevents deadlocks.
    for (const name of [...names].sort()) {
      await this.sql.all(tx, 'select pg_advisory_xact_lock(hashtextextended(?, 7))', [name]);
    }
  }

  /** Releases the next held item of each key after the previous one finished. */
  async promoteHeld(
    tx: SqlConnection,
    ended: readonly { readonly appId: number; readonly orderingKey: string | undefined }[],
  ): Promise<void> {
    for (const { appId, orderingKey } of ended) {
      if (orderingKey === undefined) continue;
      await this.sql.run(
        tx,
        `update webhooks_queue set state = 'pending' where id =
          (select min(id) from webhooks_queue
            where app_id = ? and ordering_key = ? and state = 'held')
          and not exists (select 1 from webhooks_queue
            where app_id = ? and ordering_key = ? and state in ('pending', 'leased'))`,
        [appId, orderingKey, appId, orderingKey],
      );
    }
  }
}
