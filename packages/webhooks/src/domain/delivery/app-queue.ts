import type { QueueItem } from '../../model/event.js';
import type { AttemptRate } from './host-limits.js';

/** Shorter delays are not recorded. */
const MIN_THROTTLE_MS = 1000;

/** In-memory state of one app's part of the queue. */
export class AppQueue {
  readonly appId: number;
  readonly rate: AttemptRate | undefined;
  /** Items leased to this node and not started, oldest first. */
  readonly #window: QueueItem[] = [];
  #head = 0;
  /** Items that are being accepted and have a reserved slot in the window. */
  reservedCount = 0;
  inflightCount = 0;
  /** Pending, held and running items, on this node and on others. */
  queuedCount = 0;
  /**
   * Counts the hints that the store may have more due items. A claim covers only the hints that came
   * before it started.
   */
  dueHints = 0;
  handledDueHints = 0;
  isClaiming = false;
  /** Due time of the earliest item that is not due yet. */
  nextDueMs: number | undefined;
  /** Time since which limits of this server have delayed the queue. */
  throttledSinceMs: number | undefined;

  constructor(appId: number, rate: AttemptRate | undefined) {
    this.appId = appId;
    this.rate = rate;
  }

  get windowCount(): number {
    return this.#window.length - this.#head;
  }

  /** Whether the store may have due items that no claim covers. */
  get mayHaveDueItems(): boolean {
    return this.dueHints > this.handledDueHints;
  }

  get ids(): readonly number[] {
    return this.#window.slice(this.#head).map(({ id }) => id);
  }

  push(item: QueueItem): void {
    this.#window.push(item);
  }

  shift(): QueueItem | undefined {
    const item = this.#window[this.#head];
    if (item === undefined) return undefined;
    this.#head += 1;
    if (this.#head > 64 && this.#head * 2 > this.#window.length) {
      this.#window.splice(0, this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Removes and returns all items of the window. */
  takeAll(): readonly QueueItem[] {
    const items = this.#window.slice(this.#head);
    this.#window.length = 0;
    this.#head = 0;
    return items;
  }

  /**
   * Returns the time since which limits of this server delayed an item, if the delay reached
   * `MIN_THROTTLE_MS`.
   */
  takeThrottle(item: QueueItem, nowMs: number): number | undefined {
    const sinceMs = this.throttledSinceMs;
    if (this.windowCount === 0) this.throttledSinceMs = undefined;
    if (item.throttledSinceMs !== undefined || sinceMs === undefined) return item.throttledSinceMs;
    const delayedSinceMs = Math.max(sinceMs, item.dueMs);
    return nowMs - delayedSinceMs < MIN_THROTTLE_MS ? undefined : delayedSinceMs;
  }
}
