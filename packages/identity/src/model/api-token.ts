import { hash } from 'node:crypto';
import { type Permission, type Principal, type Random, SAFE_IN_NAMES } from '@plinth/kernel';
import { Type } from 'typebox';

/**
 * Operator token: created without a credential on a new server, replaced by "regenerate", never
 * deleted.
 */
export const OPERATOR_TOKEN_NAME = '_admin';
export const OPERATOR_TOKEN_ID = 0;

/** A name that `isSafeName` accepts. */
export const TokenName = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: `^${SAFE_IN_NAMES}*$`,
});

/** Stored form of a token. Its text is returned once, on creation. */
export interface ApiToken {
  readonly id: number;
  readonly name: string;
  /** SHA-512 of the text, 128 lower-case hex digits. */
  readonly hash: string;
  readonly createdMs: number;
  /** `undefined` if created without a credential. */
  readonly createdByTokenId: number | undefined;
  readonly updatedMs: number | undefined;
  readonly updatedByTokenId: number | undefined;
  /** The token is valid until this time; `undefined` for a token that never expires. */
  readonly expiryMs: number | undefined;
  /** Granted permissions; `undefined` for all, as for an admin token. */
  readonly permissions: readonly Permission[] | undefined;
}

export interface ListedToken extends ApiToken {
  /** Accurate to the minute; `undefined` if no use is known. */
  readonly lastUsedMs: number | undefined;
}

export interface IssuedToken {
  readonly token: ApiToken;
  /** Secret; never stored or logged. */
  readonly text: string;
}

const PREFIX = 'apiv3_';
const SECRET_SIZE_BYTES = 64;
/** A longer text is rejected without a look-up. */
const MAX_TEXT_LENGTH = 4096;

/** Generates a token text. Source: tsdb-http, "Tokens", format. */
export function makeTokenText(random: Random): string {
  return PREFIX + Buffer.from(random.bytes(SECRET_SIZE_BYTES)).toString('base64url');
}

/** Whether the text has the form of a token. Does not check that the token exists. */
export function isTokenText(text: string): boolean {
  return text.startsWith(PREFIX) && text.length > PREFIX.length && text.length <= MAX_TEXT_LENGTH;
}

/** Returns the number of characters after the prefix. */
export const secretLength = (text: string): number => text.length - PREFIX.length;

/** Returns the SHA-512 in lower-case hex. A token has 512 random bits, so a slow hash is not needed. */
export function hashToken(text: string): string {
  return hash('sha512', text, 'hex');
}

const PRINCIPALS = new WeakMap<ApiToken, Principal>();
const TOKENS = new WeakMap<Principal, ApiToken>();

/** Returns the token behind a principal; `undefined` for principals of other kinds. */
export const tokenOf = (principal: Principal): ApiToken | undefined => TOKENS.get(principal);

/** Returns the principal of a token: the same object each time, so that callers can use it as a cache key. */
export function principalOf(token: ApiToken): Principal {
  let principal = PRINCIPALS.get(token);
  if (principal === undefined) {
    const { id, name, permissions } = token;
    principal =
      permissions === undefined
        ? { kind: 'admin', tokenId: id, tokenName: name }
        : {
            kind: 'grantee',
            id: String(id),
            owner: String(id),
            name,
            permissions,
            isAdministrator: false,
          };
    PRINCIPALS.set(token, principal);
    TOKENS.set(principal, token);
  }
  return principal;
}
