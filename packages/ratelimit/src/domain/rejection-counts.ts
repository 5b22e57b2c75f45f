import type { Clock } from '@plinth/kernel';
import type { LimitKind } from '../model/decision.js';

/** Rejected requests of one caller in the current and the previous window. */
export interface RejectedCaller {
  readonly identity: string;
  readonly current: number;
  readonly previous: number;
  /** The requests of both windows, by exceeded limit. */
  readonly limits: Readonly<Partial<Record<LimitKind, number>>>;
  /** Time of the last rejected request, epoch milliseconds. */
  readonly lastMs: number;
}

export interface RejectionReport {
  /** Start of the current window, epoch milliseconds. */
  readonly windowStartMs: number;
  /** Callers with the most rejected requests first. */
  readonly callers: readonly RejectedCaller[];
  /** Number of counted callers, of which `callers` may be a part. */
  readonly callerCount: number;
  /** Rejected requests of callers that were replaced because the table was full. */
  readonly otherCount: number;
}

/** Windows are hours of the wall clock. */
export const REJECTION_COUNT_WINDOW_MS = 3_600_000;
/** Maximum number of callers in a window. */
const MAX_CALLER_COUNT = 1_000;
/** Number of callers compared for an eviction, so that a flood of callers costs little. */
const EVICTION_SAMPLE_COUNT = 16;

/**
 * Counts the rejected requests of each caller on this node, for operators. Metrics do not contain identities. The
 * number of callers is bounded: a further caller replaces the one with the fewest rejected requests in a sample.
 */
export class RejectionCounts {
  readonly #clock: Clock;
  readonly #maxCount: number;
  #number = 0;
  #current: Window;
  #previous: Window;

  constructor(clock: Clock, maxCount = MAX_CALLER_COUNT) {
    this.#clock = clock;
    this.#maxCount = maxCount;
    this.#current = new Window(maxCount);
    this.#previous = new Window(maxCount);
  }

  count(identity: string, limitedBy: LimitKind): void {
    const nowMs = this.#clock.nowMs();
    this.#advance(nowMs);
    this.#current.count(identity, limitedBy, nowMs);
  }

  /** Returns at most `limit` callers. */
  report(limit: number): RejectionReport {
    this.#advance(this.#clock.nowMs());
    const identities = new Set([...this.#current.callers.keys(), ...this.#previous.callers.keys()]);
    const callers = [...identities].map((identity) => this.#callerOf(identity));
    callers.sort((a, b) => b.current + b.previous - a.current - a.previous || b.lastMs - a.lastMs);
    return {
      windowStartMs: this.#number * REJECTION_COUNT_WINDOW_MS,
      callers: callers.slice(0, limit),
      callerCount: callers.length,
      otherCount: this.#current.otherCount + this.#previous.otherCount,
    };
  }

  /** Returns the counts of a caller; `undefined` if none of its rejected requests are counted. */
  of(identity: string): RejectedCaller | undefined {
    this.#advance(this.#clock.nowMs());
    const found = this.#callerOf(identity);
    return found.current + found.previous === 0 ? undefined : found;
  }

  #callerOf(identity: string): RejectedCaller {
    const [current, previous] = [this.#current, this.#previous].map((window) =>
      window.callers.get(identity),
    );
    const limits: Partial<Record<LimitKind, number>> = {};
    for (const counts of [current, previous])
      for (const [kind, count] of counts?.byLimit ?? []) limits[kind] = (limits[kind] ?? 0) + count;
    return {
      identity,
      current: current?.total ?? 0,
      previous: previous?.total ?? 0,
      limits,
      lastMs: current?.lastMs ?? previous?.lastMs ?? 0,
    };
  }

  /** The window does not change when the clock steps back. */
  #advance(nowMs: number): void {
    const number = Math.floor(nowMs / REJECTION_COUNT_WINDOW_MS);
    if (number <= this.#number) return;
    const isNext = number === this.#number + 1;
    this.#previous = isNext ? this.#current : new Window(this.#maxCount);
    this.#current = new Window(this.#maxCount);
    this.#number = number;
  }
}

interface Counts {
  total: number;
  lastMs: number;
  readonly byLimit: Map<LimitKind, number>;
}

class Window {
  readonly callers = new Map<string, Counts>();
  otherCount = 0;
  readonly #maxCount: number;
  /** Continues where the last sample ended. */
  #sample: MapIterator<[string, Counts]> | undefined;

  constructor(maxCount: number) {
    this.#maxCount = maxCount;
  }

  count(identity: string, limitedBy: LimitKind, nowMs: number): void {
    let counts = this.callers.get(identity);
    if (counts === undefined) {
      if (this.callers.size >= this.#maxCount) this.#evict();
      counts = { total: 0, lastMs: nowMs, byLimit: new Map() };
      this.callers.set(identity, counts);
    }
    counts.total += 1;
    counts.lastMs = nowMs;
    counts.byLimit.set(limitedBy, (counts.byLimit.get(limitedBy) ?? 0) + 1);
  }

  #evict(): void {
    let victim: [string, Counts] | undefined;
    for (let sampled = 0; sampled < EVICTION_SAMPLE_COUNT; sampled += 1) {
      const next = this.#next();
      if (next !== undefined && (victim === undefined || next[1].total < victim[1].total))
        victim = next;
    }
    if (victim === undefined) return;
    this.callers.delete(victim[0]);
    this.otherCount += victim[1].total;
  }

  #next(): [string, Counts] | undefined {
    this.#sample ??= this.callers.entries();
    let next = this.#sample.next();
    if (next.done) {
      this.#sample = this.callers.entries();
      next = this.#sample.next();
    }
    return next.value;
  }
}
