import type { Principal } from '@plinth/kernel';
import type { IdentityClass, PrimaryLimitRules, PrimaryLimits } from './primary-limits.js';

/** An identity whose requests are counted, and its limits. */
export interface Caller {
  /** For example `user:583231`. */
  readonly key: string;
  readonly identityClass: IdentityClass;
  /** Name in refusal messages: `user ID 583231`, or the full address. */
  readonly displayName: string;
  readonly limits: PrimaryLimits;
}

/** Maximum length of a key in a request. */
const MAX_KEY_LENGTH = 256;

const KEY = /^(ip|user|installation|oauth-app|repo|app|token):([!-~]+)$/;

/** Splits a key into its parts; returns `undefined` for an invalid key. */
export function parseKey(
  key: string,
): { readonly identityClass: IdentityClass; readonly id: string } | undefined {
  if (key.length > MAX_KEY_LENGTH) return undefined;
  const [, identityClass, id] = KEY.exec(key) ?? [];
  if (identityClass === undefined || id === undefined) return undefined;
  return { identityClass: identityClass as IdentityClass, id }; // the expression matches only valid classes
}

const SPOKEN: Readonly<Record<Exclude<IdentityClass, 'ip'>, string>> = {
  user: 'user ID ',
  installation: 'installation ID ',
  'oauth-app': 'OAuth app ',
  repo: 'repository ID ',
  app: 'app ID ',
  token: 'token ID ',
};

/** Creates callers from principals. Source: rate-limits, section 3.1. */
export class Callers {
  readonly #rules: PrimaryLimitRules;
  readonly #known = new WeakMap<Principal, Caller>();

  constructor(rules: PrimaryLimitRules) {
    this.#rules = rules;
  }

  /** @param key result of `addressKey`. */
  ofAddress(key: string, address: string): Caller {
    const limits = this.#rules.limitsOf('ip', undefined);
    return { key, identityClass: 'ip', displayName: address, limits };
  }

  /** Returns the caller of a principal; `undefined` for an anonymous principal, which is limited by its address. */
  ofPrincipal(principal: Principal): Caller | undefined {
    if (principal.kind === 'anonymous') return undefined;
    let caller = this.#known.get(principal);
    if (caller === undefined) {
      caller = this.#make(principal);
      this.#known.set(principal, caller);
    }
    return caller;
  }

  /**
   * Creates a caller for another system's request, with the default limits of its class unless a
   * profile is given.
   */
  ofKey(key: string, profile?: Parameters<PrimaryLimitRules['limitsOf']>[1]): Caller | undefined {
    const parts = parseKey(key);
    if (parts === undefined) return undefined;
    const { identityClass, id } = parts;
    const displayName = identityClass === 'ip' ? id : SPOKEN[identityClass] + id;
    return {
      key,
      identityClass,
      displayName,
      limits: this.#rules.limitsOf(identityClass, profile),
    };
  }

  #make(principal: Exclude<Principal, { kind: 'anonymous' }>): Caller {
    const [identityClass, id] = identityOf(principal);
    const profile = 'limits' in principal ? principal.limits : undefined;
    return {
      key: `${identityClass}:${id}`,
      identityClass,
      displayName: SPOKEN[identityClass] + id,
      limits: this.#rules.limitsOf(identityClass, profile),
    };
  }
}

function identityOf(
  principal: Exclude<Principal, { kind: 'anonymous' }>,
): readonly [Exclude<IdentityClass, 'ip'>, string | number] {
  switch (principal.kind) {
    case 'user':
      return ['user', principal.userId];
    case 'installation':
      return ['installation', principal.installationId];
    case 'oauth_app':
      return ['oauth-app', principal.clientId];
    case 'repository':
      return ['repo', principal.repositoryId];
    case 'app':
      return ['app', principal.appId];
    case 'admin':
      return ['token', principal.tokenId];
    case 'grantee':
      return ['token', encodeURI(principal.id)];
    case 'editor':
      return ['token', `gamedata/${principal.name}`];
    case 'platform_key': {
      const mode = principal.livemode ? 'live' : 'test';
      return ['token', `${principal.platform}/${mode}`];
    }
  }
}
