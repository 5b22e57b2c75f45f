import type { HttpHeaders, OpenableEndpoint, Principal, RouteAccess } from '@plinth/kernel';
import { requestError } from '@plinth/kernel';
import { identityError } from '../errors.js';
import type { AdminTokens } from './admin-tokens.js';
import { readCredential } from './credential.js';
import type { PageGuard } from './page-guard.js';

/** What the gate looks at: a whole head, or a credential alone. */
export interface CheckedHead {
  readonly headers: HttpHeaders;
  /** Path and query in their normal form. */
  readonly url?: string;
  readonly ip?: string;
  readonly socket?: { readonly localAddress?: string | undefined };
}

export const TOKEN_PATH = '/api/v3/configure/token';
export const OPERATOR_TOKEN_PATH = `${TOKEN_PATH}/admin`;

/**
 * Decides who a request speaks for, and who may use a route; synchronous, from memory. What the route says counts, never
 * the text of the path. Source: tsdb-http, "Authentication and authorisation", order of checks.
 */
export class AccessGate {
  readonly #tokens: AdminTokens;
  readonly #isWithoutAuth: boolean;
  readonly #open: ReadonlySet<OpenableEndpoint>;
  readonly #pages: PageGuard;

  constructor(
    tokens: AdminTokens,
    settings: {
      readonly isWithoutAuth: boolean;
      readonly openEndpoints: readonly OpenableEndpoint[];
      readonly pages: PageGuard;
    },
  ) {
    this.#tokens = tokens;
    this.#isWithoutAuth = settings.isWithoutAuth;
    this.#open = new Set(settings.openEndpoints);
    this.#pages = settings.pages;
  }

  /**
   * Who the request speaks for, before its handler runs: an admin, or nobody in particular where the route lets everybody
   * in. Throws `endpoint_disabled`, `page_refused`, `credential_malformed`, `not_authenticated`.
   * @param access of the route; `undefined`: there is none, which does not show without a token.
   */
  check(request: CheckedHead, access: RouteAccess | undefined): Principal {
    if (access === 'public') return anonymous(request);
    if (this.#isWithoutAuth) {
      if (request.url?.startsWith(TOKEN_PATH)) throw identityError('endpoint_disabled');
      // What reaches this address from a web page has the rights of whoever runs the server.
      this.#pages.refuseStrangers(request);
      return anonymous(request);
    }
    if (access === 'first_token' && this.#isFirstToken()) {
      this.#pages.refuseStrangers(request);
      return anonymous(request);
    }
    if (this.#isOpen(access)) return anonymous(request);
    const text = readCredential(request.url ?? '/', request.headers['authorization']);
    const token = text === undefined ? undefined : this.#tokens.find(text);
    if (token === undefined) throw requestError('not_authenticated');
    return { kind: 'admin', tokenId: token.id, tokenName: token.name };
  }

  /** Whether a request that speaks for `principal` may use a route. Asked where its handler is called; nobody is the default. */
  grants(access: RouteAccess | undefined, principal: Principal | undefined): boolean {
    switch (access) {
      case 'public':
        return true;
      case 'admin':
        return this.#isWithoutAuth || principal?.kind === 'admin';
      case 'first_token':
        return principal?.kind === 'admin' || this.#isFirstToken();
      case 'platform':
        return principal?.kind === 'platform_key';
      case 'app':
      case 'editor':
        return principal?.kind === access;
      case undefined:
        return false;
      default:
        return this.#isOpen(access) || this.grants('admin', principal);
    }
  }

  /** Whether there is no token at all yet, and whoever asks for the first one gets it. */
  isFirstTokenFree(): boolean {
    return !this.#tokens.hasOperator() && !this.#tokens.hasValidToken();
  }

  #isOpen(access: RouteAccess | undefined): boolean {
    return typeof access === 'object' && this.#open.has(access.openable);
  }

  /**
   * Making the operator's token needs no token. The exception: when a preset token of another name is in use, an
   * open door would give the server away to whoever comes first.
   */
  #isFirstToken(): boolean {
    return this.#tokens.hasOperator() || !this.#tokens.hasValidToken();
  }
}

function anonymous(request: CheckedHead): Principal {
  return { kind: 'anonymous', ip: request.ip ?? '' };
}
