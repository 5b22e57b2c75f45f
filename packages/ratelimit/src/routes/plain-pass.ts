import type { PlainPass } from '@plinth/kernel';
import type { RequestLease } from './request-lease.js';

/** Of a request that nothing is counted of. */
export const UNLIMITED_PASS: PlainPass = {
  answered: () => '',
  finish() {},
};

/** What the hooks of the framework do with a lease, for a request that has not come through it. */
export class LimitedPass implements PlainPass {
  readonly #lease: RequestLease;
  readonly #writeHeaders: () => string;
  /** Those of the moment in which the request was admitted, as the framework's way writes them. */
  readonly #headerLines: string;

  constructor(lease: RequestLease, writeHeaders: () => string) {
    this.#lease = lease;
    this.#writeHeaders = writeHeaders;
    this.#headerLines = writeHeaders();
  }

  answered(status: number): string {
    const lease = this.#lease;
    lease.handlerEnded();
    if (status !== 304 || !lease.isAuthenticated) return this.#headerLines;
    lease.refund();
    return this.#writeHeaders();
  }

  finish(): void {
    this.#lease.finish();
  }
}
