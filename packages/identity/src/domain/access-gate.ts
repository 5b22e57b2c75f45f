import type { Principal } from '@plinth/kernel';
import { NotAuthenticated } from '@plinth/kernel';
import { EndpointDisabled } from '../errors.js';
import type { AdminTokens } from './admin-tokens.js';
import { readCredential } from './credential.js';

/** What the gate looks at: the raw request of any HTTP version, before routing. */
export interface RawRequest {
  readonly method?: string | undefined;
  /** Path and query. */
  readonly url?: string | undefined;
  readonly headers: { readonly authorization?: string | undefined };
  readonly socket?: { readonly remoteAddress?: string | undefined } | undefined;
}

/** Endpoints that can be opened to everyone, by the word of the setting `disable_authz`. */
const OPENABLE_PATHS = {
  health: ['/health', '/api/v1/health'],
  ping: ['/ping'],
  metrics: ['/metrics'],
  ready: ['/ready', '/ops/v1/ready'],
  pprof: ['/debug/pprof/heap'],
} as const satisfies Record<string, readonly string[]>;

export type OpenableEndpoint = keyof typeof OPENABLE_PATHS;

export const TOKEN_PATH = '/api/v3/configure/token';
export const OPERATOR_TOKEN_PATH = `${TOKEN_PATH}/admin`;

/**
 * Decides before routing who a request speaks for and whether it may go on; synchronous, from memory. Paths are
 * compared as they are written: one that only means an open path after decoding needs a token.
 * Source: tsdb-http, "Authentication and authorisation", order of checks.
 */
export class AccessGate {
  readonly #tokens: AdminTokens;
  readonly #isWithoutAuth: boolean;
  readonly #openPaths: ReadonlySet<string>;

  constructor(
    tokens: AdminTokens,
    settings: {
      readonly isWithoutAuth: boolean;
      readonly openEndpoints: readonly OpenableEndpoint[];
    },
  ) {
    this.#tokens = tokens;
    this.#isWithoutAuth = settings.isWithoutAuth;
    this.#openPaths = new Set(
      settings.openEndpoints.flatMap((endpoint) => OPENABLE_PATHS[endpoint]),
    );
  }

  /** Throws `EndpointDisabled`, `CredentialMalformed`, `NotAuthenticated`. */
  check(request: RawRequest): Principal {
    const target = request.url ?? '/';
    const path = pathOf(target);
    if (request.method === 'OPTIONS') return anonymous(request);
    if (this.#isWithoutAuth) {
      if (path.startsWith(TOKEN_PATH)) throw new EndpointDisabled();
      return anonymous(request);
    }
    if (this.#openPaths.has(path) || this.#isFirstToken(request.method, path)) {
      return anonymous(request);
    }
    const text = readCredential(target, request.headers.authorization);
    const token = text === undefined ? undefined : this.#tokens.find(text);
    if (token === undefined) throw new NotAuthenticated();
    return { kind: 'admin', tokenId: token.id, tokenName: token.name };
  }

  /**
   * Making the operator's token needs no token. The exception: when a preset token of another name is in use, an
   * open door would give the server away to whoever comes first.
   */
  #isFirstToken(method: string | undefined, path: string): boolean {
    return (
      method === 'POST' &&
      path === OPERATOR_TOKEN_PATH &&
      (this.#tokens.hasOperator() || !this.#tokens.hasValidToken())
    );
  }
}

function pathOf(target: string): string {
  const queryStart = target.indexOf('?');
  return queryStart === -1 ? target : target.slice(0, queryStart);
}

function anonymous(request: RawRequest): Principal {
  return { kind: 'anonymous', ip: request.socket?.remoteAddress ?? '' };
}
