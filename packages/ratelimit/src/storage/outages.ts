import type { Clock } from '@plinth/kernel';

/** Consecutive failures after which calls to a server are paused. */
const MAX_FAILURE_COUNT = 5;
const PAUSE_MS = 1_000;
/** A server without calls for this long may have left the cluster. */
const FORGOTTEN_MS = 10_000;

interface Outage {
  readonly failureCount: number;
  readonly failedMs: number;
  readonly pausedUntilMs: number;
}

/**
 * Tracks unavailable servers separately, so that a hanging shard does not affect the others.
 * Source: rate-limits, section 14.3.
 */
export class Outages {
  readonly #clock: Clock;
  readonly #onChange: (isWhole: boolean) => void;
  /** Servers whose last call failed, by name. */
  readonly #away = new Map<string, Outage>();

  /**
   * @param onChange called when the first server becomes unavailable, and when all are available
   *   again.
   */
  constructor(clock: Clock, onChange: (isWhole: boolean) => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /**
   * Whether calls to the server are paused. The first call after a pause determines whether another pause follows.
   */
  isPaused(server: string): boolean {
    const outage = this.#away.get(server);
    return outage !== undefined && this.#clock.monotonicMs() < outage.pausedUntilMs;
  }

  noteSuccess(server: string): void {
    if (this.#away.size === 0) return;
    this.#away.delete(server);
    const beforeMs = this.#clock.monotonicMs() - FORGOTTEN_MS;
    for (const [name, { failedMs }] of this.#away) {
      if (failedMs < beforeMs) this.#away.delete(name);
    }
    if (this.#away.size === 0) this.#onChange(true);
  }

  noteFailure(server: string): void {
    const failedMs = this.#clock.monotonicMs();
    const wasWhole = this.#away.size === 0;
    const failureCount = (this.#away.get(server)?.failureCount ?? 0) + 1;
    const pausedUntilMs = failureCount < MAX_FAILURE_COUNT ? 0 : failedMs + PAUSE_MS;
    this.#away.set(server, { failureCount, failedMs, pausedUntilMs });
    if (wasWhole) this.#onChange(false);
  }
}
