import type { LimitKeys } from './limit-keys.js';
import type { RedisCalls } from './redis/redis-calls.js';

/** A node says every so many seconds that it lives, and is forgotten when it has missed so many times. */
const INTERVAL_SEC = 5;
const MISSED_COUNT = 3;
const LIFE_MS = MISSED_COUNT * INTERVAL_SEC * 1_000;

/** How many nodes share the counters, by the clock of Redis. */
export class NodeCount {
  readonly #calls: RedisCalls;
  readonly #keys: LimitKeys;
  readonly #nodeId: string;
  /** As they were counted last, the latest at the end. */
  readonly #counts: number[] = [];
  #second = 0;

  constructor(calls: RedisCalls, keys: LimitKeys, nodeId: string) {
    this.#calls = calls;
    this.#keys = keys;
    this.#nodeId = nodeId;
  }

  /**
   * As far as was known last; the most for as long as a node may live unseen, because a Redis that has lost its keys
   * hears of the nodes one by one.
   */
  get latest(): number {
    return Math.max(1, ...this.#counts);
  }

  /** Every second. Says that this node lives, and counts those that said so lately, when it is time. */
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
      // What was known last is the best there is.
    }
  }
}
