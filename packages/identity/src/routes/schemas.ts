import { OpenApi, SAFE_IN_NAMES } from '@plinth/kernel';
import { type Static, type TEnum, Type } from 'typebox';
import { type IssuedToken, TokenName } from '../model/api-token.js';
import { MAX_NAME_LENGTH, MAX_NAMES, MAX_PERMISSIONS } from '../model/granted.js';

/**
 * `Date` ends in the year 275,760. This limit leaves more than 100,000 years for the current time.
 */
const MAX_EXPIRY_SEC = 4_000_000_000_000;

export const CreateNamedToken = Type.Object({
  token_name: TokenName,
  expiry_secs: Type.Optional(
    OpenApi.nullable(Type.Integer({ minimum: 0, maximum: MAX_EXPIRY_SEC })),
  ),
});
export type CreateNamedToken = Static<typeof CreateNamedToken>;

const texts = (maxItems: number, description: string) =>
  Type.Array(Type.String({ maxLength: MAX_NAME_LENGTH }), { minItems: 1, maxItems, description });
const DATABASES =
  'names of databases, or *; for a system permission, endpoints such as health or metrics, or *';

const GivenPermission = Type.Object(
  {
    resource_type: Type.String({ maxLength: 100, description: 'db or system' }),
    resource_identifier: Type.Optional(texts(MAX_NAMES, DATABASES)),
    resource_names: Type.Optional(
      texts(MAX_NAMES, 'alternative name of resource_identifier, as command lines send it'),
    ),
    actions: texts(10, 'read, write, or * for both; a system permission allows only read'),
  },
  { additionalProperties: false },
);

export const CreateGrantedToken = Type.Object(
  {
    ...CreateNamedToken.properties,
    permissions: Type.Array(GivenPermission, { minItems: 1, maxItems: MAX_PERMISSIONS }),
  },
  { additionalProperties: false },
);
export type CreateGrantedToken = Static<typeof CreateGrantedToken>;

export const DeleteToken = Type.Object({ token_name: Type.String() });
export type DeleteToken = Static<typeof DeleteToken>;

export const TokenObject = Type.Object({
  id: Type.Integer({ minimum: 0 }),
  name: Type.String(),
  token: Type.String({ description: 'the secret, shown only once' }),
  hash: Type.String({ description: 'SHA-512 of the token, 128 hex digits' }),
  created_at: Type.String({ format: 'date-time', description: 'UTC, three fraction digits' }),
  expiry: OpenApi.nullable(Type.String({ format: 'date-time' })),
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

export const { nullable } = OpenApi;
export const time = Type.String({ format: 'date-time' });
export const maybe = Type.Optional;
export const oneOf = <Names extends string[]>(...names: readonly [...Names]): TEnum<Names> =>
  Type.Enum(names);
export const id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
export const login = Type.String({ pattern: '^[\\w.-]{1,100}$' });
export const plan = oneOf('free', 'enterprise');
export const accountType = oneOf('User', 'Organization');

const AppKey = {
  id,
  fingerprint: Type.String(),
  created_at: time,
};

export const IssuedKey = Type.Object({
  ...AppKey,
  pem: maybe(Type.String({ description: 'private key, shown only once' })),
});

const Owner = Type.Object({ login, id, type: maybe(accountType), plan: maybe(plan) });

/** The members that monitoring reads. The other members are the webhook's configuration. */
const hook = Type.Object({
  last_hour: Type.Optional(
    Type.Object(
      {
        deliveries: Type.Integer(),
        failed: Type.Integer(),
        p95_duration: nullable(Type.Number({ description: 'seconds' })),
      },
      { description: 'the newest deliveries of the last hour, at most 2,000' },
    ),
  ),
  history: Type.Optional(
    Type.Object(
      {
        start: time,
        bucket_seconds: Type.Integer(),
        succeeded: Type.Array(Type.Integer()),
        failed: Type.Array(Type.Integer()),
      },
      { description: 'deliveries of the last hours by time bucket, oldest first' },
    ),
  ),
});

const AppFields = {
  id,
  client_id: Type.String(),
  slug: Type.String(),
  name: Type.String(),
  owner: nullable(Owner),
  public_keys: Type.Array(Type.Object(AppKey)),
  hook: nullable(hook),
  created_at: time,
  updated_at: time,
  suspended_at: nullable(time),
};

/** An app as operators see it. */
export const AppRecord = Type.Object(AppFields);
export const NewApp = Type.Object({ ...AppFields, pem: IssuedKey.properties.pem });

const name = Type.String({
  pattern: `^(?=.*\\S)${SAFE_IN_NAMES}{1,64}$`,
  errorMessage: 'invalid name; use a string of 1 to 64 characters',
});
const changeable = {
  slug: maybe(Type.String({ pattern: '^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$' })),
  owner: maybe(nullable(Owner)),
  webhook: maybe(Type.Unknown({ description: 'url, secret, content_type, events, ...' })),
};
const PublicKey = maybe(
  nullable(
    Type.String({ maxLength: 16_384, description: 'PEM; if absent, a key pair is generated' }),
    {
      title: 'Key',
      writeOnly: true,
    },
  ),
);

export const AppChange = Type.Object(
  { name: maybe(name), ...changeable },
  { title: 'App', additionalProperties: false },
);
export const AppRequest = Type.Object(
  { name, ...changeable, public_key: PublicKey },
  { title: 'App', additionalProperties: false },
);
export const KeyRequest = Type.Object({ public_key: PublicKey }, { additionalProperties: false });
export const KeyFormat = Type.Object({
  format: maybe(Type.String({ description: 'pkcs1 or pkcs8 (default)' })),
});
