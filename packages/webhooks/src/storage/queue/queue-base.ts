import { RawStatements, type RelationalStore, SHARED_NOW_MS } from '@plinth/kernel';

const ORDERED = { isolation: 'read_committed' } as const;

/** What all parts of the queue share: the store, its statements, and this node's name in it. */
export class QueueBase {
  readonly sql: RawStatements;
  /** Of the data folder that this process holds. */
  readonly folder: string;
  /** Other nodes use the store as well. */
  readonly isShared: boolean;
  readonly #store: RelationalStore;
  readonly #process: string;
  #nodeCount = 1;

  constructor(store: RelationalStore, process: string, folder: string) {
    this.#store = store;
    this.sql = new RawStatements(store.engine);
    this.#process = process;
    this.folder = folder;
    this.isShared = store.engine === 'postgresql';
  }

  /** What items are leased to: unique among all processes that ever used the store, and another one after a loss of its leases. */
  get node(): string {
    return `${this.#process}.${this.#nodeCount}`;
  }

  renewNode(): void {
    this.#nodeCount += 1;
  }

  get reader(): unknown {
    return this.#store.reader<never>();
  }

  async write<T>(work: (tx: unknown) => Promise<T>): Promise<T> {
    return await this.#store.transaction<never, T>(work, ORDERED);
  }

  /** Nodes compare their leases by one clock. */
  async nowMs(tx: unknown, nowMs: number): Promise<number> {
    if (!this.isShared) return nowMs;
    const [row] = await this.sql.all<{ now_ms: number }>(tx, `select ${SHARED_NOW_MS} as now_ms`);
    return row?.now_ms ?? nowMs;
  }

  /** On several nodes, whoever adds to a key and whoever ends its head must not pass each other unseen. */
  async lockKeys(
    tx: unknown,
    items: readonly { readonly appId: number; readonly orderingKey: string | undefined }[],
  ): Promise<void> {
    if (!this.isShared) return;
    const names = new Set(
      items.flatMap(({ appId, orderingKey }) =>
        orderingKey === undefined ? [] : [`${appId} ${orderingKey}`],
      ),
    );
    // Always in the same order, so that two transactions never wait for each other.
    for (const name of [...names].sort()) {
      await this.sql.all(tx, 'select pg_advisory_xact_lock(hashtextextended(?, 7))', [name]);
    }
  }

  /** The next item of a key may go when the one before it has ended. */
  async promoteHeld(
    tx: unknown,
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
