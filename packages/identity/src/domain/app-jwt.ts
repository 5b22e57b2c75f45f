import { createHash, createPublicKey } from 'node:crypto';
import {
  AppJwtRefused,
  bearerOf,
  type Clock,
  isObject,
  type LimitProfile,
  Memo,
  type Principal,
} from '@plinth/kernel';
import type { App, AppKey, AppSelector } from '../model/app.js';
import { isClientId } from '../model/identity-record.js';
import type { AppDirectory } from './app-directory.js';

export type AppPrincipal = Principal & { readonly kind: 'app' };

export interface AppJwtSettings {
  readonly iatLeewaySec: number;
  readonly expLeewaySec: number;
}

const MAX_TOKEN_SIZE_BYTES = 8192;
/** Same limit as in the real system. Source: webhooks, section 3.1. */
const MAX_LIFE_SEC = 600;
const MAX_VERIFIED_COUNT = 10_000;
const VERIFIED_MS = 60_000;

interface Verified {
  readonly appId: number;
  readonly appVersion: number;
  readonly untilMs: number;
  readonly expSec: number;
}

interface Assertion {
  readonly kid: unknown;
  readonly iss: unknown;
  readonly iat: unknown;
  readonly nbf: unknown;
  readonly exp: unknown;
}

/**
 * Authenticates apps by JSON web token. The checks follow the documented order, because clients see
 * the first failure. Source: webhooks, section 3.
 */
export class AppJwts {
  readonly #apps: AppDirectory;
  readonly #clock: Clock;
  readonly #settings: AppJwtSettings;
  /** Keyed by SHA-256 of the token, so that cache entries cannot be used as credentials. */
  readonly #verified = new Memo<string, Verified>({ maxCount: MAX_VERIFIED_COUNT });

  constructor(deps: {
    readonly apps: AppDirectory;
    readonly clock: Clock;
    readonly settings: AppJwtSettings;
  }) {
    this.#apps = deps.apps;
    this.#clock = deps.clock;
    this.#settings = deps.settings;
  }

  /** @param authorization the unmodified header. Throws `AppJwtRefused`. */
  async authenticate(authorization: string | undefined): Promise<AppPrincipal> {
    const token = bearerOf(authorization);
    if (token === undefined || token.length > MAX_TOKEN_SIZE_BYTES) {
      throw new AppJwtRefused('undecodable');
    }
    const digest = createHash('sha256').update(token).digest('base64');
    const known = await this.#recall(digest);
    if (known !== undefined) return known;
    const assertion = decode(token);
    const app = await this.#issuerOf(assertion);
    if (app.keys.length === 0) throw new AppJwtRefused('key_missing');
    if (!(await isSignedBy(token, app.keys, assertion.kid))) throw new AppJwtRefused('undecodable');
    const expSec = this.#checkTimes(assertion);
    if (app.suspendedMs !== undefined) throw new AppJwtRefused('app_suspended');
    this.#verified.set(digest, {
      appId: app.id,
      appVersion: app.version,
      untilMs: this.#clock.monotonicMs() + VERIFIED_MS,
      expSec,
    });
    return principalOf(app);
  }

  async #recall(digest: string): Promise<AppPrincipal | undefined> {
    const known = this.#verified.get(digest);
    if (known === undefined) return undefined;
    const app = await this.#apps.find({ id: known.appId });
    const isValid =
      app !== undefined &&
      app.version === known.appVersion &&
      known.untilMs > this.#clock.monotonicMs() &&
      known.expSec > this.#clock.nowMs() / 1000;
    if (isValid) return principalOf(app);
    this.#verified.delete(digest);
    return undefined;
  }

  async #issuerOf({ iss }: Assertion): Promise<App> {
    if (iss === undefined || iss === null || iss === '') throw new AppJwtRefused('issuer_missing');
    const selector = selectorOf(iss);
    const app = selector === undefined ? undefined : await this.#apps.find(selector);
    if (app === undefined) throw new AppJwtRefused('app_unknown');
    return app;
  }

  /** @returns the expiry in seconds. */
  #checkTimes({ iat, nbf, exp }: Assertion): number {
    const nowSec = this.#clock.nowMs() / 1000;
    if (typeof iat !== 'number' || iat > nowSec + this.#settings.iatLeewaySec) {
      throw new AppJwtRefused('issued_at_invalid');
    }
    if (
      nbf !== undefined &&
      !(typeof nbf === 'number' && nbf <= nowSec + this.#settings.iatLeewaySec)
    ) {
      throw new AppJwtRefused('not_yet_valid');
    }
    if (typeof exp !== 'number' || exp <= nowSec) throw new AppJwtRefused('expiration_invalid');
    if (exp > nowSec + MAX_LIFE_SEC + this.#settings.expLeewaySec) {
      throw new AppJwtRefused('expiration_too_far');
    }
    return exp;
  }
}

function principalOf(app: App): AppPrincipal {
  const { id: appId, owner } = app;
  if (owner?.plan !== 'enterprise') return { kind: 'app', appId };
  return { kind: 'app', appId, limits: ENTERPRISE };
}

const ENTERPRISE: LimitProfile = {
  isEnterprise: true,
  repositoriesCount: 0,
  usersCount: 0,
  overrides: new Map(),
};

/** Without padding (RFC 7515, section 2). */
const BASE64URL = /^[A-Za-z0-9_-]+$/;

/** Decodes a token without verifying it, only to find the key. */
function decode(token: string): Assertion {
  const parts = token.split('.');
  if (parts.length !== 3 || !parts.every((part) => BASE64URL.test(part))) {
    throw new AppJwtRefused('undecodable');
  }
  const [header, claims] = parts.slice(0, 2).map(readPart);
  if (header?.['alg'] !== 'RS256' || claims === undefined) throw new AppJwtRefused('undecodable');
  return {
    kid: header['kid'],
    iss: claims['iss'],
    iat: claims['iat'],
    nbf: claims['nbf'],
    exp: claims['exp'],
  };
}

function readPart(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Accepts an app id as a number or decimal string, or a client id. */
function selectorOf(iss: unknown): AppSelector | undefined {
  const text = typeof iss === 'number' ? String(iss) : iss;
  if (typeof text !== 'string') return undefined;
  if (/^[1-9]\d{0,15}$/.test(text)) {
    const id = Number(text);
    return Number.isSafeInteger(id) ? { id } : undefined;
  }
  return isClientId(text) ? { client_id: text } : undefined;
}

async function isSignedBy(token: string, keys: readonly AppKey[], kid: unknown): Promise<boolean> {
  // Loaded with the first token, so that servers without apps do not load it at startup.
  const { compactVerify } = await import('jose');
  const hinted = [...keys].sort(
    (a, b) => Number(b.fingerprint === kid) - Number(a.fingerprint === kid),
  );
  for (const { publicKey } of hinted) {
    try {
      await compactVerify(token, createPublicKey(publicKey), { algorithms: ['RS256'] });
      return true;
    } catch {
      // Not signed with this key; try the next one.
    }
  }
  return false;
}
