import type { QueueItem } from '../../model/event.js';
import type { AttemptRate } from './host-limits.js';

/** Shorter waits are not recorded. */
const MIN_THROTTLE_MS = 1000;

/** What the engine knows of one app's part of the queue. */
export class AppQueue {
  readonly appId: number;
  readonly rate: AttemptRate | undefined;
  /** Leased to this node and not begun, oldest first. */
  readonly #window: QueueItem[] = [];
  #head = 0;
  /** Places promised to events that are being accepted. */
  reservedCount = 0;
  inflightCount = 0;
  /** Items that wait or run, here or elsewhere. */
  queuedCount = 0;
  /** The store may have more that is due. Grows with every hint, so that a claim that began before it is not trusted. */
  moreHints = 0;
  seenHints = 0;
  isClaiming = false;
  /** When the first of those that are not due yet will be. */
  nextDueMs: number | undefined;
  /** Since when our own limits hold the lane back. */
  throttledSinceMs: number | undefined;

  constructor(appId: number, rate: AttemptRate | undefined) {
    this.appId = appId;
    this.rate = rate;
  }

  get windowCount(): number {
    return this.#window.length - this.#head;
  }

  get hasMore(): boolean {
    return this.moreHints > this.seenHints;
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

  /** Empties the window. */
  takeAll(): readonly QueueItem[] {
    const items = this.#window.slice(this.#head);
    this.#window.length = 0;
    this.#head = 0;
    return items;
  }

  /** Since when limits of this server held an item back, if that was long enough to be recorded. */
  takeThrottle(item: QueueItem, nowMs: number): number | undefined {
    const sinceMs = this.throttledSinceMs;
    if (this.windowCount === 0) this.throttledSinceMs = undefined;
    if (item.throttledMs !== undefined || sinceMs === undefined) return item.throttledMs;
    const heldMs = Math.max(sinceMs, item.dueMs);
    return nowMs - heldMs < MIN_THROTTLE_MS ? undefined : heldMs;
  }
}
