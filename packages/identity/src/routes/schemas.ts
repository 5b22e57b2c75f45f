import type { Static } from 'typebox';
import { Type } from 'typebox';
import type { IssuedToken } from '../model/admin-token.js';

/** Dates end in the year 275,760; what is left above is more than a hundred thousand years. */
const MAX_EXPIRY_SEC = 4_000_000_000_000;

export const CreateNamedToken = Type.Object({
  // What no store, log or terminal would keep as it is; see `isPlainText`.
  token_name: Type.String({ minLength: 1, maxLength: 255, pattern: '^[^\\p{Cc}\\p{Cs}]*$' }),
  expiry_secs: Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: MAX_EXPIRY_SEC }), Type.Null()]),
  ),
});
export type CreateNamedToken = Static<typeof CreateNamedToken>;

export const DeleteToken = Type.Object({ token_name: Type.String() });
export type DeleteToken = Static<typeof DeleteToken>;

export const TokenObject = Type.Object({
  id: Type.Integer({ minimum: 0 }),
  name: Type.String(),
  token: Type.String({ description: 'the secret; shown this once' }),
  hash: Type.String({ description: 'SHA-512 of the token, 128 hex digits' }),
  created_at: Type.String({ format: 'date-time', description: 'UTC, three fraction digits' }),
  expiry: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
});
export type TokenObject = Static<typeof TokenObject>;

export function toTokenObject({ token, text }: IssuedToken): TokenObject {
  return {
    id: token.id,
    name: token.name,
    token: text,
    hash: token.hash,
    created_at: new Date(token.createdMs).toISOString(),
    expiry: token.expiryMs === undefined ? null : new Date(token.expiryMs).toISOString(),
  };
}
