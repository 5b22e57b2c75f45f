import type { QueueItem } from '../../model/event.js';
import { AppQueue } from './app-queue.js';
import type { AttemptRate } from './host-limits.js';

/** Maximum number of items in memory: per app, and for all apps. */
const MAX_WINDOW_COUNT = 256;
const MAX_TOTAL_WINDOW_COUNT = 20_000;
const MIN_CLAIM_COUNT = 8;

/** The queues of all apps, with a common limit on the items in memory. */
export class AppQueues {
  readonly #makeRate: () => AttemptRate | undefined;
  readonly #appQueues = new Map<number, AppQueue>();
  /** Items in the windows of all queues, including items with a reserved slot. */
  #itemCount = 0;
  /** Ids of items whose attempt has started and is not yet recorded. */
  readonly #startedIds = new Set<number>();

  constructor(makeRate: () => AttemptRate | undefined) {
    this.#makeRate = makeRate;
  }

  /** Maximum number of items per claim of one queue. It shrinks as the number of apps grows. */
  get claimLimit(): number {
    const share = Math.floor(MAX_TOTAL_WINDOW_COUNT / Math.max(1, this.#appQueues.size));
    return Math.min(MAX_WINDOW_COUNT, Math.max(MIN_CLAIM_COUNT, share));
  }

  of(appId: number): AppQueue {
    let appQueue = this.#appQueues.get(appId);
    if (appQueue === undefined) {
      appQueue = new AppQueue(appId, this.#makeRate());
      this.#appQueues.set(appId, appQueue);
    }
    return appQueue;
  }

  find(appId: number): AppQueue | undefined {
    return this.#appQueues.get(appId);
  }

  values(): Iterable<AppQueue> {
    return this.#appQueues.values();
  }

  /**
   * Reserves a slot for one item in the window, to be used by `fill` or released by `unreserve`.
   * Returns false if no slot is free.
   */
  reserve(appQueue: AppQueue): boolean {
    const isFull =
      appQueue.windowCount + appQueue.reservedCount >= MAX_WINDOW_COUNT ||
      this.#itemCount >= MAX_TOTAL_WINDOW_COUNT;
    // Older items in the store must be delivered first.
    if (isFull || appQueue.mayHaveDueItems || appQueue.isClaiming) return false;
    appQueue.reservedCount += 1;
    this.#itemCount += 1;
    return true;
  }

  unreserve(appQueue: AppQueue): void {
    appQueue.reservedCount -= 1;
    this.#itemCount -= 1;
  }

  /** Adds an item to the window, in its reserved slot. */
  fill(appQueue: AppQueue, item: QueueItem): void {
    appQueue.reservedCount -= 1; // `#itemCount` already includes this item
    appQueue.push(item);
  }

  /** Adds claimed items to their queues. */
  add(items: readonly QueueItem[]): void {
    for (const item of items) this.of(item.appId).push(item);
    this.#itemCount += items.length;
  }

  shift(appQueue: AppQueue): QueueItem | undefined {
    const item = appQueue.shift();
    if (item === undefined) return undefined;
    this.#itemCount -= 1;
    this.#startedIds.add(item.id);
    return item;
  }

  /** Removes a started item after its attempt, successful or not. */
  end({ id }: QueueItem): void {
    this.#startedIds.delete(id);
  }

  /** Returns the ids of all items that this node holds. */
  ids(): ReadonlySet<number> {
    const ids = new Set(this.#startedIds);
    for (const appQueue of this.#appQueues.values()) for (const id of appQueue.ids) ids.add(id);
    return ids;
  }

  /** Removes and returns the waiting items of a queue. */
  takeAll(appQueue: AppQueue): readonly QueueItem[] {
    const items = appQueue.takeAll();
    this.#itemCount -= items.length;
    return items;
  }
}
