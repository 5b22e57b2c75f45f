import type { HttpHead, Logger } from '@plinth/kernel';
import type { VendorTerms } from '../model/platform/vendor-terms.js';

/**
 * Tells the operator once of each vendor word that a client has of its own and answers have not: such a client compares
 * values like `stripe` with what the server calls `vendor`, and finds nothing.
 */
export class ClientTerms {
  readonly #term: string;
  readonly #log: Logger;
  /** Words that were not told yet. Nothing is looked at when there are none left. */
  readonly #untold: Set<string>;

  constructor(terms: VendorTerms, log: Logger) {
    this.#term = terms.term;
    this.#log = log;
    this.#untold = new Set(terms.others);
  }

  /** `request` came with a valid key. Clients name themselves in their version header or their user agent. */
  look({ headers }: HttpHead): void {
    for (const term of this.#untold) {
      const agent = headers['user-agent']?.toLowerCase() ?? '';
      if (headers[`${term}-version`] === undefined && !agent.startsWith(`${term}/`)) continue;
      this.#untold.delete(term);
      this.#log.warn(
        {
          word: this.#term,
          client_word: term,
          remedy: `set accounts.vendor_word to ${term} if these are your clients`,
        },
        'a client speaks of another vendor word than answers do',
      );
    }
  }
}
