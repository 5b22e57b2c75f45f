import {
  type ApiConventions,
  Cors,
  emptyResponse,
  type HeaderList,
  type HttpHead,
  type HttpResponse,
  type Principal,
  pathOf,
  requestError,
  withHeaders,
} from '@plinth/kernel';
import { AccountsRefused } from '../model/violation.js';
import { ACCOUNTS_REFUSALS } from './description.js';
import {
  AS_PLATFORM_PATH,
  DOCS_PATH,
  isForOperators,
  keyMissing,
  OPERATOR_PATH,
  type RequestAuthenticator,
  unrecognizedUrl,
} from './request-authenticator.js';
import { type ErrorWording, refusalResponse } from './to-wire.js';
import { vendorHeaderNames } from './vendor-headers.js';

/** Browsers may only create tokens. */
const BROWSER_PATH = /^\/v2\/core\/(account_tokens|accounts\/[^/?]+\/person_tokens)(\?|$)/;

/** API conventions of platforms and of their operator. Source: accounts, sections 2.2 to 2.5 and 12. */
export class AccountsConventions implements ApiConventions {
  readonly service = 'accounts';
  readonly refusals = ACCOUNTS_REFUSALS;
  readonly revealsPaths = true;
  readonly paths = ['/v1', '/v2', OPERATOR_PATH, AS_PLATFORM_PATH, DOCS_PATH];
  readonly #authenticator: RequestAuthenticator;
  readonly #wording: ErrorWording;
  readonly #versionHeaders: readonly string[];
  readonly #cors: Cors;

  constructor(authenticator: RequestAuthenticator, wording: ErrorWording) {
    this.#authenticator = authenticator;
    this.#wording = wording;
    this.#versionHeaders = vendorHeaderNames(wording.headerPrefixes, 'version');
    const versions = wording.headerPrefixes.map((prefix) => `${prefix}-Version`);
    const headers = ['Authorization', 'Content-Type', 'Idempotency-Key', ...versions];
    this.#cors = new Cors({ origins: '*', requestHeaders: headers.join(', ') });
  }

  /** Throws `AccountsRefused`, `CredentialUncheckable`. */
  identify(request: HttpHead): Principal {
    const { principal, refusal } = this.#authenticator.of(request);
    if (refusal !== undefined) throw refusal;
    return principal;
  }

  hasOwnCredential(request: HttpHead): boolean {
    const { principal } = this.#authenticator.of(request);
    return principal.kind === 'platform_key' && principal.keyKind === 'secret';
  }

  headers(request: HttpHead): HeaderList {
    const version = this.#authenticator.versionOf(request);
    return [
      ['request-id', this.#authenticator.of(request).requestId],
      ['cache-control', 'no-store'],
      ...(BROWSER_PATH.test(request.url) ? this.#cors.headersFor(request.headers['origin']) : []),
      ...this.#versionHeaders.map((name) => [name, version] as const),
    ];
  }

  errorResponse(error: unknown, request: HttpHead): HttpResponse {
    const isUnknown =
      requestError.is(error, 'not_authenticated') ||
      error === this.#authenticator.of(request).refusal;
    const cause = isUnknown ? this.#refusalOf(request) : error;
    return refusalResponse(cause, request, this.#wording);
  }

  notFoundResponse(request: HttpHead, allowed: readonly string[]): HttpResponse {
    if (allowed.length === 0) return this.errorResponse(unrecognizedUrl(request), request);
    const allow = allowed.join(', ');
    const message = `${request.method} is not allowed here; allowed: ${allow}.`;
    const refusal = new AccountsRefused({ code: 'method_not_allowed', message });
    return withHeaders(this.errorResponse(refusal, request), [['allow', allow]]);
  }

  preflightResponse(request: HttpHead, methods: readonly string[]): HttpResponse | undefined {
    if (!BROWSER_PATH.test(request.url)) return undefined;
    return emptyResponse(204, this.#cors.preflightFor(request, methods));
  }

  /** Returns the first fault of a request without a matching route, in the check order. */
  #refusalOf(request: HttpHead): unknown {
    try {
      if (!isForOperators(request)) {
        refuseEmptySegments(request);
        this.#authenticator.checkHead(request);
      }
      return this.#authenticator.of(request).refusal ?? keyMissing();
    } catch (error) {
      return error;
    }
  }
}

/**
 * Rejects empty path segments: `/v2/core/accounts/` would match the account route with an empty id.
 */
export function refuseEmptySegments(request: HttpHead): void {
  if (/\/(\/|$)/.test(pathOf(request.url))) throw unrecognizedUrl(request);
}
