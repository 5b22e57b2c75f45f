import { hash } from 'node:crypto';
import { type Permission, type Principal, type Random, UNSAFE_IN_NAMES } from '@plinth/kernel';
import { Type } from 'typebox';

/** The operator's token: made without a credential on a fresh server, replaced by "regenerate", never deleted. */
export const OPERATOR_TOKEN_NAME = '_admin';
export const OPERATOR_TOKEN_ID = 0;

/** A name as `isSafeName` defines it. */
export const TokenName = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: `^[^${UNSAFE_IN_NAMES}]*$`,
});

/** What is kept of a token. Its text is told once, when it is made. */
export interface ApiToken {
  readonly id: number;
  readonly name: string;
  /** SHA-512 of the text, 128 lower-case hex digits. */
  readonly hash: string;
  readonly createdMs: number;
  /** `undefined`: made without a credential. */
  readonly createdByTokenId: number | undefined;
  readonly updatedMs: number | undefined;
  readonly updatedByTokenId: number | undefined;
  /** Valid while this is later than now; `undefined` never expires. */
  readonly expiryMs: number | undefined;
  /** What it allows; `undefined`: everything, as an admin token. */
  readonly permissions: readonly Permission[] | undefined;
}

export interface ListedToken extends ApiToken {
  /** To the minute; `undefined`: never, as far as is known. */
  readonly lastUsedMs: number | undefined;
}

export interface IssuedToken {
  readonly token: ApiToken;
  /** Secret; never stored or logged. */
  readonly text: string;
}

const PREFIX = 'apiv3_';
const SECRET_SIZE_BYTES = 64;
/** Longest text that is looked up at all; a client may present anything. */
const MAX_TEXT_LENGTH = 4096;

/** Source: tsdb-http, "Tokens", format. */
export function makeTokenText(random: Random): string {
  return PREFIX + Buffer.from(random.bytes(SECRET_SIZE_BYTES)).toString('base64url');
}

/** Whether the text is worth a look-up; says nothing about whether there is such a token. */
export function isTokenText(text: string): boolean {
  return text.startsWith(PREFIX) && text.length > PREFIX.length && text.length <= MAX_TEXT_LENGTH;
}

/** Characters of a token behind its prefix. */
export const secretLength = (text: string): number => text.length - PREFIX.length;

/** SHA-512 in lower-case hex. A token holds 512 bits of chance, so that no slow hash is needed. */
export function hashToken(text: string): string {
  return hash('sha512', text, 'hex');
}

const PRINCIPALS = new WeakMap<ApiToken, Principal>();
const TOKENS = new WeakMap<Principal, ApiToken>();

/** The token that a principal was made for; `undefined`: it was made for something else. */
export const tokenOf = (principal: Principal): ApiToken | undefined => TOKENS.get(principal);

/** Whom a token speaks for: the same object each time, by which others remember what they know of it. */
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
