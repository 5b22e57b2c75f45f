import type { LimitKeys } from './limit-keys.js';
import type { RedisCalls } from './redis/redis-calls.js';

/** Heartbeat interval, and the number of missed heartbeats after which a node no longer counts. */
const INTERVAL_SEC = 5;
const MISSED_COUNT = 3;
const LIFE_MS = MISSED_COUNT * INTERVAL_SEC * 1_000;

/** Counts the nodes that share the counters, using the clock of Redis. */
export class NodeCount {
  readonly #calls: RedisCalls;
  readonly #keys: LimitKeys;
  readonly #nodeId: string;
  /** Latest counts, newest last. */
  readonly #counts: number[] = [];
  #second = 0;

  constructor(calls: RedisCalls, keys: LimitKeys, nodeId: string) {
    this.#calls = calls;
    this.#keys = keys;
    this.#nodeId = nodeId;
  }

  /**
   * The last known number of nodes. Uses the maximum over one node lifetime, because the nodes
   * reappear one at a time after Redis has lost its keys.
   */
  get latest(): number {
    return Math.max(1, ...this.#counts);
  }

  /** Call once per second. Sends a heartbeat and counts the nodes when the interval has passed. */
  async tick(): Promise<void> {
    const isTime = this.#second % INTERVAL_SEC === 0;
    this.#second += 1;
    if (!isTime) return;
    const { nodes } = this.#keys;
    try {
      const count = await this.#calls.call(nodes, (client) =>
        client.rlNodes(1, nodes, this.#nodeId, LIFE_MS),
      );
      if (this.#counts.push(count) > MISSED_COUNT) this.#counts.shift();
    } catch {
      // The last known count remains in use.
    }
  }
}
