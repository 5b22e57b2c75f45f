import type { QueueItem } from '../../model/event.js';
import { AppQueue } from './app-queue.js';
import type { AttemptRate } from './host-limits.js';

/** Items that one app may have in memory, and all apps together. */
const MAX_WINDOW_COUNT = 256;
const MAX_TOTAL_WINDOW_COUNT = 20_000;
const MIN_CLAIM_COUNT = 8;

/** The lanes of all apps, and how much of the queue they hold in memory together. */
export class AppQueues {
  readonly #makeRate: () => AttemptRate | undefined;
  readonly #appQueues = new Map<number, AppQueue>();
  /** Items in memory and places promised, of all lanes. */
  #placeCount = 0;
  /** Taken out, and not written down yet. */
  readonly #begun = new Set<number>();

  constructor(makeRate: () => AttemptRate | undefined) {
    this.#makeRate = makeRate;
  }

  /** How many items of one lane may be claimed at once: with many apps each gets less. */
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

  /** Promises a place, which `fill` or `unreserve` ends; false: there is none. */
  reserve(appQueue: AppQueue): boolean {
    const isFull =
      appQueue.windowCount + appQueue.reservedCount >= MAX_WINDOW_COUNT ||
      this.#placeCount >= MAX_TOTAL_WINDOW_COUNT;
    // Older ones in the store go first.
    if (isFull || appQueue.hasMore || appQueue.isClaiming) return false;
    appQueue.reservedCount += 1;
    this.#placeCount += 1;
    return true;
  }

  unreserve(appQueue: AppQueue): void {
    appQueue.reservedCount -= 1;
    this.#placeCount -= 1;
  }

  /** Puts an item into the place that was promised to it. */
  fill(appQueue: AppQueue, item: QueueItem): void {
    appQueue.reservedCount -= 1; // its place among all stays taken
    appQueue.push(item);
  }

  /** Puts claimed items into their lanes. */
  add(items: readonly QueueItem[]): void {
    for (const item of items) this.of(item.appId).push(item);
    this.#placeCount += items.length;
  }

  shift(appQueue: AppQueue): QueueItem | undefined {
    const item = appQueue.shift();
    if (item === undefined) return undefined;
    this.#placeCount -= 1;
    this.#begun.add(item.id);
    return item;
  }

  /** What was taken out has ended, one way or the other. */
  end({ id }: QueueItem): void {
    this.#begun.delete(id);
  }

  /** Of all that this node has. */
  ids(): ReadonlySet<number> {
    const ids = new Set(this.#begun);
    for (const appQueue of this.#appQueues.values()) for (const id of appQueue.ids) ids.add(id);
    return ids;
  }

  /** Empties the window of a lane. */
  takeAll(appQueue: AppQueue): readonly QueueItem[] {
    const items = appQueue.takeAll();
    this.#placeCount -= items.length;
    return items;
  }
}
