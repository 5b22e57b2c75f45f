import type { HeaderList } from '../http-answer.js';
import type { HttpHead } from '../http-request.js';

export interface CorsTerms {
  /** Of pages that may read answers; `*`: of all. */
  readonly origins: '*' | readonly string[];
  /** Names of headers that pages may read beside those that browsers always show. */
  readonly exposes?: string;
  /** What a preflight allows whatever its path has. */
  readonly methods?: string;
  /** Names of headers that requests may have; `asked`: those that the preflight names. */
  readonly requestHeaders: string;
  /** For how long browsers keep a preflight's answer. */
  readonly maxAgeSec?: number;
}

const NONE: HeaderList = [];
const VARY: HeaderList = [['vary', 'Origin']];

/** Which pages of other origins may read answers. There are no cookies, so a page reads what anybody may, or has a credential of its own. */
export class Cors {
  readonly #terms: CorsTerms;
  readonly #origins: ReadonlySet<string> | undefined;
  readonly #exposed: HeaderList;
  readonly #toAll: HeaderList;

  constructor(terms: CorsTerms) {
    this.#terms = terms;
    this.#origins = terms.origins === '*' ? undefined : new Set(terms.origins);
    this.#exposed =
      terms.exposes === undefined ? NONE : [['access-control-expose-headers', terms.exposes]];
    this.#toAll = [['access-control-allow-origin', '*'], ...this.#exposed];
  }

  /** Of any answer; the same list each time where every page may read it. */
  headersFor(origin: string | undefined): HeaderList {
    if (this.#origins === undefined) return this.#toAll;
    if (this.#origins.size === 0) return NONE;
    if (origin === undefined || !this.#origins.has(origin)) return VARY;
    return [...VARY, ['access-control-allow-origin', origin], ...this.#exposed];
  }

  /**
   * What the answer to a preflight has on top.
   * @param methods that its path has.
   */
  preflightFor({ headers }: HttpHead, methods: readonly string[]): HeaderList {
    const { origin, 'access-control-request-headers': requested } = headers;
    if (this.#origins !== undefined && !this.#origins.has(origin ?? '')) return NONE;
    const { maxAgeSec, requestHeaders } = this.#terms;
    const allowed = requestHeaders === 'asked' ? requested : requestHeaders;
    return [
      ['access-control-allow-methods', this.#terms.methods ?? methods.join(', ')],
      ...(allowed === undefined ? [] : [['access-control-allow-headers', allowed] as const]),
      ...(maxAgeSec === undefined ? [] : [['access-control-max-age', String(maxAgeSec)] as const]),
    ];
  }
}
