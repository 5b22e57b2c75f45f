import type { Clock } from '@plinth/kernel';
import type { Admission, LimitStore } from '../model/limit-store.js';

/** Open charges of one admitted request, until it ends. */
export class RequestCharge {
  readonly #admission: Admission;
  readonly #isAuthenticated: boolean;
  readonly #store: LimitStore;
  readonly #clock: Clock;
  /** Start of the handler; 0 when it is not running. */
  #startedMs = 0;
  #isFinished = false;

  constructor(options: {
    readonly admission: Admission;
    readonly isAuthenticated: boolean;
    readonly store: LimitStore;
    readonly clock: Clock;
  }) {
    this.#admission = options.admission;
    this.#isAuthenticated = options.isAuthenticated;
    this.#store = options.store;
    this.#clock = options.clock;
  }

  /** Starts charging handler time. */
  begin(): void {
    if (!this.#admission.plan.chargesCpu) return;
    this.#startedMs = this.#clock.monotonicMs();
    this.#store.watchRunning(this.#admission, () => this.#chargeSoFar());
  }

  /** Charges the handler time before the response is written. */
  settle(status: number): void {
    this.#chargeSoFar();
    this.#startedMs = 0;
    if (this.#admission.plan.isLongLived) this.#store.releaseSlot(this.#admission);
    // The client already had the response.
    if (status === 304 && this.#isAuthenticated) this.#store.refund(this.#admission);
  }

  /** Charges CPU time that was used elsewhere. */
  chargeCpu(cpuMs: number): void {
    this.#store.chargeCpu(this.#admission, cpuMs);
  }

  /** Ends the request, successful or not. Safe to call twice. */
  finish(): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#chargeSoFar();
    this.#store.finish(this.#admission);
  }

  #chargeSoFar(): void {
    if (this.#startedMs === 0) return;
    const nowMs = this.#clock.monotonicMs();
    const elapsedMs = nowMs - this.#startedMs;
    this.#startedMs = nowMs;
    this.chargeCpu(elapsedMs);
  }
}
