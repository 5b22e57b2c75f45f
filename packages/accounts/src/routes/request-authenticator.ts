import {
  ANONYMOUS,
  CredentialUncheckable,
  type HttpHead,
  type HttpRequest,
  Memo,
  type Principal,
  type PrincipalOf,
  pathOf,
  type Random,
  randomLetters,
  readAuthorization,
  refuseOversize,
} from '@plinth/kernel';
import type { Platform, Platforms } from '../domain/platform/platforms.js';
import { notFound } from '../domain/refusals.js';
import type { RequestContext } from '../domain/request-context.js';
import { readApiVersion, versionDate } from '../model/platform/api-version.js';
import { AccountsRefused } from '../model/violation.js';
import { vendorHeaderNames } from './vendor-headers.js';
import type { VendorWordWarnings } from './vendor-word-warnings.js';

/** Looks up platform keys, which `identity` stores. */
export interface KeyDirectory {
  find(text: string):
    | {
        readonly status: 'valid';
        readonly key: {
          readonly platform: string;
          readonly kind: 'secret' | 'publishable';
          readonly livemode: boolean;
        };
      }
    | { readonly status: 'ended' | 'unknown' };
}

/** Result of authenticating a request head. */
export interface AuthenticatedRequest {
  readonly requestId: string;
  readonly principal: Principal;
  /** Why the credential is not valid; reported only if the path exists. */
  readonly refusal: AccountsRefused | CredentialUncheckable | undefined;
}

export const OPERATOR_PATH = '/ops/v1/accounts';
/** Prefix of the public paths for operators, followed by `/<platform>/<test or live>`. */
export const AS_PLATFORM_PATH = '/ops/v1/as/platform';
export const DOCS_PATH = '/docs/accounts';

const MAX_KNOWN_VERSIONS = 100;

/** Head of a request that a platform key has authorized. */
type PlatformHead = HttpHead & { readonly principal: PrincipalOf<'platform'> };

export interface RequestAuthenticatorDeps {
  readonly keys: KeyDirectory;
  readonly platforms: Pick<Platforms, 'find' | 'defaultVersion'>;
  readonly random: Random;
  readonly headerPrefixes: readonly string[];
  readonly maxBodyBytes: number;
  readonly vendorWordWarnings: Pick<VendorWordWarnings, 'warnAboutAlias'>;
  /** Authenticates an operator's request. Throws `CredentialUncheckable`. */
  findOperator(request: HttpHead): Principal | undefined;
}

/**
 * Authenticates and authorizes requests in the order of section 12: path and method, size, version,
 * key. The credential is read earlier, for the rate limiter, but its faults are reported only after
 * the path has been found.
 */
export class RequestAuthenticator {
  readonly #deps: RequestAuthenticatorDeps;
  readonly #versionHeaders: readonly string[];
  readonly #earlier = new WeakMap<HttpHead, AuthenticatedRequest>();
  /** Cache of parsed version headers, because clients of one release send the same one. */
  readonly #versions = new Memo<string, string>({ maxCount: MAX_KNOWN_VERSIONS });

  constructor(deps: RequestAuthenticatorDeps) {
    this.#deps = deps;
    this.#versionHeaders = vendorHeaderNames(deps.headerPrefixes, 'version');
  }

  of(request: HttpHead): AuthenticatedRequest {
    const earlier = this.#earlier.get(request);
    if (earlier !== undefined) return earlier;
    const authenticated = this.#authenticate(request);
    this.#earlier.set(request, authenticated);
    return authenticated;
  }

  /**
   * Checks size and version, for a path and method that exist (steps 1 and 2 of the order of checks). Throws
   * `AccountsRefused` and `body_too_large`. @returns the version.
   */
  checkHead(request: HttpHead): string | undefined {
    this.refuseSize(request);
    const sent = this.#sentVersion(request);
    return sent === undefined ? undefined : this.#versions.of(sent, readApiVersion);
  }

  /** Checks the size, the version, the platform and the kind of key. Throws as `checkHead` does. */
  contextOf(request: PlatformHead, allows: 'secret' | 'any'): RequestContext {
    const version = this.checkHead(request);
    const { principal } = request;
    const platform = this.#deps.platforms.find(principal.platform);
    if (platform === undefined) throw keyInvalid();
    this.#deps.vendorWordWarnings.warnAboutAlias(request);
    const { settings } = platform;
    if (version === undefined && settings.require_version_header) {
      const message = `The header ${this.#deps.headerPrefixes[0]}-Version is required.`;
      throw new AccountsRefused({ code: 'api_version_required', message });
    }
    if (allows === 'secret' && principal.keyKind !== 'secret') {
      const message = 'A publishable key can only create tokens; use a secret key.';
      throw new AccountsRefused({ code: 'secret_key_required', message });
    }
    const { livemode, keyKind } = principal;
    return this.#context(request, { platform, livemode, keyKind, version });
  }

  /**
   * Returns the context of an operator who acts as the platform in the path without one of its keys. Throws as
   * `checkHead` does, and `not_found`.
   */
  operatorContextOf(request: Omit<HttpRequest, 'body'>): RequestContext {
    const version = this.checkHead(request);
    const { platform: id = '', mode } = request.parameters;
    if (mode !== 'test' && mode !== 'live') throw unrecognizedUrl(request);
    const platform = this.#deps.platforms.find(id);
    if (platform === undefined) throw notFound('platform', id);
    const options = { platform, livemode: mode === 'live', keyKind: 'secret', version } as const;
    return {
      ...this.#context(request, options),
      isOperator: true,
      ifMatch: request.headers['if-match'],
    };
  }

  #context(
    request: HttpHead,
    options: {
      readonly platform: Platform;
      readonly livemode: boolean;
      readonly keyKind: RequestContext['keyKind'];
      readonly version: string | undefined;
    },
  ): RequestContext {
    const { platform, livemode, keyKind, version } = options;
    const { settings } = platform;
    return {
      tenant: { platform: platform.id, livemode },
      settings,
      versionDate: versionDate(version ?? settings.default_api_version),
      requestId: this.of(request).requestId,
      idempotencyKey: '',
      method: request.method,
      path: pathOf(request.url),
      keyKind,
      ip: request.client.address,
      userAgent: request.headers['user-agent'],
    };
  }

  /** Rejects a body with too large a declared length before it is read. Throws `body_too_large`. */
  refuseSize({ headers }: HttpHead, limitBytes = this.#deps.maxBodyBytes): void {
    refuseOversize(Number(headers['content-length'] ?? 0), limitBytes);
  }

  /**
   * Returns the effective version for response headers; an invalid header results in the version of
   * the platform that the key or, for operators, the path names.
   */
  versionOf(request: HttpHead): string {
    try {
      const sent = this.#sentVersion(request);
      if (sent !== undefined) return this.#versions.of(sent, readApiVersion);
    } catch {
      // Reported later, in the check order.
    }
    const { principal } = this.of(request);
    // Without a valid token, the header must not reveal whether a platform exists.
    const inPath = principal.kind === 'admin' ? asPlatform(request)?.platform : undefined;
    const id = principal.kind === 'platform_key' ? principal.platform : inPath;
    const platform = id === undefined ? undefined : this.#deps.platforms.find(id);
    return platform?.settings.default_api_version ?? this.#deps.platforms.defaultVersion;
  }

  #authenticate(request: HttpHead): AuthenticatedRequest {
    const requestId = `req_${randomLetters(this.#deps.random, 14)}`;
    if (isBelow(request, DOCS_PATH)) return { requestId, principal: ANONYMOUS, refusal: undefined };
    try {
      const principal = isForOperators(request)
        ? this.#operator(request)
        : this.#platformKey(request);
      return { requestId, principal, refusal: undefined };
    } catch (error) {
      const isRefusal = error instanceof AccountsRefused || error instanceof CredentialUncheckable;
      if (!isRefusal) throw error;
      return { requestId, principal: ANONYMOUS, refusal: error };
    }
  }

  #operator(request: HttpHead): Principal {
    const operator = this.#deps.findOperator(request);
    if (operator !== undefined) return operator;
    throw new AccountsRefused({
      code: 'operator_token_required',
      message:
        "This path requires the server's admin token; send it as Authorization: Bearer <token>.",
    });
  }

  #platformKey(request: HttpHead): Principal {
    const { authorization } = request.headers;
    const lookup = this.#deps.keys.find(readKey(authorization));
    if (lookup.status === 'valid') {
      const { platform, kind, livemode } = lookup.key;
      return { kind: 'platform_key', platform, keyKind: kind, livemode };
    }
    if (lookup.status === 'unknown') throw keyInvalid();
    const message = 'The API key has expired or was revoked.';
    throw new AccountsRefused({ code: 'api_key_expired', message });
  }

  #sentVersion({ headers }: HttpHead): string | undefined {
    for (const name of this.#versionHeaders) {
      const sent = headers[name];
      if (sent !== undefined) return sent;
    }
    return undefined;
  }
}

function readKey(header: string | undefined): string {
  const shown = readAuthorization(header);
  if (shown === undefined) throw keyMissing();
  const { scheme, credential } = shown;
  if (scheme !== 'bearer' && scheme !== 'basic') throw keyInvalid();
  if (credential === '') throw keyMissing();
  if (scheme === 'bearer') return credential;
  const text = Buffer.from(credential, 'base64').toString();
  return text.split(':', 1)[0] ?? '';
}

/** Whether only operators may use the path. */
export const isForOperators = (request: Pick<HttpHead, 'url'>): boolean =>
  isBelow(request, OPERATOR_PATH) || isBelow(request, AS_PLATFORM_PATH);

/** Whether the path, or its public part for operators, is below `/v1`. */
export function isV1Path(request: Pick<HttpHead, 'url'>): boolean {
  const path = asPlatform(request)?.path ?? pathOf(request.url);
  return path.startsWith('/v1/');
}

/** Returns the platform and the public path of a path below `AS_PLATFORM_PATH`. */
function asPlatform(
  request: Pick<HttpHead, 'url'>,
): { readonly platform: string; readonly path: string } | undefined {
  if (!isBelow(request, AS_PLATFORM_PATH)) return undefined;
  const rest = pathOf(request.url).slice(AS_PLATFORM_PATH.length + 1);
  const [platform = '', _mode, ...segments] = rest.split('/');
  return { platform, path: `/${segments.join('/')}` };
}

export const unrecognizedUrl = ({
  method,
  url,
}: Pick<HttpHead, 'method' | 'url'>): AccountsRefused =>
  new AccountsRefused({
    code: 'unrecognized_url',
    message: `Unrecognized request URL (${method}: ${pathOf(url).slice(0, 500)}).`,
  });

export const keyMissing = (): AccountsRefused =>
  new AccountsRefused({
    code: 'api_key_missing',
    message: 'An API key is required; send it as Authorization: Bearer <key>.',
  });
const keyInvalid = (): AccountsRefused =>
  new AccountsRefused({ code: 'api_key_invalid', message: 'The API key is unknown.' });

export function isBelow({ url }: Pick<HttpHead, 'url'>, path: string): boolean {
  const requestPath = pathOf(url);
  return requestPath === path || requestPath.startsWith(`${path}/`);
}
