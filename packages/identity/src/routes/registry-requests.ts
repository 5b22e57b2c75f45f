import { type FieldError, ValidationFailed } from '@plinth/kernel';
import type { AttributeChange, NewCredential, NewIdentity } from '../domain/registry.js';
import { CREDENTIAL_KINDS, type CredentialKind } from '../model/credential-token.js';
import {
  type IdentityAttributes,
  type IdentityKind,
  isClientId,
} from '../model/identity-record.js';

type Fields = Readonly<Record<string, unknown>>;

/** Kinds that are registered here; apps have their own registry. */
const KINDS = ['user', 'organization', 'installation', 'oauth_app', 'repository'] as const;
type RegisteredKind = (typeof KINDS)[number];

const MAX_LIST_LENGTH = 10_000;
const MAX_COUNT = 1_000_000_000;
const MAX_OVERRIDE_COUNT = 100;
const MAX_WINDOW_SEC = 31_536_000;
const MAX_EXPIRES_IN_SEC = 3_153_600_000;

const isId = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
const isCount = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_COUNT;
const isIds = (value: unknown): boolean =>
  Array.isArray(value) && value.length <= MAX_LIST_LENGTH && value.every(isId);
const isAccount = (value: unknown): boolean => {
  const { type, id, ...rest } = Object(value) as Fields;
  const isKnown = type === 'User' || type === 'Organization';
  return isKnown && isId(id) && Object.keys(rest).length === 0;
};
const isLogin = (value: unknown): boolean =>
  typeof value === 'string' && /^[\w.-]{1,100}$/.test(value);
const isPlan = (value: unknown): boolean => value === 'free' || value === 'enterprise';

function isOverrides(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value);
  return entries.length <= MAX_OVERRIDE_COUNT && entries.every(([, each]) => isOverride(each));
}

function isOverride(value: unknown): boolean {
  if (value === 'exempt') return true;
  const { limit, window, ...rest } = Object(value) as Fields;
  const isWindow = isId(window) && window <= MAX_WINDOW_SEC;
  return isCount(limit) && isWindow && Object.keys(rest).length === 0;
}

type Check = (value: unknown) => boolean;

/** Attributes of each kind. Source: rate-limits, section 3.2. */
const ATTRIBUTES: Readonly<Record<RegisteredKind, Readonly<Record<string, Check>>>> = {
  user: { login: isLogin, plan: isPlan, organizations: isIds, overrides: isOverrides },
  organization: { login: isLogin, plan: isPlan, users_count: isCount, overrides: isOverrides },
  installation: {
    app_id: isId,
    account: isAccount,
    repositories_count: isCount,
    overrides: isOverrides,
  },
  oauth_app: { owner: isAccount, approved_by: isIds, overrides: isOverrides },
  repository: { owner: isAccount, overrides: isOverrides },
};

/** Throws `ValidationFailed` with everything that is wrong. */
export function readNewIdentity(body: Fields): NewIdentity {
  const { kind, id, client_id, secret, ...attributes } = body;
  if (!isKind(kind)) throw new ValidationFailed([wrong('Identity', 'kind', kind)]);
  const errors = checkAttributes(kind, attributes, false);
  const givenId = kind === 'oauth_app' ? (id ?? client_id) : id;
  const isOwnId =
    kind === 'oauth_app'
      ? givenId === undefined || (typeof givenId === 'string' && isClientId(givenId))
      : isId(givenId);
  if (!isOwnId) errors.push(wrong('Identity', 'id', givenId));
  checkSecret(kind, secret, errors);
  if (errors.length > 0) throw new ValidationFailed(errors);
  return {
    kind,
    id: givenId as number | string | undefined, // just checked
    secret: secret as string | undefined, // just checked
    attributes: attributes as IdentityAttributes, // just checked
  };
}

/** Throws `ValidationFailed`. */
export function readIdentityChange(
  kind: IdentityKind,
  body: Fields,
): { readonly change: AttributeChange; readonly secret: string | undefined } {
  const { secret, ...change } = body;
  const errors = isKind(kind) ? checkAttributes(kind, change, true) : [];
  checkSecret(kind, secret, errors);
  if (errors.length > 0) throw new ValidationFailed(errors);
  return {
    change: change as AttributeChange, // just checked
    secret: secret as string | undefined, // just checked
  };
}

/** What each kind of credential speaks for. */
const SPEAKS_FOR: Readonly<Record<CredentialKind, RegExp>> = {
  personal: /^user:[1-9]\d{0,15}$/,
  oauth: /^user:[1-9]\d{0,15}$/,
  app_user: /^user:[1-9]\d{0,15}$/,
  installation: /^installation:[1-9]\d{0,15}$/,
  workflow: /^repo:[1-9]\d{0,15}$/,
};

/** Throws `ValidationFailed`. */
export function readNewCredential(body: Fields): NewCredential {
  const { kind, identity, via_app, expires_in } = body;
  const errors: FieldError[] = [];
  const isKnown = CREDENTIAL_KINDS.some((known) => known === kind);
  if (!isKnown) errors.push(wrong('Credential', 'kind', kind));
  const pattern = SPEAKS_FOR[kind as CredentialKind]; // an unknown kind is refused below
  if (isKnown && !(typeof identity === 'string' && pattern.test(identity))) {
    errors.push(wrong('Credential', 'identity', identity));
  }
  const viaApp = via_app === undefined || isId(via_app) ? via_app : appIdOf(via_app);
  const isApp = via_app === undefined || viaApp !== undefined;
  if (!isApp) errors.push(wrong('Credential', 'via_app', via_app));
  const isExpiry =
    expires_in === undefined || (isId(expires_in) && expires_in <= MAX_EXPIRES_IN_SEC);
  if (!isExpiry) errors.push(wrong('Credential', 'expires_in', expires_in));
  const unknown = Object.keys(body).filter((name) => !CREDENTIAL_FIELDS.has(name));
  for (const name of unknown) errors.push(wrong('Credential', name, body[name]));
  if (errors.length > 0) throw new ValidationFailed(errors);
  return {
    kind: kind as CredentialKind, // just checked, as the others
    identity: identity as string,
    viaApp: viaApp === undefined ? undefined : String(viaApp),
    expiresInSec: expires_in as number | undefined,
  };
}

/** The id of an app, also where it is named by its identity key. */
const appIdOf = (value: unknown): string | undefined =>
  typeof value === 'string'
    ? /^(?:(?:app|oauth-app):)?([\w.-]{1,100})$/.exec(value)?.[1]
    : undefined;

const CREDENTIAL_FIELDS: ReadonlySet<string> = new Set([
  'kind',
  'identity',
  'via_app',
  'expires_in',
]);

const isKind = (value: unknown): value is RegisteredKind => KINDS.some((kind) => kind === value);

function checkAttributes(kind: RegisteredKind, given: Fields, mayRemove: boolean): FieldError[] {
  const checks = ATTRIBUTES[kind];
  return Object.entries(given)
    .filter(([name, value]) => {
      const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
      return check === undefined || !((mayRemove && value === null) || check(value));
    })
    .map(([name, value]) => wrong('Identity', name, value));
}

/** The value of a secret is not told back. */
function checkSecret(kind: unknown, secret: unknown, errors: FieldError[]): void {
  if (secret === undefined) return;
  const isSecret = typeof secret === 'string' && secret.length >= 8 && secret.length <= 255;
  if (kind === 'oauth_app' && isSecret) return;
  errors.push({ resource: 'Identity', field: 'secret', code: 'invalid' });
}

const wrong = (resource: string, field: string, value: unknown): FieldError =>
  value === undefined
    ? { resource, field, code: 'missing_field' }
    : { resource, field, code: 'invalid', value };
