import type { QueueBase } from './queue-base.js';

/** A node that has not said for so long that it is alive may have its leases ended by others. */
export const NODE_LEASE_MS = 6_000;
/** Until then a node has ended what it sent of ordered keys: it does so when its lease is over. */
const ORDERED_MS = 2_000;
/** What came to be leased to nobody is looked for so often. */
const ORPHANS_MS = 5_000;

/**
 * Which nodes are alive, and what becomes of the items that a node has leased when it is not or wants them no more. A lease that
 * is over still holds until somebody ends it: whether it was ended is what a node learns when it says that it is alive.
 */
export class NodeLeases {
  readonly #base: QueueBase;
  #lookedForOrphansMs = 0;

  constructor(base: QueueBase) {
    this.#base = base;
  }

  /** At a start: says that this node is alive, and gives back what earlier processes of its data folder had leased. */
  async takeUp(nowMs: number): Promise<void> {
    await this.#base.write(async (tx) => {
      // One process at a time: whoever held a lease is gone.
      const ofFolder = this.#base.isShared ? ' where folder = ?' : '';
      await this.#base.sql.run(
        tx,
        `delete from webhooks_nodes${ofFolder}`,
        this.#base.isShared ? [this.#base.folder] : [],
      );
      await this.#noteNew(tx, await this.#base.nowMs(tx, nowMs));
      await this.#release(tx);
    });
  }

  /** @returns false: its leases were ended, and it has others from here on. */
  async heartbeat(nowMs: number): Promise<boolean> {
    return await this.#base.write(async (tx) => {
      const now = await this.#base.nowMs(tx, nowMs);
      const count = await this.#base.sql.run(
        tx,
        'update webhooks_nodes set alive_until_ms = ? where id = ? and is_ended = 0',
        [now + NODE_LEASE_MS, this.#base.node],
      );
      if (count > 0) return true;
      this.#base.renewNode();
      await this.#noteNew(tx, now);
      return false;
    });
  }

  /** Ends the leases of nodes that are not alive. @returns how many items are free by that. */
  async releaseExpired(nowMs: number): Promise<number> {
    return await this.#base.write(async (tx) => {
      const { sql } = this.#base;
      const now = await this.#base.nowMs(tx, nowMs);
      const ended = await sql.run(
        tx,
        'update webhooks_nodes set is_ended = 1 where alive_until_ms < ? and is_ended = 0',
        [now],
      );
      const gone = await sql.run(
        tx,
        'delete from webhooks_nodes where alive_until_ms < ? and is_ended = 1',
        [now - ORDERED_MS],
      );
      const isDue = now - this.#lookedForOrphansMs >= ORPHANS_MS;
      if (ended === 0 && gone === 0 && !isDue) return 0;
      this.#lookedForOrphansMs = now;
      return await this.#release(tx);
    });
  }

  async #noteNew(tx: unknown, now: number): Promise<void> {
    await this.#base.sql.run(
      tx,
      'insert into webhooks_nodes (id, alive_until_ms, folder, is_ended) values (?, ?, ?, 0)',
      [this.#base.node, now + NODE_LEASE_MS, this.#base.folder],
    );
  }

  /** An ordered item waits until its attempt must have ended, the others go on at once. */
  async #release(tx: unknown): Promise<number> {
    const free = `state = 'leased' and (node not in (select id from webhooks_nodes) or (ordering_key is null
      and node in (select id from webhooks_nodes where is_ended = 1)))`;
    // What a stopped process still has locked is found by the next look for orphans.
    const condition = this.#base.isShared
      ? `id = any(array(select id from webhooks_queue where ${free} for update skip locked))`
      : free;
    return await this.#base.sql.run(
      tx,
      `update webhooks_queue set state = 'pending', node = null where ${condition}`,
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

  /** Of this node. */
  async leasedIds(): Promise<readonly number[]> {
    const rows = await this.#base.sql.all<{ readonly id: number }>(
      this.#base.reader,
      `select id from webhooks_queue where state = 'leased' and node = ?`,
      [this.#base.node],
    );
    return rows.map(({ id }) => Number(id));
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
      'select count(*) as count from webhooks_nodes where is_ended = 0',
    );
    return Math.max(1, row?.count ?? 1);
  }
}
