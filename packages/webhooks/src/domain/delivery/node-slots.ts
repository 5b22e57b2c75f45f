import type { AppQueue } from './app-queue.js';

/**
 * Slots for the concurrent attempts of a node. An app runs at most as many attempts as there are
 * free slots. Apps with unresponsive receivers therefore leave slots for others. A first attempt
 * needs only one free slot.
 */
export class NodeSlots {
  readonly #count: number;
  #usedCount = 0;
  /** Apps at their limit, in the order in which they wait. */
  readonly #waiting = new Set<AppQueue>();

  constructor(count: number) {
    this.#count = count;
  }

  get usedCount(): number {
    return this.#usedCount;
  }

  get isFull(): boolean {
    return this.#usedCount >= this.#count;
  }

  /** Returns false when the app has to wait until `nextWaiting` returns it. */
  admits(appQueue: AppQueue): boolean {
    const freeCount = this.#count - this.#usedCount;
    if (freeCount > 0 && (appQueue.inflightCount === 0 || appQueue.inflightCount < freeCount))
      return true;
    this.#waiting.add(appQueue);
    return false;
  }

  nextWaiting(): AppQueue | undefined {
    const [appQueue] = this.#waiting;
    if (appQueue !== undefined) this.#waiting.delete(appQueue);
    return appQueue;
  }

  take(appQueue: AppQueue): void {
    appQueue.inflightCount += 1;
    this.#usedCount += 1;
  }

  release(appQueue: AppQueue): void {
    appQueue.inflightCount -= 1;
    this.#usedCount -= 1;
  }
}
