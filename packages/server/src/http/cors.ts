import type { HeaderList } from '@plinth/kernel';

const NONE: HeaderList = [];
const PREFLIGHT: HeaderList = [
  ['access-control-allow-methods', '*'],
  ['access-control-allow-headers', '*'],
  ['access-control-max-age', '86400'],
];
const VARY: HeaderList = [['vary', 'Origin']];
const TO_ALL: HeaderList = [['access-control-allow-origin', '*']];

/**
 * Which web pages may read answers. There are no cookies, so a page that may ask has a token of its own, as with the real
 * system; where no token is asked for, only pages that are named may.
 */
export class Cors {
  readonly #origins: ReadonlySet<string> | undefined;

  /**
   * @param isOpen whether every page may ask as long as none is named.
   * @param origins pages that are named.
   */
  constructor({
    isOpen,
    origins,
  }: {
    readonly isOpen: boolean;
    readonly origins: readonly string[] | undefined;
  }) {
    this.#origins = isOpen && origins === undefined ? undefined : new Set(origins);
  }

  headersFor(origin: string | undefined): HeaderList {
    if (this.#origins === undefined) return TO_ALL;
    if (this.#origins.size === 0) return NONE;
    if (origin === undefined || !this.#origins.has(origin)) return VARY;
    return [...VARY, ['access-control-allow-origin', origin]];
  }

  preflightFor(origin: string | undefined): HeaderList {
    const mayAsk =
      this.#origins === undefined || (origin !== undefined && this.#origins.has(origin));
    return mayAsk ? PREFLIGHT : NONE;
  }
}
