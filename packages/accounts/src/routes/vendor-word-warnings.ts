import type { HttpHead, Logger } from '@plinth/kernel';
import type { VendorWord } from '../model/platform/vendor-word.js';

/**
 * Logs each vendor name that clients use but responses do not, once. Such a client compares values
 * like `stripe` with the server's `vendor` and finds no match.
 */
export class VendorWordWarnings {
  readonly #vendorWord: string;
  readonly #log: Logger;
  /** Words that have not been logged yet. Once this set is empty, requests are not inspected. */
  readonly #unlogged: Set<string>;

  constructor(vendorWord: VendorWord, log: Logger) {
    this.#vendorWord = vendorWord.word;
    this.#log = log;
    this.#unlogged = new Set(vendorWord.others);
  }

  /**
   * Inspects a request with a valid key. Clients identify themselves in their version header or
   * user agent.
   */
  warnAboutAlias({ headers }: HttpHead): void {
    for (const word of this.#unlogged) {
      const agent = headers['user-agent']?.toLowerCase() ?? '';
      if (headers[`${word}-version`] === undefined && !agent.startsWith(`${word}/`)) continue;
      this.#unlogged.delete(word);
      this.#log.warn(
        {
          word: this.#vendorWord,
          client_word: word,
          remedy: `set accounts.vendor_word to ${word} if these are your clients`,
        },
        'a client uses a vendor name other than the configured one',
      );
    }
  }
}
