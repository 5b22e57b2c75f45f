import {
  bytesResponse,
  emptyResponse,
  githubResponse,
  type HttpRequest,
  type HttpResponse,
  isoSeconds,
  jsonObjectOf,
  OpenApi,
  operatorRoute,
  type Route,
  ValidationFailed,
} from '@plinth/kernel';
import { Type } from 'typebox';
import type { AttributeChange, NewCredential, NewIdentity, Registry } from '../domain/registry.js';
import type { Credential } from '../model/credential-token.js';
import type { IdentityAttributes, IdentityKind, IdentityRecord } from '../model/identity-record.js';
import { PAGE, pageResponse } from './pages.js';
import {
  CHANGE_CHECKS,
  CredentialRequest,
  IDENTITY_PATTERNS,
  IdentityChange,
  IdentityRequest,
  IssuedCredential,
  isRegisteredKind,
  NEW_CHECKS,
  NewIdentity as NewIdentitySchema,
  RegisteredIdentity,
} from './registry-schemas.js';

const { response, json } = OpenApi;
const BY_KIND = 'each kind has its own schema';
const REFUSED = { 422: 'a value is not valid' } as const;
const SHOWN = { 200: response('the identity', json(RegisteredIdentity)) } as const;

/**
 * Counts a token that is about to be created for an app. Resolves to the response for the client
 * when the app has created too many.
 */
export type TokenQuota = (appKey: string, base: string) => Promise<TokenRefusal | undefined>;

export interface TokenRefusal {
  readonly status: number;
  readonly contentType: string;
  readonly body: object;
  readonly retryAfterSec: number | undefined;
}

/**
 * Routes for users, installations, OAuth apps, repositories and their credentials. Source:
 * rate-limits, section 3.2.
 */
export function registryRoutes(registry: Registry, quota: TokenQuota): readonly Route[] {
  return [...identityRoutes(registry), ...credentialRoutes(registry, quota)];
}

function identityRoutes(registry: Registry): readonly Route[] {
  const keyOf = ({ parameters }: HttpRequest): string => parameters['key'] ?? '';
  return [
    operatorRoute('POST', '/identities', {
      about: { summary: 'Register a user, an installation or another identity' },
      input: { body: IdentityRequest, validation: BY_KIND },
      output: { 201: response('the identity', json(NewIdentitySchema)) },
      errors: REFUSED,
      async handle({ body }) {
        const { record, secret } = await registry.create(readNewIdentity(jsonObjectOf(body)));
        const shown = { ...identityToWire(record), ...(secret !== undefined && { secret }) };
        return githubResponse(201, shown);
      },
    }),
    operatorRoute('GET', '/identities', {
      about: { summary: 'List users, installations and other identities' },
      input: PAGE,
      output: { 200: response('a page of identities', json(Type.Array(RegisteredIdentity))) },
      handle: (request) =>
        pageResponse(request, {
          read: (cursor, limit) => registry.list(cursor, limit),
          show: (page) => page.map(identityToWire),
          cursorOf: ({ key }) => key,
        }),
    }),
    operatorRoute('GET', '/identities/:key', {
      about: { summary: 'Get an identity' },
      output: SHOWN,
      handle: async (request) =>
        githubResponse(200, identityToWire(await registry.get(keyOf(request)))),
    }),
    operatorRoute('PATCH', '/identities/:key', {
      about: { summary: 'Change an identity' },
      input: { body: IdentityChange, validation: BY_KIND },
      output: SHOWN,
      errors: REFUSED,
      async handle(request) {
        const key = keyOf(request);
        const { kind } = await registry.get(key);
        const { change, secret } = readIdentityChange(kind, jsonObjectOf(request.body));
        return githubResponse(200, identityToWire(await registry.update(key, change, secret)));
      },
    }),
    operatorRoute('DELETE', '/identities/:key', {
      about: { summary: 'Remove an identity' },
      output: { 204: response('the identity was removed') },
      async handle(request) {
        await registry.delete(keyOf(request));
        return emptyResponse(204);
      },
    }),
  ];
}

const credentialRoutes = (registry: Registry, quota: TokenQuota): readonly Route[] => [
  operatorRoute('POST', '/credentials', {
    about: { summary: 'Create a credential for an identity' },
    input: { body: CredentialRequest },
    output: { 201: response('the credential', json(IssuedCredential)) },
    errors: {
      ...REFUSED,
      403: 'the app has created too many tokens',
      404: 'the identity does not exist',
      429: 'the app has created too many tokens',
    },
    async handle({ base }, { body }) {
      const request = newCredential(body);
      const appKey = appKeyOf(request);
      const refusal = appKey === undefined ? undefined : await quota(appKey, base);
      if (refusal !== undefined) return refusalResponse(refusal);
      const { credential, text } = await registry.issue(request);
      return githubResponse(201, credentialToWire(credential, text));
    },
  }),
  operatorRoute('DELETE', '/credentials/:id', {
    about: { summary: 'Revoke a credential' },
    output: { 204: response('the credential is revoked') },
    async handle({ parameters }) {
      const { id = '' } = parameters;
      await registry.revoke(/^[1-9]\d{0,15}$/.test(id) ? Number(id) : 0);
      return emptyResponse(204);
    },
  }),
];

type Fields = Readonly<Record<string, unknown>>;

function readNewIdentity(body: Fields): NewIdentity {
  const { kind, id, client_id, secret, ...attributes } = body;
  if (!isRegisteredKind(kind)) throw wrong('Identity', 'kind', kind);
  NEW_CHECKS.get(kind)?.(body);
  return {
    kind,
    id: (id ?? client_id) as number | string | undefined, // `NEW_CHECKS` validates all fields
    secret: secret as string | undefined,
    attributes: attributes as IdentityAttributes,
  };
}

function readIdentityChange(
  kind: IdentityKind,
  body: Fields,
): { readonly change: AttributeChange; readonly secret: string | undefined } {
  if (isRegisteredKind(kind)) CHANGE_CHECKS.get(kind)?.(body);
  const { secret, ...change } = body;
  // `CHANGE_CHECKS` validates all fields.
  return { change: change as AttributeChange, secret: secret as string | undefined };
}

function newCredential({ kind, identity, via_app, expires_in }: CredentialRequest): NewCredential {
  if (!IDENTITY_PATTERNS[kind].test(identity)) throw wrong('Credential', 'identity', identity);
  const viaApp = via_app === undefined ? undefined : String(via_app).replace(/^(oauth-)?app:/, '');
  return { kind, identity, viaApp, expiresInSec: expires_in };
}

const wrong = (resource: string, field: string, value: unknown): ValidationFailed =>
  new ValidationFailed([
    value === undefined
      ? { resource, field, code: 'missing_field' }
      : { resource, field, code: 'invalid', value },
  ]);

/** Returns the key of the app whose tokens are counted, if it acts for a user. */
function appKeyOf({ kind, viaApp }: NewCredential): string | undefined {
  if (viaApp === undefined) return undefined;
  if (kind === 'oauth') return `oauth-app:${viaApp}`;
  return kind === 'app_user' ? `app:${viaApp}` : undefined;
}

function refusalResponse({ status, contentType, body, retryAfterSec }: TokenRefusal): HttpResponse {
  const bytes = Buffer.from(JSON.stringify(body));
  const hasTime = retryAfterSec !== undefined;
  return bytesResponse(
    status,
    contentType,
    bytes,
    hasTime ? [['retry-after', String(retryAfterSec)]] : [],
  );
}

function identityToWire(record: IdentityRecord): object {
  const { key, kind, id, attributes, createdMs, updatedMs } = record;
  return {
    key,
    kind,
    id,
    ...attributes,
    created_at: isoSeconds(createdMs),
    updated_at: isoSeconds(updatedMs),
  };
}

const credentialToWire = (credential: Credential, token: string): object => ({
  id: credential.id,
  token,
  kind: credential.kind,
  identity: credential.identity,
  via_app: credential.viaApp ?? null,
  expires_at: credential.expiresMs === undefined ? null : isoSeconds(credential.expiresMs),
});
