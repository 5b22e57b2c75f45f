import type { QueueItem } from '../../model/event.js';
import type { AttemptRate } from './host-limits.js';
import { Lane } from './lane.js';

/** Items that one app may have in memory, and all apps together. */
const MAX_WINDOW_COUNT = 256;
const MAX_TOTAL_WINDOW_COUNT = 20_000;
const MIN_CLAIM_COUNT = 8;

/** The lanes of all apps, and how much of the queue they hold in memory together. */
export class Lanes {
  readonly #makeRate: () => AttemptRate | undefined;
  readonly #lanes = new Map<number, Lane>();
  /** Items in memory and places promised, of all lanes. */
  #placeCount = 0;
  /** Taken out, and not written down yet. */
  readonly #begun = new Set<number>();

  constructor(makeRate: () => AttemptRate | undefined) {
    this.#makeRate = makeRate;
  }

  /** How many items of one lane may be claimed at once: with many apps each gets less. */
  get claimLimit(): number {
    const share = Math.floor(MAX_TOTAL_WINDOW_COUNT / Math.max(1, this.#lanes.size));
    return Math.min(MAX_WINDOW_COUNT, Math.max(MIN_CLAIM_COUNT, share));
  }

  of(appId: number): Lane {
    let lane = this.#lanes.get(appId);
    if (lane === undefined) {
      lane = new Lane(appId, this.#makeRate());
      this.#lanes.set(appId, lane);
    }
    return lane;
  }

  find(appId: number): Lane | undefined {
    return this.#lanes.get(appId);
  }

  values(): Iterable<Lane> {
    return this.#lanes.values();
  }

  /** Promises a place, which `fill` or `unreserve` ends; false: there is none. */
  reserve(lane: Lane): boolean {
    const isFull =
      lane.windowCount + lane.reservedCount >= MAX_WINDOW_COUNT ||
      this.#placeCount >= MAX_TOTAL_WINDOW_COUNT;
    // Older ones in the store go first.
    if (isFull || lane.hasMore || lane.isClaiming) return false;
    lane.reservedCount += 1;
    this.#placeCount += 1;
    return true;
  }

  unreserve(lane: Lane): void {
    lane.reservedCount -= 1;
    this.#placeCount -= 1;
  }

  /** Puts an item into the place that was promised to it. */
  fill(lane: Lane, item: QueueItem): void {
    lane.reservedCount -= 1; // its place among all stays taken
    lane.push(item);
  }

  /** Puts claimed items into their lanes. */
  add(items: readonly QueueItem[]): void {
    for (const item of items) this.of(item.appId).push(item);
    this.#placeCount += items.length;
  }

  shift(lane: Lane): QueueItem | undefined {
    const item = lane.shift();
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
    for (const lane of this.#lanes.values()) for (const id of lane.ids) ids.add(id);
    return ids;
  }

  /** Empties the window of a lane. */
  takeAll(lane: Lane): readonly QueueItem[] {
    const items = lane.takeAll();
    this.#placeCount -= items.length;
    return items;
  }
}
