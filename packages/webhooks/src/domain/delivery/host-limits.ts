/** Token bucket for attempts per second; the burst equals one second of the rate. */
export class AttemptRate {
  readonly #perSec: number;
  #tokens: number;
  #atMs: number;

  constructor(perSec: number, nowMs: number) {
    this.#perSec = perSec;
    this.#tokens = Math.max(1, perSec);
    this.#atMs = nowMs;
  }

  /**
   * Returns the number of milliseconds until the next attempt can start; 0 if it can start
   * immediately.
   */
  delayMs(nowMs: number): number {
    this.#refill(nowMs);
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) / this.#perSec) * 1000);
  }

  take(nowMs: number): void {
    this.#refill(nowMs);
    this.#tokens -= 1;
  }

  #refill(nowMs: number): void {
    const gained = (Math.max(0, nowMs - this.#atMs) / 1000) * this.#perSec;
    this.#tokens = Math.min(Math.max(1, this.#perSec), this.#tokens + gained);
    this.#atMs = nowMs;
  }
}

const BUCKET_MS = 30_000;
const BUCKET_COUNT = 10;
const MIN_ATTEMPT_COUNT = 10;
const MAX_FAILED_SHARE = 0.7;
const OPEN_MS = 30_000;

interface Bucket {
  readonly startMs: number;
  total: number;
  failed: number;
}

/**
 * Circuit breaker of one receiver. Opens when most attempts of the last five minutes failed, and
 * lets one probe through after 30 seconds.
 * Source: webhooks, section 7.4.
 */
export class Breaker {
  readonly #buckets: Bucket[] = [];
  #state: 'closed' | 'open' | 'probing' = 'closed';
  #openUntilMs = 0;

  get state(): 'closed' | 'open' | 'probing' {
    return this.#state;
  }

  delayMs(nowMs: number): number {
    if (this.#state === 'closed') return 0;
    if (this.#state === 'probing') return 1000; // the result of the running probe closes the breaker or opens it again
    return Math.max(0, this.#openUntilMs - nowMs);
  }

  begin(): void {
    if (this.#state === 'open') this.#state = 'probing';
  }

  end(isFailure: boolean, nowMs: number): void {
    if (this.#state === 'probing') {
      if (isFailure) this.#open(nowMs);
      else {
        this.#state = 'closed';
        this.#buckets.length = 0;
      }
      return;
    }
    this.#count(isFailure, nowMs);
    const total = this.#buckets.reduce((sum, bucket) => sum + bucket.total, 0);
    const failed = this.#buckets.reduce((sum, bucket) => sum + bucket.failed, 0);
    if (total >= MIN_ATTEMPT_COUNT && failed / total >= MAX_FAILED_SHARE) this.#open(nowMs);
  }

  /** Ends an attempt whose outcome does not depend on the receiver. Another attempt can then probe it. */
  abort(nowMs: number): void {
    if (this.#state !== 'probing') return;
    this.#state = 'open';
    this.#openUntilMs = nowMs;
  }

  #open(nowMs: number): void {
    this.#state = 'open';
    this.#openUntilMs = nowMs + OPEN_MS;
  }

  #count(isFailure: boolean, nowMs: number): void {
    let last = this.#buckets.at(-1);
    if (last === undefined || nowMs - last.startMs >= BUCKET_MS) {
      last = { startMs: nowMs, total: 0, failed: 0 };
      this.#buckets.push(last);
    }
    last.total += 1;
    if (isFailure) last.failed += 1;
    const oldestMs = nowMs - BUCKET_MS * BUCKET_COUNT;
    while ((this.#buckets[0]?.startMs ?? nowMs) < oldestMs) this.#buckets.shift();
  }
}
