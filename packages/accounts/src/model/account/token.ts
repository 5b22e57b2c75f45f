import type { Tenant } from '../platform/tenant.js';
import { timestamp } from '../timestamps.js';

export type TokenKind = 'person' | 'account';

/**
 * Content of a token and the origin of the request that created it; attestations refer to this
 * request.
 */
export interface TokenPayload {
  /** Fields of the request that created the token. */
  readonly given: unknown;
  readonly ip: string;
  readonly user_agent?: string;
}

export interface StoredToken {
  readonly id: string;
  readonly kind: TokenKind;
  readonly tenant: Tenant;
  /** Present in a person token. */
  readonly accountId: string | undefined;
  readonly createdMs: number;
  readonly expiresMs: number;
  readonly usedMs: number | undefined;
  /** Removed once the token is used or has expired. */
  readonly payload: TokenPayload | undefined;
}

export const TOKEN_PREFIX: Readonly<Record<TokenKind, string>> = {
  person: 'perstok_',
  account: 'accttok_',
};

const V1_PREFIX = /^(ct|cpt|tok|btok|pii|cvctok)_/;

/** Whether the id belongs to a v1 token. Source: accounts, section 9.3. */
export const isV1Token = (id: string): boolean => V1_PREFIX.test(id);

/** Returns a token as sent to clients. Source: accounts, sections 9.2 and 9.3. */
export function tokenObject(token: StoredToken): Record<string, unknown> {
  return {
    id: token.id,
    object: token.kind === 'person' ? 'v2.core.account_person_token' : 'v2.core.account_token',
    created: timestamp(token.createdMs),
    expires_at: timestamp(token.expiresMs),
    livemode: token.tenant.livemode,
    used: token.usedMs !== undefined,
  };
}
