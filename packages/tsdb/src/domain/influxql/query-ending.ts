import { tsdbError } from '../../errors.js';

/** Ends a query when its client leaves or somebody kills it. The signal is made when it is looked at: short queries do without. */
export class QueryEnding {
  readonly #client: { readonly signal: AbortSignal };
  #controller: AbortController | undefined;
  #leaving: AbortSignal | undefined;
  #isKilled = false;

  constructor(client: { readonly signal: AbortSignal }) {
    this.#client = client;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      this.#leaving = this.#client.signal;
      this.#leaving.addEventListener('abort', this.#abort, { once: true });
      if (this.#isKilled || this.#leaving.aborted) this.#abort();
    }
    return this.#controller.signal;
  }

  kill(): void {
    this.#isKilled = true;
    this.#abort();
  }

  /** It has ended by itself. */
  forget(): void {
    this.#leaving?.removeEventListener('abort', this.#abort);
  }

  readonly #abort = (): void => this.#controller?.abort(tsdbError('query_cancelled'));
}
