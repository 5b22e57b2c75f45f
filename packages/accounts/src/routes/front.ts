import {
  CredentialUncheckable,
  type Principal,
  type Random,
  randomLetters,
  type ServiceFront,
} from '@plinth/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Platforms } from '../domain/platforms.js';
import type { RequestContext } from '../domain/request-context.js';
import { readApiVersion, versionDate } from '../model/api-version.js';
import { AccountsRefused, type Violation } from '../model/violation.js';
import { type HeaderSink, headerOf, type Incoming } from './incoming.js';
import { allowedMethods } from './paths.js';
import { answerRefusal, type ErrorDialect } from './to-wire.js';

/** What the keys of platforms are asked. `identity` keeps them. */
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

/** What is known of a request before it is routed. */
interface Arrival {
  readonly requestId: string;
  readonly principal: Principal;
  /** Why the credential is none; told after the path was found to exist. */
  readonly refusal: AccountsRefused | CredentialUncheckable | undefined;
}

export const OPERATOR_PATH = '/ops/v1/accounts';
export const DOCS_PATH = '/docs/accounts';

const PREFLIGHT_PATH = /^\/v2\/core\/(account_tokens|accounts\/[^/?]+\/person_tokens)(\?|$)/;

const MAX_KNOWN_VERSIONS = 100;

export interface FrontNeeds {
  readonly keys: KeyDirectory;
  readonly platforms: Platforms;
  readonly random: Random;
  readonly dialect: ErrorDialect;
  readonly headerPrefixes: readonly string[];
  readonly maxBodyBytes: number;
  /** Who an operator's request speaks for. Throws when its token is none. */
  checkOperator(request: FastifyRequest): Principal;
}

/**
 * Decides who a request speaks for, in the order of section 12: path and method, size, version, key. The credential
 * is read before routing, for whoever stands in front; what is wrong with it is said after the path was found.
 */
export class AccountsFront implements ServiceFront {
  readonly paths = ['/v2', '/v1/test_helpers', OPERATOR_PATH, DOCS_PATH];
  readonly #needs: FrontNeeds;
  readonly #arrivals = new WeakMap<Incoming, Arrival>();
  /** Headers that were read; clients of one release send the same one. */
  readonly #versions = new Map<string, string>();

  constructor(needs: FrontNeeds) {
    this.#needs = needs;
  }

  authenticate(request: FastifyRequest): Principal {
    return this.principalOf(request);
  }

  /** Throws `CredentialUncheckable`: nobody is to pay for a request of which that is all that is known. */
  principalOf(request: Incoming): Principal {
    const { principal, refusal } = this.#arrivalOf(request);
    if (refusal instanceof CredentialUncheckable) throw refusal;
    return principal;
  }

  hasWrongCredential(request: FastifyRequest): boolean {
    return this.#arrivalOf(request).refusal instanceof AccountsRefused;
  }

  answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return answerRefusal(error, request, reply, this.#needs.dialect);
  }

  answerNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const path = request.url.split('?', 1)[0] ?? '';
    const allowed = allowedMethods(path);
    // A path of the right form that no route took cannot be decoded (`%zz`).
    if (allowed.length === 0 || allowed.includes(request.method)) {
      const message = `Unrecognized request URL (${request.method}: ${path.slice(0, 500)}).`;
      return this.#refuse({ code: 'unrecognized_url', message }, request, reply);
    }
    reply.header('Allow', allowed.join(', '));
    const message = `${request.method} is not allowed here; allowed: ${allowed.join(', ')}.`;
    return this.#refuse({ code: 'method_not_allowed', message }, request, reply);
  }

  setHeaders(request: Incoming, reply: HeaderSink): void {
    reply.header('Request-Id', this.#arrivalOf(request).requestId);
    reply.header('Cache-Control', 'no-store');
    if (PREFLIGHT_PATH.test(request.url)) reply.header('Access-Control-Allow-Origin', '*');
    const version = this.#versionOf(request);
    for (const prefix of this.#needs.headerPrefixes) reply.header(`${prefix}-Version`, version);
  }

  /** Only tokens are made from browsers. */
  answerPreflight(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    if (!PREFLIGHT_PATH.test(request.url)) return this.answerNotFound(request, reply);
    const versions = this.#needs.headerPrefixes.map((prefix) => `${prefix}-Version`);
    return reply
      .code(204)
      .headers({
        'Access-Control-Allow-Methods': 'POST',
        'Access-Control-Allow-Headers': [
          'Authorization',
          'Content-Type',
          'Idempotency-Key',
          ...versions,
        ].join(', '),
      })
      .send();
  }

  /** Steps 1 to 3, for a path that exists. Throws `AccountsRefused`. */
  contextOf(request: Incoming, allows: 'secret' | 'any'): RequestContext {
    this.refuseSize(request);
    const sent = this.#sentVersion(request);
    const version = sent === undefined ? undefined : this.#readVersion(sent);
    const { principal, refusal, requestId } = this.#arrivalOf(request);
    if (refusal !== undefined || principal.kind !== 'platform_key') throw refusal ?? keyMissing();
    const platform = this.#needs.platforms.find(principal.platform);
    if (platform === undefined) throw keyInvalid();
    const { settings } = platform;
    if (version === undefined && settings.require_version_header) {
      const message = `The header ${this.#needs.headerPrefixes[0]}-Version is required.`;
      throw new AccountsRefused({ code: 'api_version_required', message });
    }
    if (allows === 'secret' && principal.keyKind !== 'secret') {
      const message = 'A publishable key can create tokens only; use a secret key.';
      throw new AccountsRefused({ code: 'secret_key_required', message });
    }
    return {
      tenant: { platform: platform.id, livemode: principal.livemode },
      settings,
      versionDate: versionDate(version ?? settings.default_api_version),
      requestId,
      idempotencyKey: '',
      method: request.method,
      path: request.url.split('?', 1)[0] ?? '',
      keyKind: principal.keyKind,
      ip: request.ip,
      userAgent: headerOf(request, 'user-agent'),
    };
  }

  /** Throws when the request's credential is not the operator's. */
  checkOperator(request: FastifyRequest): Principal {
    this.refuseSize(request);
    const { principal, refusal } = this.#arrivalOf(request);
    if (refusal !== undefined) throw refusal;
    return principal;
  }

  /** A body that says that it is too large is not read. */
  refuseSize(request: Incoming, limitBytes = this.#needs.maxBodyBytes): void {
    const length = Number(headerOf(request, 'content-length') ?? 0);
    if (length <= limitBytes) return;
    const message = `The body has more than ${limitBytes} bytes.`;
    throw new AccountsRefused({ code: 'request_too_large', message });
  }

  #refuse(violation: Violation, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return this.answerError(new AccountsRefused(violation), request, reply);
  }

  #arrivalOf(request: Incoming): Arrival {
    const known = this.#arrivals.get(request);
    if (known !== undefined) return known;
    const arrival = this.#arrive(request);
    this.#arrivals.set(request, arrival);
    return arrival;
  }

  #arrive(request: Incoming): Arrival {
    const requestId = `req_${randomLetters(this.#needs.random, 14)}`;
    const anonymous: Principal = { kind: 'anonymous', ip: request.ip };
    if (isBelow(request.url, DOCS_PATH))
      return { requestId, principal: anonymous, refusal: undefined };
    try {
      const principal = isBelow(request.url, OPERATOR_PATH)
        ? this.#operator(request)
        : this.#platformKey(request);
      return { requestId, principal, refusal: undefined };
    } catch (error) {
      const isRefusal = error instanceof AccountsRefused || error instanceof CredentialUncheckable;
      if (!isRefusal) throw error;
      return { requestId, principal: anonymous, refusal: error };
    }
  }

  #operator(request: Incoming): Principal {
    try {
      return this.#needs.checkOperator(request as FastifyRequest); // only the framework routes such paths
    } catch (error) {
      if (error instanceof CredentialUncheckable) throw error;
      throw new AccountsRefused({
        code: 'operator_token_required',
        message: "This path needs the server's admin token: Authorization: Bearer <token>.",
      });
    }
  }

  #platformKey(request: Incoming): Principal {
    const text = readKey(headerOf(request, 'authorization'));
    const found = this.#needs.keys.find(text);
    if (found.status === 'valid') {
      const { platform, kind, livemode } = found.key;
      return { kind: 'platform_key', platform, keyKind: kind, livemode };
    }
    if (found.status === 'unknown') throw keyInvalid();
    const message = 'The key has expired or was revoked.';
    throw new AccountsRefused({ code: 'api_key_expired', message });
  }

  #sentVersion(request: Incoming): string | undefined {
    for (const prefix of this.#needs.headerPrefixes) {
      const sent = headerOf(request, `${prefix.toLowerCase()}-version`);
      if (sent !== undefined) return sent;
    }
    return undefined;
  }

  /** Throws `AccountsRefused`. */
  #readVersion(sent: string): string {
    const known = this.#versions.get(sent);
    if (known !== undefined) return known;
    const version = readApiVersion(sent);
    if (this.#versions.size < MAX_KNOWN_VERSIONS) this.#versions.set(sent, version);
    return version;
  }

  /** The effective version, for the answer's headers; a header that is none is answered in the platform's own. */
  #versionOf(request: Incoming): string {
    try {
      const sent = this.#sentVersion(request);
      if (sent !== undefined) return this.#readVersion(sent);
    } catch {
      // Told when it is its turn.
    }
    const { principal } = this.#arrivalOf(request);
    const id = principal.kind === 'platform_key' ? principal.platform : undefined;
    const platform = id === undefined ? undefined : this.#needs.platforms.find(id);
    return platform?.settings.default_api_version ?? this.#needs.platforms.defaultVersion;
  }
}

function readKey(header: string | undefined): string {
  if (header === undefined || header.trim() === '') throw keyMissing();
  const [, scheme = '', credential = ''] = /^(\S+)\s*(.*)$/s.exec(header.trim()) ?? [];
  if (credential === '')
    throw scheme === 'Bearer' || scheme === 'Basic' ? keyMissing() : keyInvalid();
  if (/^bearer$/i.test(scheme)) return credential;
  if (!/^basic$/i.test(scheme)) throw keyInvalid();
  const text = Buffer.from(credential, 'base64').toString();
  return text.split(':', 1)[0] ?? '';
}

const keyMissing = (): AccountsRefused =>
  new AccountsRefused({
    code: 'api_key_missing',
    message: 'A key is needed: Authorization: Bearer <key>.',
  });
const keyInvalid = (): AccountsRefused =>
  new AccountsRefused({ code: 'api_key_invalid', message: 'The key is not known.' });

const isBelow = (target: string, path: string): boolean =>
  target.startsWith(path) &&
  (target.length === path.length || /^[/?]/.test(target.slice(path.length)));
