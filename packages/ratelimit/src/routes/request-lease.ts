import type { Clock, HeaderList, Pass } from '@plinth/kernel';
import type { Admission, LimitStore } from '../model/limit-store.js';

/** A response, of version 1 or 2 of HTTP: the latter has a stream that knows whether it was destroyed. */
export interface Followed {
  readonly destroyed?: boolean;
  readonly stream?: { readonly destroyed: boolean };
  once(event: 'close', see: () => void): unknown;
}

/** What one admitted request owes. */
export class RequestLease implements Pass {
  readonly #admission: Admission;
  readonly #isAuthenticated: boolean;
  readonly #headers: () => HeaderList;
  readonly #store: LimitStore;
  readonly #clock: Clock;
  /** Of the handler, while it runs. */
  #startedMs = 0;
  #isFinished = false;

  constructor(at: {
    readonly admission: Admission;
    readonly isAuthenticated: boolean;
    /** About the bucket that was charged, as it is when they are asked for. */
    readonly headers: () => HeaderList;
    readonly store: LimitStore;
    readonly clock: Clock;
  }) {
    this.#admission = at.admission;
    this.#isAuthenticated = at.isAuthenticated;
    this.#headers = at.headers;
    this.#store = at.store;
    this.#clock = at.clock;
  }

  begin(): void {
    if (!this.#admission.plan.chargesCpu) return;
    this.#startedMs = this.#clock.monotonicMs();
    this.#store.watchRunning(this.#admission, () => this.#chargeSoFar());
  }

  settle(status: number): HeaderList {
    this.#chargeSoFar();
    this.#startedMs = 0;
    if (this.#admission.plan.isLongLived) this.#store.releaseSlot(this.#admission);
    // The client had the answer already.
    if (status === 304 && this.#isAuthenticated) this.#store.refund(this.#admission);
    return this.#headers();
  }

  finish(): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#chargeSoFar();
    this.#store.finish(this.#admission);
  }

  /** Finishes with the response, or with the connection if that goes first. */
  followTo(response: Followed): void {
    // The client may have gone while its credential or its counters were asked for; nobody would say so a second time.
    if (response.destroyed || response.stream?.destroyed) this.finish();
    else response.once('close', () => this.finish());
  }

  #chargeSoFar(): void {
    if (this.#startedMs === 0) return;
    const nowMs = this.#clock.monotonicMs();
    const elapsedMs = nowMs - this.#startedMs;
    this.#startedMs = nowMs;
    this.#store.chargeCpu(this.#admission, elapsedMs);
  }
}
