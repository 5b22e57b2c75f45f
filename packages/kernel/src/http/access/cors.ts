import type { HttpHead } from '../http-request.js';
import type { HeaderList } from '../http-response.js';

export interface CorsTerms {
  /** The origins of pages that may read responses; `*` for all. */
  readonly origins: '*' | readonly string[];
  /** Response headers that pages may read in addition to the CORS-safelisted ones. */
  readonly exposes?: string;
  /** The allowed methods of a preflight, for any path. */
  readonly methods?: string;
  /** The allowed request headers; `asked` allows all headers that the preflight names. */
  readonly requestHeaders: string;
  /** Time for which browsers cache a preflight response. */
  readonly maxAgeSec?: number;
}

const NONE: HeaderList = [];
const VARY: HeaderList = [['vary', 'Origin']];

/** Decides which origins may read responses. Cookies are not used, so a page needs its own credential or reads public data. */
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

  /** Returns the headers for any response. Returns the same list each time when every origin is allowed. */
  headersFor(origin: string | undefined): HeaderList {
    if (this.#origins === undefined) return this.#toAll;
    if (this.#origins.size === 0) return NONE;
    if (origin === undefined || !this.#origins.has(origin)) return VARY;
    return [...VARY, ['access-control-allow-origin', origin], ...this.#exposed];
  }

  /**
   * Returns the additional headers of a preflight response.
   * @param methods methods of the path.
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
