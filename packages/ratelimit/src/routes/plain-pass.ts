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
  readonly #headerLines: string;

  /** @param headerLines those of the moment in which the request was admitted, as the framework's way writes them. */
  constructor(lease: RequestLease, headerLines: string) {
    this.#lease = lease;
    this.#headerLines = headerLines;
  }

  answered(): string {
    this.#lease.handlerEnded();
    return this.#headerLines;
  }

  finish(): void {
    this.#lease.finish();
  }
}
