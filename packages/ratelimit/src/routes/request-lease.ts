import type { Clock } from '@plinth/kernel';
import type { Admission, LimitStore } from '../model/limit-store.js';

/** A response, of version 1 or 2 of HTTP: the latter has a stream that knows whether it was destroyed. */
export interface Followed {
  readonly destroyed?: boolean;
  readonly stream?: { readonly destroyed: boolean };
  once(event: 'close', see: () => void): unknown;
}

/** What one admitted request owes; ends by itself when its response does, in whatever way. */
export class RequestLease {
  readonly admission: Admission;
  readonly isAuthenticated: boolean;
  /** Of the bucket that was charged. */
  readonly windowSec: number;
  readonly #store: LimitStore;
  readonly #clock: Clock;
  /** Of the handler, while it runs. */
  #startedMs = 0;
  #isExact = false;
  #isFinished = false;

  constructor(at: {
    readonly admission: Admission;
    readonly isAuthenticated: boolean;
    readonly windowSec: number;
    readonly store: LimitStore;
    readonly clock: Clock;
  }) {
    this.admission = at.admission;
    this.isAuthenticated = at.isAuthenticated;
    this.windowSec = at.windowSec;
    this.#store = at.store;
    this.#clock = at.clock;
  }

  /** A handler that knows what it used says so; its wall time is not charged then. */
  chargeCpu(cpuMs: number): void {
    this.#isExact = true;
    this.#store.chargeCpu(this.admission, cpuMs);
  }

  /** The body has been read and the handler begins. */
  handlerStarts(): void {
    if (!this.admission.plan.chargesCpu) return;
    this.#startedMs = this.#clock.monotonicMs();
    this.#store.watchRunning(this.admission, () => this.#chargeSoFar());
  }

  /** The answer is ready to be written. */
  handlerEnded(): void {
    this.#chargeSoFar();
    this.#startedMs = 0;
    if (this.admission.plan.isLongLived) this.#store.releaseSlot(this.admission);
  }

  /** Takes back the primary cost: the client had the answer already. */
  refund(): void {
    this.#store.refund(this.admission);
  }

  /** Ends with the response, or with the connection if that goes first. */
  followTo(response: Followed): void {
    // The client may have gone while its credential or its counters were asked for; nobody would say so a second time.
    if (response.destroyed || response.stream?.destroyed) this.finish();
    else response.once('close', () => this.finish());
  }

  finish(): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#chargeSoFar();
    this.#store.finish(this.admission);
  }

  #chargeSoFar(): void {
    if (this.#startedMs === 0) return;
    const nowMs = this.#clock.monotonicMs();
    const elapsedMs = nowMs - this.#startedMs;
    this.#startedMs = nowMs;
    if (!this.#isExact) this.#store.chargeCpu(this.admission, elapsedMs);
  }
}
