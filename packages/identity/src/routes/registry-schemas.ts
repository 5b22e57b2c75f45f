import { inputCheck, LIMIT, LIMIT_WINDOW } from '@plinth/kernel';
import { type Static, type TSchema, Type } from 'typebox';
import { CREDENTIAL_KINDS, type CredentialKind } from '../model/credential-token.js';
import { accountType, id, login, maybe, nullable, oneOf, plan, time } from './schemas.js';

const MAX_COUNT = 1_000_000_000;
const MAX_EXPIRES_IN_SEC = 3_153_600_000;

const CLOSED = { additionalProperties: false };
const clientId = Type.String({ pattern: '^[\\w.-]{1,100}$' });
const secret = Type.String({
  minLength: 8,
  maxLength: 255,
  writeOnly: true,
  description: 'secret of an OAuth app; shown once if the server generates it',
});
const count = Type.Integer({ minimum: 0, maximum: MAX_COUNT });
const ids = Type.Array(id, { maxItems: 10_000 });
const account = Type.Object({ type: accountType, id }, CLOSED);
const override = Type.Union([
  Type.Literal('exempt'),
  Type.Object({ limit: LIMIT, window: LIMIT_WINDOW }, CLOSED),
]);
const overrides = Type.Record(Type.String(), override, {
  maxProperties: 100,
  description: 'by resource: exempt, or a limit and its window in seconds',
});

/**
 * Attributes of each kind registered here; apps have their own registry. Source: rate-limits,
 * section 3.2.
 */
const ATTRIBUTES = {
  user: { login, plan, organizations: ids, overrides },
  organization: { login, plan, users_count: count, overrides },
  installation: { app_id: id, account, repositories_count: count, overrides },
  oauth_app: { owner: account, approved_by: ids, overrides },
  repository: { owner: account, overrides },
};
export type RegisteredKind = keyof typeof ATTRIBUTES;
const KINDS = Object.keys(ATTRIBUTES) as readonly RegisteredKind[]; // the names above

export const isRegisteredKind = (kind: unknown): kind is RegisteredKind =>
  KINDS.some((known) => known === kind);

const mapped = (kind: RegisteredKind, change: (schema: TSchema) => TSchema) =>
  Object.fromEntries(
    Object.entries(ATTRIBUTES[kind]).map(([name, schema]) => [name, maybe(change(schema))]),
  );
const OPTIONS = { ...CLOSED, title: 'Identity' };

const newIdentity = (kind: RegisteredKind): TSchema => {
  const own =
    kind === 'oauth_app'
      ? { id: maybe(clientId), client_id: maybe(clientId), secret: maybe(secret) }
      : { id };
  return Type.Object(
    { kind: Type.Literal(kind), ...own, ...mapped(kind, (schema) => schema) },
    OPTIONS,
  );
};
/** `null` removes an attribute. */
const changeOf = (kind: RegisteredKind): TSchema =>
  Type.Object(
    { ...mapped(kind, nullable), ...(kind === 'oauth_app' && { secret: maybe(secret) }) },
    OPTIONS,
  );

const checks = (schemaOf: (kind: RegisteredKind) => TSchema) =>
  new Map(KINDS.map((kind) => [kind, inputCheck('body', schemaOf(kind))]));
/** Checks by kind. Each throws `RequestInvalid`. */
export const NEW_CHECKS = checks(newIdentity);
export const CHANGE_CHECKS = checks(changeOf);

export const IdentityRequest = Type.Union(KINDS.map(newIdentity));
export const IdentityChange = Type.Union(KINDS.map(changeOf));
export const RegisteredIdentity = Type.Object({
  key: Type.String({ examples: ['user:583231'] }),
  kind: oneOf(...KINDS),
  id: Type.Union([id, clientId]),
  ...Object.assign({}, ...KINDS.map((kind) => mapped(kind, (schema) => schema))),
  created_at: time,
  updated_at: time,
});
export const NewIdentity = Type.Object({
  ...RegisteredIdentity.properties,
  secret: maybe(Type.String({ description: 'shown only once' })),
});

/** Identity keys that each kind of credential may authenticate. */
export const IDENTITY_PATTERNS: Readonly<Record<CredentialKind, RegExp>> = {
  personal: /^user:[1-9]\d{0,15}$/,
  oauth: /^user:[1-9]\d{0,15}$/,
  app_user: /^user:[1-9]\d{0,15}$/,
  installation: /^installation:[1-9]\d{0,15}$/,
  workflow: /^repo:[1-9]\d{0,15}$/,
};
const CredentialFields = {
  kind: oneOf(...CREDENTIAL_KINDS),
  identity: Type.String({ examples: ['user:583231', 'installation:7', 'repo:1'] }),
};
/** The id of an app, or its identity key. */
const viaApp = Type.Union([
  id,
  Type.String({ pattern: '^(?:(?:app|oauth-app):)?[\\w.-]{1,100}$' }),
]);
export const CredentialRequest = Type.Object(
  {
    ...CredentialFields,
    via_app: maybe(viaApp),
    expires_in: maybe(
      Type.Integer({ minimum: 1, maximum: MAX_EXPIRES_IN_SEC, description: 'seconds' }),
    ),
  },
  { ...CLOSED, title: 'Credential' },
);
export type CredentialRequest = Static<typeof CredentialRequest>;
export const IssuedCredential = Type.Object({
  id,
  token: Type.String({ description: 'shown only once' }),
  ...CredentialFields,
  via_app: nullable(Type.String()),
  expires_at: nullable(time),
});
