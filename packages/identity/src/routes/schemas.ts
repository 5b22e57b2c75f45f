import { type Static, type TSchema, Type } from 'typebox';
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

const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const time = Type.String({ format: 'date-time' });
const maybe = Type.Optional;
const oneOf = (...names: readonly string[]): TSchema => Type.String({ enum: names });
const id = Type.Integer({ minimum: 1 });
const some = Type.Object({});

export const Owner = Type.Object({
  login: Type.String({ pattern: '^[\\w.-]{1,100}$' }),
  id,
  type: maybe(oneOf('User', 'Organization')),
  plan: maybe(oneOf('free', 'enterprise')),
});

const AppKey = {
  id,
  fingerprint: Type.String(),
  created_at: time,
};

export const IssuedKey = Type.Object({
  ...AppKey,
  pem: maybe(Type.String({ description: 'private key, shown this once' })),
});

const AppFields = {
  id,
  client_id: Type.String(),
  slug: Type.String(),
  name: Type.String(),
  owner: nullable(Owner),
  public_keys: Type.Array(Type.Object(AppKey)),
  hook: nullable(some),
  created_at: time,
  updated_at: time,
  suspended_at: nullable(time),
};

/** As operators see it. */
export const AppRecord = Type.Object(AppFields);
export const NewApp = Type.Object({ ...AppFields, pem: IssuedKey.properties.pem });

export const AppChange = Type.Object({
  name: maybe(Type.String({ minLength: 1, maxLength: 64 })),
  slug: maybe(Type.String({ pattern: '^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$' })),
  owner: maybe(nullable(Owner)),
  webhook: maybe(Type.Object({}, { description: 'url, secret, content_type, events, ...' })),
});

const PublicKey = maybe(
  nullable(Type.String({ maxLength: 16_384, description: 'PEM; without it a pair is made' })),
);
export const KeyRequest = Type.Object({ public_key: PublicKey });
export const AppRequest = Type.Object({
  ...AppChange.properties,
  name: Type.String({ minLength: 1, maxLength: 64 }),
  public_key: PublicKey,
});

export const KeyFormat = Type.Object({ format: maybe(oneOf('pkcs8', 'pkcs1')) });

/** Attributes differ by kind. */
const Attributes = {
  login: maybe(Type.String()),
  plan: maybe(oneOf('free', 'enterprise')),
  organizations: maybe(Type.Array(id)),
  users_count: maybe(Type.Integer({ minimum: 0 })),
  app_id: maybe(id),
  account: maybe(some),
  repositories_count: maybe(Type.Integer({ minimum: 0 })),
  owner: maybe(some),
  approved_by: maybe(Type.Array(id)),
  overrides: maybe(
    Type.Object({}, { description: 'by resource: exempt, or a limit and its window in seconds' }),
  ),
};

export const IdentityChange = Type.Object({
  ...Attributes,
  secret: maybe(Type.String({ minLength: 8, maxLength: 255, description: 'of an OAuth app' })),
});
const Registered = {
  kind: oneOf('user', 'organization', 'installation', 'oauth_app', 'repository'),
  id: maybe(Type.Union([id, Type.String()])),
};
export const IdentityRequest = Type.Object({ ...Registered, ...IdentityChange.properties });
export const RegisteredIdentity = Type.Object({
  key: Type.String({ examples: ['user:583231'] }),
  ...Registered,
  ...Attributes,
  created_at: time,
  updated_at: time,
});
export const NewIdentity = Type.Object({
  ...RegisteredIdentity.properties,
  secret: maybe(Type.String({ description: 'shown this once' })),
});

const CredentialFields = {
  kind: oneOf('personal', 'oauth', 'app_user', 'installation', 'workflow'),
  identity: Type.String({ examples: ['user:583231', 'installation:7', 'repo:1'] }),
};
export const CredentialRequest = Type.Object({
  ...CredentialFields,
  via_app: maybe(Type.Union([id, Type.String()])),
  expires_in: maybe(Type.Integer({ minimum: 1, description: 'seconds' })),
});
export const IssuedCredential = Type.Object({
  id,
  token: Type.String({ description: 'shown this once' }),
  ...CredentialFields,
  via_app: nullable(Type.String()),
  expires_at: nullable(time),
});
