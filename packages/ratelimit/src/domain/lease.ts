import type { Clock } from '@plinth/kernel';
import type { Admission, LimitStore } from '../model/limit-store.js';

/** What one admitted request owes until it ends. */
export class Lease {
  readonly #admission: Admission;
  readonly #isAuthenticated: boolean;
  readonly #store: LimitStore;
  readonly #clock: Clock;
  /** Of the handler, while it runs. */
  #startedMs = 0;
  #isFinished = false;

  constructor(at: {
    readonly admission: Admission;
    readonly isAuthenticated: boolean;
    readonly store: LimitStore;
    readonly clock: Clock;
  }) {
    this.#admission = at.admission;
    this.#isAuthenticated = at.isAuthenticated;
    this.#store = at.store;
    this.#clock = at.clock;
  }

  /** Its handler begins. */
  begin(): void {
    if (!this.#admission.plan.chargesCpu) return;
    this.#startedMs = this.#clock.monotonicMs();
    this.#store.watchRunning(this.#admission, () => this.#chargeSoFar());
  }

  /** Its answer is about to be written. */
  settle(status: number): void {
    this.#chargeSoFar();
    this.#startedMs = 0;
    if (this.#admission.plan.isLongLived) this.#store.releaseSlot(this.#admission);
    // The client had the answer already.
    if (status === 304 && this.#isAuthenticated) this.#store.refund(this.#admission);
  }

  /** Work that was done elsewhere. */
  chargeCpu(cpuMs: number): void {
    this.#store.chargeCpu(this.#admission, cpuMs);
  }

  /** The request has ended, in whatever way. Twice is harmless. */
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
