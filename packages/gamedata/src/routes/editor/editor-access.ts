import { createHash, timingSafeEqual } from 'node:crypto';
import {
  bearerOf,
  type Clock,
  type CountTogether,
  GuessGuard,
  type HttpHead,
  hasExpired,
  requestError,
} from '@plinth/kernel';
import { gameDataError } from '../../errors.js';

/** Request members used for authentication. */
type Asked = Pick<HttpHead, 'headers'> & { readonly client: { readonly key: string } };

const SCOPES = ['read', 'write', 'publish', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** An authenticated editor. */
export interface Actor {
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
}

/** A token that is valid only for the editor. */
export interface EditorToken {
  readonly name: string;
  /** SHA-256 of the token. */
  readonly hash: Uint8Array;
  readonly scopes: ReadonlySet<Scope>;
  readonly expiresMs: number | undefined;
}

export const ALL_SCOPES: ReadonlySet<Scope> = new Set(SCOPES);

const GUESSES = { lockingCount: 10, windowMs: 60_000 } as const;

/**
 * Checks editor tokens and limits guesses per address. A valid token is never rejected because of
 * guesses from the same address.
 * Source: gamedata, section 6.1.
 */
export class EditorAccess {
  readonly #tokens: readonly EditorToken[];
  readonly #clock: Clock;
  readonly #findAdmin: (token: string) => { readonly name: string } | undefined;
  readonly #guesses: GuessGuard;

  constructor(deps: {
    readonly tokens: readonly EditorToken[];
    readonly clock: Clock;
    /** Finds an admin token of the server. */
    readonly findAdmin: (token: string) => { readonly name: string } | undefined;
    readonly countTogether?: CountTogether;
  }) {
    this.#tokens = deps.tokens;
    this.#clock = deps.clock;
    this.#guesses = new GuessGuard(deps.clock, GUESSES, deps.countTogether);
    this.#findAdmin = deps.findAdmin;
  }

  /**
   * Authenticates a request before routing, so that clients without a token cannot detect which
   * paths exist. Throws `not_authenticated`.
   * @param isOpen whether the route is public.
   * @returns `undefined` for an anonymous request to a public route.
   */
  admit(request: Asked, isOpen: boolean): Actor | undefined {
    const { client, headers } = request;
    const { authorization } = headers;
    if (authorization === undefined) {
      if (isOpen) return undefined;
      throw requestError('not_authenticated');
    }
    const actor = this.#find(authorization);
    if (actor !== undefined) return actor;
    this.#refuseGuessing(client.key);
    this.#guesses.noteFailure(client.key);
    if (isOpen) return undefined;
    throw requestError('not_authenticated');
  }

  #find(authorization: string): Actor | undefined {
    const text = bearerOf(authorization);
    if (text === undefined) return undefined;
    const hash = createHash('sha256').update(text).digest();
    const nowMs = this.#clock.nowMs();
    let found: Actor | undefined;
    // Compares with all tokens, so that the duration does not reveal which one matched.
    for (const token of this.#tokens) {
      const isRight = timingSafeEqual(token.hash, hash);
      if (isRight && !hasExpired(token.expiresMs, nowMs)) found = token;
    }
    if (found !== undefined) return found;
    const admin = this.#findAdmin(text);
    return admin && { name: admin.name, scopes: ALL_SCOPES };
  }

  #refuseGuessing(address: string): void {
    const leftMs = this.#guesses.lockedForMs(address);
    if (leftMs > 0)
      throw gameDataError('rate_limited', { retryAfterSec: Math.ceil(leftMs / 1000) });
  }
}

/** Throws `forbidden` if the scope is missing. */
export function requireScope(scopes: ReadonlySet<string>, scope: Scope): void {
  if (!scopes.has(scope)) throw gameDataError('forbidden', { scope });
}

/** Parses `name:sha256:scopes[:last day]`, the format of the setting. */
export function readEditorToken(text: string): EditorToken {
  const [name = '', hash = '', scopes = '', day] = text.split(':');
  const requestedScopes = scopes.split('+');
  return {
    name,
    hash: Buffer.from(hash, 'hex'),
    scopes: new Set(SCOPES.filter((scope) => requestedScopes.includes(scope))),
    // The token is valid until the end of that day.
    expiresMs: day === undefined ? undefined : Date.parse(`${day}T00:00:00Z`) + 86_400_000,
  };
}
