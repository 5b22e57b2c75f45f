import type { HttpHead, Logger } from '@plinth/kernel';
import type { VendorTerms } from '../model/platform/vendor-terms.js';

/**
 * Logs each vendor word that clients use but responses do not, once. Such a client compares values
 * like `stripe` with the server's `vendor` and finds no match.
 */
export class ClientTerms {
  readonly #vendorWord: string;
  readonly #log: Logger;
  /** Words that were not logged yet. Requests are not inspected once it is empty. */
  readonly #unlogged: Set<string>;

  constructor(terms: VendorTerms, log: Logger) {
    this.#vendorWord = terms.term;
    this.#log = log;
    this.#unlogged = new Set(terms.others);
  }

  /**
   * Inspects a request with a valid key. Clients identify themselves in their version header or
   * user agent.
   */
  warnAboutAlias({ headers }: HttpHead): void {
    for (const term of this.#unlogged) {
      const agent = headers['user-agent']?.toLowerCase() ?? '';
      if (headers[`${term}-version`] === undefined && !agent.startsWith(`${term}/`)) continue;
      this.#unlogged.delete(term);
      this.#log.warn(
        {
          word: this.#vendorWord,
          client_word: term,
          remedy: `set accounts.vendor_word to ${term} if these are your clients`,
        },
        'a client uses another vendor word than the configured one',
      );
    }
  }
}
