import type { Clock, Logger, Permission, Random } from '@plinth/kernel';
import { Exclusive, hasExpired } from '@plinth/kernel';
import { identityError } from '../errors.js';
import type { ApiToken, IssuedToken, ListedToken } from '../model/api-token.js';
import {
  hashToken,
  isTokenText,
  makeTokenText,
  OPERATOR_TOKEN_ID,
  OPERATOR_TOKEN_NAME,
} from '../model/api-token.js';
import type { TokenStore } from '../storage/token-store.js';
import { LastUsed } from './last-used.js';
import { SharedReading } from './shared-reading.js';

const MAX_TOKEN_COUNT = 10_000;

/** A token supplied by the operator instead of created by the server. */
export interface PresetToken {
  readonly text: string;
  readonly name: string;
  readonly expiryMs: number | undefined;
}

/**
 * Operator tokens and tokens with permissions, kept in memory by the hash of their text and durably
 * in the store. A change becomes visible once it is durable; changes are serialized. Source:
 * tsdb-http, "Authentication and authorization" and "Tokens".
 */
export class ApiTokens {
  readonly #store: TokenStore;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #byName = new Map<string, ApiToken>();
  readonly #byHash = new Map<string, ApiToken>();
  readonly #changes = new Exclusive();
  readonly #reading: SharedReading;
  readonly #lastUsed: LastUsed<number>;

  constructor(deps: {
    store: TokenStore;
    clock: Clock;
    random: Random;
    maxAgeSec: number;
    log?: Logger | undefined;
  }) {
    this.#store = deps.store;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#reading = new SharedReading(deps.clock, deps.maxAgeSec);
    this.#lastUsed = new LastUsed((uses) => deps.store.noteUses(uses), deps.log);
  }

  /** Loads the stored tokens. Call once, before any other method. */
  async load(): Promise<void> {
    await this.#store.migrate();
    await this.refresh();
  }

  /** Reloads tokens that another node may have changed. */
  async refresh(): Promise<void> {
    await this.#changes.run(async () => {
      const startMs = this.#clock.monotonicMs();
      const tokens = await this.#store.readAll();
      this.#reading.note(startMs);
      this.#byName.clear();
      this.#byHash.clear();
      for (const { token } of tokens) this.#show(token);
      this.#lastUsed.load(tokens.map(({ token: { id }, lastUsedMs }) => [id, lastUsedMs]));
    });
  }

  /**
   * Returns the valid token with this text. Costs one SHA-512 (half a microsecond). The look-up
   * compares digests, so its duration reveals nothing about a token's text to an attacker who
   * cannot invert SHA-512. Throws `CredentialUncheckable` when the last reload was too long ago.
   */
  find(text: string): ApiToken | undefined {
    if (!isTokenText(text)) return undefined;
    this.#reading.requireRecent();
    const token = this.#byHash.get(hashToken(text));
    const nowMs = this.#clock.nowMs();
    if (token === undefined || hasExpired(token.expiryMs, nowMs)) return undefined;
    this.#lastUsed.note(token.id, nowMs);
    return token;
  }

  /** Whether a token that `find` returned earlier is still valid: not deleted, replaced or expired. */
  isCurrent({ hash }: ApiToken): boolean {
    const token = this.#byHash.get(hash);
    return token !== undefined && !hasExpired(token.expiryMs, this.#clock.nowMs());
  }

  /** Returns all tokens, including expired ones, ordered by id. */
  list(): readonly ListedToken[] {
    return [...this.#byName.values()]
      .sort((a, b) => a.id - b.id)
      .map((token) => ({ ...token, lastUsedMs: this.#lastUsed.of(token.id) }));
  }

  /** Stores the last-used times. */
  async flushLastUsed(): Promise<void> {
    await this.#lastUsed.flush();
  }

  hasOperator(): boolean {
    return this.#byName.has(OPERATOR_TOKEN_NAME);
  }

  hasValidToken(): boolean {
    const nowMs = this.#clock.nowMs();
    return [...this.#byName.values()].some(({ expiryMs }) => !hasExpired(expiryMs, nowMs));
  }

  /** Throws `token_name_exists`. */
  async createOperator(byTokenId: number | undefined): Promise<IssuedToken> {
    const text = makeTokenText(this.#random);
    return await this.#create({ text, name: OPERATOR_TOKEN_NAME, expiryMs: undefined }, byTokenId);
  }

  /** Throws `token_name_exists` and `token_limit_reached`. */
  async createNamed(newToken: {
    readonly name: string;
    readonly expirySec: number | undefined;
    readonly byTokenId: number | undefined;
    /** Absent for all permissions. */
    readonly permissions?: readonly Permission[] | undefined;
  }): Promise<IssuedToken> {
    const { name, expirySec, byTokenId, permissions } = newToken;
    const createdMs = this.#clock.nowMs();
    const expiryMs = expirySec === undefined ? undefined : createdMs + expirySec * 1000;
    const text = makeTokenText(this.#random);
    return await this.#create({ text, name, expiryMs, permissions }, byTokenId, createdMs);
  }

  /**
   * Adopts the operator's own token, but only on a server without tokens. @returns whether it was
   * adopted.
   */
  async adoptPreset(preset: PresetToken): Promise<boolean> {
    if (this.#byName.size > 0) return false;
    await this.#create(preset, undefined);
    return true;
  }

  /**
   * Replaces the text of the operator token; the old text is invalid from then on. Throws
   * `operator_token_missing`.
   */
  async regenerateOperator(byTokenId: number | undefined): Promise<IssuedToken> {
    return await this.#changes.run(async () => {
      const old = this.#byName.get(OPERATOR_TOKEN_NAME);
      if (old === undefined) throw identityError('operator_token_missing');
      const text = makeTokenText(this.#random);
      const updatedMs = this.#clock.nowMs();
      const token = { ...old, hash: hashToken(text), updatedMs, updatedByTokenId: byTokenId };
      await this.#store.update(token);
      this.#byHash.delete(old.hash);
      this.#lastUsed.forget(old.id);
      this.#show(token);
      return { token, text };
    });
  }

  /** Throws `operator_token_undeletable` and `token_not_found`. */
  async delete(name: string): Promise<void> {
    if (name === OPERATOR_TOKEN_NAME) throw identityError('operator_token_undeletable');
    await this.#changes.run(async () => {
      const token = this.#byName.get(name);
      if (token === undefined) throw identityError('token_not_found', { tokenName: name });
      await this.#store.delete(token);
      this.#byName.delete(name);
      this.#byHash.delete(token.hash);
      this.#lastUsed.forget(token.id);
    });
  }

  async #create(
    newToken: PresetToken & { readonly permissions?: readonly Permission[] | undefined },
    byTokenId: number | undefined,
    createdMs = this.#clock.nowMs(),
  ): Promise<IssuedToken> {
    const { name, text, expiryMs, permissions } = newToken;
    return await this.#changes.run(async () => {
      if (this.#byName.size >= MAX_TOKEN_COUNT) {
        throw identityError('token_limit_reached', { limit: MAX_TOKEN_COUNT });
      }
      const token = await this.#store.insert({
        id: name === OPERATOR_TOKEN_NAME ? OPERATOR_TOKEN_ID : undefined,
        name,
        hash: hashToken(text),
        createdMs,
        createdByTokenId: byTokenId,
        updatedMs: undefined,
        updatedByTokenId: undefined,
        expiryMs,
        permissions,
      });
      if (token === undefined) throw identityError('token_name_exists', { tokenName: name });
      this.#show(token);
      return { token, text };
    });
  }

  #show(token: ApiToken): void {
    this.#byName.set(token.name, token);
    this.#byHash.set(token.hash, token);
  }
}
