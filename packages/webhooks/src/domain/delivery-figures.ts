import { type Clock, isoSeconds } from '@plinth/kernel';
import type { DeliveryCount, DeliveryFigures } from '../model/delivery.js';
import { COUNT_BUCKET_MS } from '../storage/delivery-counts.js';
import type { DeliveryStore } from '../storage/delivery-store.js';

/** Period that the figures of an app cover, and maximum number of its newest attempts in them. */
const FIGURES_PERIOD_MS = 3_600_000;
const FIGURES_MAX_COUNT = 2000;
/** A history covers six hours. Its last bucket is the current one. */
const HISTORY_BUCKET_COUNT = 24;
/** Maximum age of the figures in a list of apps. Clients request lists every few seconds. */
const LISTED_MAX_AGE_MS = 15_000;
/** Maximum number of apps whose figures are cached. */
const CACHED_MAX_COUNT = 1000;

type LastHour = Promise<object>;

/** Deliveries of apps in the last hours, as operators see them. */
export class DeliveryFiguresView {
  readonly #store: DeliveryStore;
  readonly #clock: Clock;
  /** Figures by app, the oldest first. */
  readonly #cached = new Map<number, { readonly readMs: number; readonly figures: LastHour }>();

  constructor(store: DeliveryStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Returns the figures of the last hour of each app. They are current for a single app and at most 15 seconds old for
   * several, because each app needs a statement that reads up to 2,000 records.
   */
  async lastHours(appIds: readonly number[]): Promise<ReadonlyMap<number, object>> {
    const maxAgeMs = appIds.length > 1 ? LISTED_MAX_AGE_MS : 0;
    const found = new Map<number, object>();
    // One app at a time, so that other statements can run in between.
    for (const appId of appIds) found.set(appId, await this.#lastHour(appId, maxAgeMs));
    return found;
  }

  /** Returns the counts of each app by bucket, with one statement. */
  async histories(appIds: readonly number[]): Promise<ReadonlyMap<number, object>> {
    const startMs = this.#startMs();
    const counts = await this.#store.counts(appIds, startMs);
    return new Map(
      appIds.map((appId) => [
        appId,
        historyToWire(
          counts.filter((count) => count.appId === appId),
          startMs,
        ),
      ]),
    );
  }

  /** Returns the counts of all apps together by bucket. */
  async totalHistory(): Promise<object> {
    const startMs = this.#startMs();
    return historyToWire(await this.#store.totalCounts(startMs), startMs);
  }

  #startMs(): number {
    const current = Math.floor(this.#clock.nowMs() / COUNT_BUCKET_MS);
    return (current - HISTORY_BUCKET_COUNT + 1) * COUNT_BUCKET_MS;
  }

  #lastHour(appId: number, maxAgeMs: number): LastHour {
    const cached = this.#cached.get(appId);
    const readMs = this.#clock.monotonicMs();
    if (cached !== undefined && readMs - cached.readMs < maxAgeMs) return cached.figures;
    const figures = this.#readLastHour(appId);
    this.#cached.delete(appId);
    this.#cached.set(appId, { readMs, figures });
    for (const oldest of this.#cached.keys()) {
      if (this.#cached.size <= CACHED_MAX_COUNT) break;
      this.#cached.delete(oldest);
    }
    // The next request reads the figures again.
    figures.catch(() => {
      if (this.#cached.get(appId)?.figures === figures) this.#cached.delete(appId);
    });
    return figures;
  }

  async #readLastHour(appId: number): LastHour {
    const sinceMs = this.#clock.nowMs() - FIGURES_PERIOD_MS;
    return figuresToWire(await this.#store.figures(appId, sinceMs, FIGURES_MAX_COUNT));
  }
}

/** Durations are in seconds, in steps of 10 ms, like those of deliveries. */
const figuresToWire = ({ count, failedCount, p95Ms }: DeliveryFigures): object => ({
  deliveries: count,
  failed: failedCount,
  p95_duration: p95Ms === undefined ? null : Math.round(p95Ms / 10) / 100,
});

/** Counts by bucket, oldest first. */
function historyToWire(counts: readonly Omit<DeliveryCount, 'appId'>[], startMs: number): object {
  const succeeded = new Array<number>(HISTORY_BUCKET_COUNT).fill(0);
  const failed = new Array<number>(HISTORY_BUCKET_COUNT).fill(0);
  for (const { bucketMs, succeededCount, failedCount } of counts) {
    const index = (bucketMs - startMs) / COUNT_BUCKET_MS;
    // An attempt can start in the future when the clocks of nodes differ.
    if (index >= HISTORY_BUCKET_COUNT) continue;
    succeeded[index] = succeededCount;
    failed[index] = failedCount;
  }
  return {
    start: isoSeconds(startMs),
    bucket_seconds: COUNT_BUCKET_MS / 1000,
    ...{ succeeded, failed },
  };
}
