import type { SqlConnection } from '@plinth/kernel';
import type { QueueSession } from './queue-session.js';

/** Time without a heartbeat after which other nodes may release the leases of a node. */
export const NODE_LEASE_MS = 6_000;
/**
 * Additional delay for items with an ordering key. After it, the former node has aborted its
 * attempts, because its lease has expired.
 */
const ORDERING_KEY_DELAY_MS = 2_000;
/** Interval between two checks for items leased to a deleted node. */
const ORPHANS_MS = 5_000;

/**
 * Heartbeats and leases of nodes. An expired lease blocks its items until another node releases it; its
 * own node stops using it (`OwnLease`).
 * The next heartbeat of a node shows whether its leases were released.
 */
export class NodeLeases {
  readonly #session: QueueSession;
  #lookedForOrphansMs = 0;

  constructor(session: QueueSession) {
    this.#session = session;
  }

  /**
   * Registers this node at startup and releases the leases of earlier processes with the same data
   * folder.
   */
  async register(nowMs: number): Promise<void> {
    await this.#session.write(async (tx) => {
      // Only one process at a time uses a data folder, so every earlier lease holder has stopped.
      const ofFolder = this.#session.isShared ? ' where folder = ?' : '';
      await this.#session.sql.run(
        tx,
        `delete from webhooks_nodes${ofFolder}`,
        this.#session.isShared ? [this.#session.folder] : [],
      );
      await this.#storeNew(tx, await this.#session.nowMs(tx, nowMs));
      await this.#release(tx);
    });
  }

  /** @returns false when the leases were released; the node then continues under a new name. */
  async heartbeat(nowMs: number): Promise<boolean> {
    return await this.#session.write(async (tx) => {
      const now = await this.#session.nowMs(tx, nowMs);
      const count = await this.#session.sql.run(
        tx,
        'update webhooks_nodes set alive_until_ms = ? where id = ? and is_ended = 0',
        [now + NODE_LEASE_MS, this.#session.leaseHolder],
      );
      if (count > 0) return true;
      this.#session.renewLeaseHolder();
      await this.#storeNew(tx, now);
      return false;
    });
  }

  /**
   * Releases the leases of nodes without a recent heartbeat. @returns the number of released items.
   */
  async releaseExpired(nowMs: number): Promise<number> {
    return await this.#session.write(async (tx) => {
      const { sql } = this.#session;
      const now = await this.#session.nowMs(tx, nowMs);
      const ended = await sql.run(
        tx,
        'update webhooks_nodes set is_ended = 1 where alive_until_ms < ? and is_ended = 0',
        [now],
      );
      const gone = await sql.run(
        tx,
        'delete from webhooks_nodes where alive_until_ms < ? and is_ended = 1',
        [now - ORDERING_KEY_DELAY_MS],
      );
      const isDue = now - this.#lookedForOrphansMs >= ORPHANS_MS;
      if (ended === 0 && gone === 0 && !isDue) return 0;
      this.#lookedForOrphansMs = now;
      return await this.#release(tx);
    });
  }

  async #storeNew(tx: SqlConnection, now: number): Promise<void> {
    await this.#session.sql.run(
      tx,
      'insert into webhooks_nodes (id, alive_until_ms, folder, is_ended) values (?, ?, ?, 0)',
      [this.#session.leaseHolder, now + NODE_LEASE_MS, this.#session.folder],
    );
  }

  /**
   * Releases items of failed nodes. Items with an ordering key stay leased until their attempts
   * must have been aborted.
   */
  async #release(tx: SqlConnection): Promise<number> {
    const free = `state = 'leased' and (node not in (select id from webhooks_nodes) or (ordering_key is null
      and node in (select id from webhooks_nodes where is_ended = 1)))`;
    // Rows that a suspended process still locks are skipped; the next check for orphans finds them.
    const condition = this.#session.isShared
      ? `id = any(array(select id from webhooks_queue where ${free} for update skip locked))`
      : free;
    return await this.#session.sql.run(
      tx,
      `update webhooks_queue set state = 'pending', node = null where ${condition}`,
    );
  }

  /** Releases all leases at a normal stop, so that other nodes can continue immediately. */
  async releaseOwn(): Promise<void> {
    await this.#session.write(async (tx) => {
      await this.#session.sql.run(
        tx,
        `update webhooks_queue set state = 'pending', node = null
          where state = 'leased' and node = ?`,
        [this.#session.leaseHolder],
      );
      await this.#session.sql.run(tx, 'delete from webhooks_nodes where id = ?', [
        this.#session.leaseHolder,
      ]);
    });
  }

  /** Returns the items leased to this node. */
  async leasedIds(): Promise<readonly number[]> {
    const rows = await this.#session.sql.all<{ readonly id: number }>(
      this.#session.reader,
      `select id from webhooks_queue where state = 'leased' and node = ?`,
      [this.#session.leaseHolder],
    );
    return rows.map(({ id }) => Number(id));
  }

  /** Releases items that were claimed and not started. */
  async release(ids: readonly number[]): Promise<void> {
    await this.#session.write(async (tx) => {
      await this.#session.sql.run(
        tx,
        `update webhooks_queue set state = 'pending', node = null
          where node = ? and ${this.#session.sql.isOneOfNumbers('id')}`,
        [this.#session.leaseHolder, JSON.stringify(ids)],
      );
    });
  }

  async liveNodeCount(): Promise<number> {
    const [row] = await this.#session.sql.all<{ count: number }>(
      this.#session.reader,
      'select count(*) as count from webhooks_nodes where is_ended = 0',
    );
    return Math.max(1, row?.count ?? 1);
  }
}
