import { timingSafeEqual } from 'node:crypto';
import {
  type Clock,
  hasExpired,
  Memo,
  type Principal,
  readAuthorization,
  requestError,
} from '@plinth/kernel';
import { principalOf } from '../model/api-token.js';
import { hashCredential, isCredentialText } from '../model/credential-token.js';
import { isClientId, keyOf } from '../model/identity-record.js';
import type { ApiTokens } from './api-tokens.js';
import type { AppJwts } from './app-jwt.js';
import type { PlatformKeys } from './platform-keys.js';
import type { Registry } from './registry.js';
import type { StoreFailure } from './store-failure.js';

const MAX_REMEMBERED_COUNT = 100_000;
const MAX_HEADER_LENGTH = 8_192;

interface Remembered {
  readonly principal: Principal;
  readonly untilMs: number;
  readonly version: number;
}

interface Found {
  readonly principal: Principal;
  readonly expiresMs: number | undefined;
}

export interface CredentialResolverDeps {
  readonly registry: Registry;
  readonly tokens: ApiTokens;
  readonly platformKeys: PlatformKeys;
  readonly appJwts: AppJwts;
  readonly clock: Clock;
  readonly storeFailure: StoreFailure;
  /** Prefix of every token. */
  readonly vendor: string;
}

/**
 * Resolves every kind of credential that this server issues. Credentials of registered users
 * are cached for half a minute, so that most requests resolve synchronously. Source: rate-limits,
 * section 3.1.
 */
export class CredentialResolver {
  readonly #deps: CredentialResolverDeps;
  /** Keyed by SHA-256 of the header, so that cache entries cannot be used as credentials. */
  readonly #remembered = new Memo<string, Remembered>({ maxCount: MAX_REMEMBERED_COUNT });

  constructor(deps: CredentialResolverDeps) {
    this.#deps = deps;
  }

  /**
   * @param authorization the unmodified header. Throws `not_authenticated`, `AppJwtRefused` for an
   * app's token, and `CredentialUncheckable` while a store is unavailable.
   */
  resolve(authorization: string): Principal | Promise<Principal> {
    if (authorization.length > MAX_HEADER_LENGTH) throw requestError('not_authenticated');
    const digest = hashCredential(authorization);
    const known = this.#remembered.get(digest);
    if (known !== undefined) {
      if (known.version === this.#version && known.untilMs > this.#deps.clock.nowMs()) {
        return known.principal;
      }
      this.#remembered.delete(digest);
    }
    return this.#lookUp(authorization, digest);
  }

  get #version(): number {
    return this.#deps.registry.version;
  }

  async #lookUp(authorization: string, digest: string): Promise<Principal> {
    // Read before the look-up, so that the result is not cached if a change occurs during the look-up.
    const version = this.#version;
    const found = await this.#deps.storeFailure.notice(this.#find(authorization));
    if (found === undefined) throw requestError('not_authenticated');
    const { principal, expiresMs } = found;
    const nowMs = this.#deps.clock.nowMs();
    const untilMs = Math.min(
      expiresMs ?? Number.POSITIVE_INFINITY,
      nowMs + this.#deps.registry.rememberMs,
    );
    if (!hasExpired(expiresMs, nowMs) && isRemembered(principal)) {
      this.#remembered.set(digest, { principal, untilMs, version });
    }
    return principal;
  }

  async #find(authorization: string): Promise<Found | undefined> {
    const { scheme, credential: text = '' } = readAuthorization(authorization) ?? {};
    switch (scheme) {
      case 'bearer':
        // A JSON web token has two dots; tokens of this server have none.
        if (text.split('.').length === 3) {
          return withoutExpiry(await this.#deps.appJwts.authenticate(authorization));
        }
        return await this.#findToken(text);
      case 'token':
        return await this.#findToken(text);
      case 'basic':
        return await this.#findBasic(text);
      default:
        return undefined;
    }
  }

  async #findToken(text: string): Promise<Found | undefined> {
    const { registry, tokens, platformKeys, clock, vendor } = this.#deps;
    if (isCredentialText(text, vendor)) {
      const credential = await registry.findCredential(text);
      if (credential === undefined) return undefined;
      const { expiresMs } = credential;
      if (hasExpired(expiresMs, clock.nowMs())) return undefined;
      return { principal: await registry.principalOf(credential), expiresMs };
    }
    const token = tokens.find(text);
    if (token !== undefined) {
      return withoutExpiry(principalOf(token));
    }
    const found = platformKeys.find(text);
    if (found.status !== 'valid') return undefined;
    const { platform, kind, livemode } = found.key;
    return withoutExpiry({ kind: 'platform_key', platform, keyKind: kind, livemode });
  }

  /** Accepts a token as user name or password, or client id and secret of an OAuth app. */
  async #findBasic(text: string): Promise<Found | undefined> {
    const decoded = Buffer.from(text, 'base64').toString();
    const colon = decoded.indexOf(':');
    if (colon === -1) return undefined;
    const name = decoded.slice(0, colon);
    const password = decoded.slice(colon + 1);
    return (
      (await this.#findOauthApp(name, password)) ??
      (await this.#findToken(password)) ??
      (await this.#findToken(name))
    );
  }

  async #findOauthApp(clientId: string, secret: string): Promise<Found | undefined> {
    const { registry } = this.#deps;
    if (!isClientId(clientId)) return undefined;
    const record = await registry.findRecord(keyOf('oauth_app', clientId));
    if (record?.secretHash === undefined) return undefined;
    const hash = Buffer.from(hashCredential(secret));
    if (!timingSafeEqual(hash, Buffer.from(record.secretHash))) return undefined;
    return withoutExpiry({
      kind: 'oauth_app',
      clientId,
      limits: await registry.profileOf(record.key),
    });
  }
}

const withoutExpiry = (principal: Principal): Found => ({ principal, expiresMs: undefined });

/** The other kinds are always in memory and become invalid immediately when they are revoked. */
const isRemembered = ({ kind }: Principal): boolean =>
  kind === 'user' || kind === 'installation' || kind === 'repository' || kind === 'oauth_app';
