import type { QueueBase } from './queue-base.js';

/** A node that has not said for so long that it is alive has lost its leases. */
export const NODE_LEASE_MS = 20_000;

/**
 * Which nodes are alive, and what becomes of the items that a node has leased when it is not or wants them no more.
 */
export class NodeLeases {
  readonly #base: QueueBase;

  constructor(base: QueueBase) {
    this.#base = base;
  }

  /** At a start: says that this node is alive, and gives back what nodes had leased that are not. */
  async takeUp(nowMs: number): Promise<void> {
    await this.#base.write(async (tx) => {
      // One process at a time: whoever held a lease is gone.
      if (!this.#base.isShared) await this.#base.sql.run(tx, 'delete from webhooks_nodes');
      const now = await this.#base.nowMs(tx, nowMs);
      await this.#noteAlive(tx, now);
      await this.#releaseExpired(tx, now);
    });
  }

  async heartbeat(nowMs: number): Promise<void> {
    await this.#base.write(
      async (tx) => await this.#noteAlive(tx, await this.#base.nowMs(tx, nowMs)),
    );
  }

  /** Gives back what dead nodes had leased. @returns how many items. */
  async releaseExpired(nowMs: number): Promise<number> {
    return await this.#base.write(
      async (tx) => await this.#releaseExpired(tx, await this.#base.nowMs(tx, nowMs)),
    );
  }

  async #noteAlive(tx: unknown, now: number): Promise<void> {
    await this.#base.sql.run(
      tx,
      `insert into webhooks_nodes (id, alive_until_ms) values (?, ?)
        on conflict (id) do update set alive_until_ms = excluded.alive_until_ms`,
      [this.#base.node, now + NODE_LEASE_MS],
    );
  }

  async #releaseExpired(tx: unknown, now: number): Promise<number> {
    await this.#base.sql.run(tx, 'delete from webhooks_nodes where alive_until_ms < ?', [now]);
    return await this.#base.sql.run(
      tx,
      `update webhooks_queue set state = 'pending', node = null
        where state = 'leased' and node not in (select id from webhooks_nodes)`,
    );
  }

  /** At a stop in order: others may go on at once. */
  async releaseOwn(): Promise<void> {
    await this.#base.write(async (tx) => {
      await this.#base.sql.run(
        tx,
        `update webhooks_queue set state = 'pending', node = null
          where state = 'leased' and node = ?`,
        [this.#base.node],
      );
      await this.#base.sql.run(tx, 'delete from webhooks_nodes where id = ?', [this.#base.node]);
    });
  }

  /** Gives back items that were claimed and not begun. */
  async release(ids: readonly number[]): Promise<void> {
    await this.#base.write(async (tx) => {
      await this.#base.sql.run(
        tx,
        `update webhooks_queue set state = 'pending', node = null
          where node = ? and ${this.#base.sql.isOneOfNumbers('id')}`,
        [this.#base.node, JSON.stringify(ids)],
      );
    });
  }

  async liveNodeCount(): Promise<number> {
    const [row] = await this.#base.sql.all<{ count: number }>(
      this.#base.reader,
      'select count(*) as count from webhooks_nodes',
    );
    return Math.max(1, row?.count ?? 1);
  }
}
