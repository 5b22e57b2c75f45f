import type { HttpHead, Logger } from '@plinth/kernel';
import type { VendorWords } from '../model/platform/vendor-words.js';

/**
 * Tells the operator once of each vendor word that a client has of its own and answers have not: such a client compares
 * values like `stripe` with what the server calls `vendor`, and finds nothing.
 */
export class ClientWords {
  readonly #word: string;
  readonly #log: Logger;
  /** Words that were not told yet. Nothing is looked at when there are none left. */
  readonly #untold: Set<string>;

  constructor(words: VendorWords, log: Logger) {
    this.#word = words.word;
    this.#log = log;
    this.#untold = new Set(words.others);
  }

  /** `request` came with a valid key. Clients name themselves in their version header or their user agent. */
  look({ headers }: HttpHead): void {
    for (const word of this.#untold) {
      const agent = headers['user-agent']?.toLowerCase() ?? '';
      if (headers[`${word}-version`] === undefined && !agent.startsWith(`${word}/`)) continue;
      this.#untold.delete(word);
      this.#log.warn(
        {
          word: this.#word,
          client_word: word,
          remedy: `set accounts.vendor_word to ${word} if these are your clients`,
        },
        'a client speaks of another vendor word than answers do',
      );
    }
  }
}
