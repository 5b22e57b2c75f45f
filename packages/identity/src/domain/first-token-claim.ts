import {
  type Clock,
  GuessGuard,
  type HttpHeaders,
  type Logger,
  networkMatcher,
  type Random,
  splitBind,
} from '@plinth/kernel';
import { identityError } from '../errors.js';
import { isSameCode, makeClaimCode } from '../model/claim-code.js';
import { hostNameOf } from './page-guard.js';

/**
 * The client that may create the first admin token: the owner of the server (`claim`) or the first client (`anyone`).
 */
export type FirstTokenPolicy = 'claim' | 'anyone';

/** Delivers the code to the owner of the server only. */
export interface ClaimCodeDelivery {
  /** Never rejects: if delivery fails, the server can still be claimed from its own machine. */
  deliver(code: string): Promise<void>;
  /** Removes the stored code, including one from an earlier process. Never rejects. */
  withdraw(): Promise<void>;
}

/** Parts of a request that the decision depends on. */
export interface ClaimRequest {
  readonly headers: HttpHeaders;
  readonly socket?: { readonly remoteAddress?: string | undefined } | undefined;
}

/** Requirement for creating the first admin token. */
export type FirstTokenState = 'open' | 'claim_code' | 'anyone';

export const CLAIM_CODE_HEADER = 'x-plinth-claim-code';

/** Headers in which proxies send the client address, in addition to the configured header. */
const PROXY_HEADERS: readonly string[] = [
  ...['forwarded', 'via', 'x-real-ip', 'x-client-ip', 'x-cluster-client-ip', 'client-ip'],
  ...['true-client-ip', 'cf-connecting-ip', 'fastly-client-ip', 'x-original-forwarded-for'],
  ...['fly-client-ip', 'x-azure-clientip', 'x-azure-socketip'],
];
/** A proxy that sends neither headers nor its own host name cannot be distinguished from a local program. */
const NO_CODE_NEEDED =
  'until the first admin token exists, direct requests from this machine need no claim code';
const PROXY_REMEDY =
  'create the token before a proxy or port forwarding on this machine can reach the server, or set server.public_url or server.trusted_proxies';
const FORWARDED_PREFIX = 'x-forwarded';
/**
 * Limits wrong codes from all clients together. A correct code is accepted during a lock, so
 * attackers cannot lock out the owner.
 */
const GUESS_LIMIT = { lockingCount: 30, windowMs: 60_000 };
const ALL_CLIENTS = 'all';

const isLoopback = networkMatcher(['loopback']);

/**
 * Decides who may create the first admin token. Without the claim code, the client must be a program
 * on the same machine with a direct connection, and no other machine may reach the server.
 * Source: tsdb-http, "First token".
 */
export class FirstTokenClaim {
  readonly #policy: FirstTokenPolicy;
  /** Only local programs can reach the server, and no proxy is configured. */
  readonly #isLocal: boolean;
  readonly #proxyHeaders: readonly string[];
  readonly #delivery: ClaimCodeDelivery;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #guesses: GuessGuard;
  #code: string | undefined;

  constructor(deps: {
    readonly policy: FirstTokenPolicy;
    /** Bind address of the server. */
    readonly bind: string;
    /** Whether a setting declares a proxy, even one that adds no header. */
    readonly isBehindProxy: boolean;
    /** Lower-case name of the configured header in which proxies send the client address. */
    readonly proxyHeader: string;
    readonly delivery: ClaimCodeDelivery;
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Logger;
  }) {
    this.#policy = deps.policy;
    const { host } = splitBind(deps.bind);
    this.#isLocal = !deps.isBehindProxy && (host === 'localhost' || isLoopback(host));
    this.#proxyHeaders = [...PROXY_HEADERS, deps.proxyHeader];
    this.#delivery = deps.delivery;
    this.#random = deps.random;
    this.#log = deps.log;
    this.#guesses = new GuessGuard(deps.clock, GUESS_LIMIT);
  }

  /** Call at the start of a server without a token. */
  async open(): Promise<void> {
    if (this.#policy === 'anyone') {
      await this.#delivery.withdraw();
      this.#log.warn(
        { setting: 'server.first_token' },
        'no admin token yet; the first client to connect can create it',
      );
      return;
    }
    this.#code = makeClaimCode(this.#random);
    await this.#delivery.deliver(this.#code);
    if (this.#isLocal) this.#log.info({ remedy: PROXY_REMEDY }, NO_CODE_NEEDED);
  }

  /**
   * Must be called at startup if the server has a token or requires none. Removes the code of an earlier process that
   * stopped before it removed the code.
   */
  async discard(): Promise<void> {
    await this.#delivery.withdraw();
  }

  /** Call when the first token was created through this server. */
  async complete(address: string): Promise<void> {
    this.#log.info({ address }, 'server claimed');
    await this.#close();
  }

  /** Call when another node has created the first token. */
  async completedElsewhere(): Promise<void> {
    if (this.#code !== undefined) await this.#close();
  }

  async #close(): Promise<void> {
    this.#code = undefined;
    await this.#delivery.withdraw();
  }

  /** Returns the requirement for this request, on a server without a token. */
  stateFor(request: ClaimRequest): FirstTokenState {
    if (this.#policy === 'anyone') return 'anyone';
    return this.#isDirect(request) ? 'open' : 'claim_code';
  }

  /** Throws `claim_code_missing`, `claim_code_wrong` and `claims_locked`. */
  check(request: ClaimRequest & { readonly client: { readonly address: string } }): void {
    if (this.stateFor(request) !== 'claim_code') return;
    const code = request.headers[CLAIM_CODE_HEADER];
    if (code === undefined || code.trim() === '') throw identityError('claim_code_missing');
    if (this.#code !== undefined && isSameCode(code, this.#code)) return;
    const lockedMs = this.#guesses.lockedForMs(ALL_CLIENTS);
    if (lockedMs > 0) {
      throw identityError('claims_locked', { seconds: Math.ceil(lockedMs / 1000) });
    }
    this.#guesses.noteFailure(ALL_CLIENTS);
    this.#log.warn({ address: request.client.address }, 'wrong claim code');
    throw identityError('claim_code_wrong');
  }

  /** Whether the request cannot come from another machine or through a proxy. */
  #isDirect({ headers, socket }: ClaimRequest): boolean {
    if (!this.#isLocal || !isLoopback(socket?.remoteAddress ?? '')) return false;
    const host = headers[':authority'] ?? headers['host'];
    return (host === undefined || isLoopbackName(host)) && !this.#isForwarded(headers);
  }

  #isForwarded(headers: HttpHeaders): boolean {
    return (
      this.#proxyHeaders.some((name) => headers[name] !== undefined) ||
      Object.keys(headers).some((name) => name.startsWith(FORWARDED_PREFIX))
    );
  }
}

const isLoopbackName = (host: string): boolean => {
  const name = hostNameOf(host);
  return name === 'localhost' || name.endsWith('.localhost') || isLoopback(name);
};
