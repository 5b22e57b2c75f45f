import type { Lane } from './lane.js';

/**
 * Slots for the attempts that a node runs at the same time. An app runs at most as many attempts as slots are free, so that
 * receivers of some apps that do not respond leave slots for others. A first attempt needs only one free slot.
 */
export class NodeSlots {
  readonly #count: number;
  #usedCount = 0;
  /** Apps that have more than their share, in the order in which they wait. */
  readonly #waiting = new Set<Lane>();

  constructor(count: number) {
    this.#count = count;
  }

  get usedCount(): number {
    return this.#usedCount;
  }

  get isFull(): boolean {
    return this.#usedCount >= this.#count;
  }

  /** False: the app waits until `nextWaiting` returns it. */
  admits(lane: Lane): boolean {
    const freeCount = this.#count - this.#usedCount;
    if (freeCount > 0 && (lane.inflightCount === 0 || lane.inflightCount < freeCount)) return true;
    this.#waiting.add(lane);
    return false;
  }

  nextWaiting(): Lane | undefined {
    const [lane] = this.#waiting;
    if (lane !== undefined) this.#waiting.delete(lane);
    return lane;
  }

  take(lane: Lane): void {
    lane.inflightCount += 1;
    this.#usedCount += 1;
  }

  release(lane: Lane): void {
    lane.inflightCount -= 1;
    this.#usedCount -= 1;
  }
}
