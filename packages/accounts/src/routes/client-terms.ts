import type { HttpHead, Logger } from '@plinth/kernel';
import type { VendorTerms } from '../model/platform/vendor-terms.js';

/**
 * Logs each vendor word that clients use but responses do not, once. Such a client compares values
 * like `stripe` with the server's `vendor` and finds no match.
 */
export class ClientTerms {
  readonly #term: string;
  readonly #log: Logger;
  /** Words that were not logged yet. Requests are not inspected once it is empty. */
  readonly #untold: Set<string>;

  constructor(terms: VendorTerms, log: Logger) {
    this.#term = terms.term;
    this.#log = log;
    this.#untold = new Set(terms.others);
  }

  /**
   * Inspects a request with a valid key. Clients identify themselves in their version header or
   * user agent.
   */
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
        'a client uses another vendor word than the configured one',
      );
    }
  }
}
