import {
  bytesAnswer,
  emptyAnswer,
  type HttpAnswer,
  type HttpRequest,
  jsonObjectOf,
  OpenApi,
  platformAnswer,
  type Route,
} from '@plinth/kernel';
import { Type } from 'typebox';
import type { NewCredential, Registry } from '../domain/registry.js';
import type { Credential } from '../model/credential-token.js';
import type { IdentityRecord } from '../model/identity-record.js';
import {
  isoSeconds,
  type OperatorWords,
  operatorRoute,
  PAGE,
  pageAnswer,
  pageOf,
} from './operator-route.js';
import { readIdentityChange, readNewCredential, readNewIdentity } from './registry-requests.js';
import {
  CredentialRequest,
  IdentityChange,
  IdentityRequest,
  IssuedCredential,
  NewIdentity as NewIdentitySchema,
  RegisteredIdentity,
} from './schemas.js';

const { answer, json } = OpenApi;
const BY_KIND = 'what a field may be depends on the kind';
const REFUSED = { 422: 'a value was refused' } as const;

const CREATE: OperatorWords = {
  summary: 'Register a user, an installation or another identity',
  input: { body: IdentityRequest, judged: BY_KIND },
  output: { 201: answer('the identity', json(NewIdentitySchema)) },
  errors: REFUSED,
};
const LIST: OperatorWords = {
  summary: 'List users, installations and other identities',
  input: PAGE,
  output: { 200: answer('a page of them', json(Type.Array(RegisteredIdentity))) },
};
const SHOW: OperatorWords = {
  summary: 'Get an identity',
  output: { 200: answer('the identity', json(RegisteredIdentity)) },
};
const CHANGE: OperatorWords = {
  summary: 'Change an identity',
  input: { body: IdentityChange, judged: BY_KIND },
  output: { 200: answer('the identity', json(RegisteredIdentity)) },
  errors: REFUSED,
};
const REMOVE: OperatorWords = {
  summary: 'Remove an identity',
  output: { 204: answer('it is gone') },
};
const ISSUE: OperatorWords = {
  summary: 'Make a credential of an identity',
  input: { body: CredentialRequest, judged: BY_KIND },
  output: { 201: answer('the credential', json(IssuedCredential)) },
  errors: {
    ...REFUSED,
    403: 'the app has made too many',
    404: 'there is no such identity',
    429: 'the app has made too many',
  },
};
const REVOKE: OperatorWords = {
  summary: 'End a credential',
  output: { 204: answer('it is valid no longer') },
};

/**
 * Counts a token that is about to be made for an app. Resolves to the answer for the client when it has made too many.
 */
export type TokenQuota = (appKey: string, base: string) => Promise<TokenRefusal | undefined>;

export interface TokenRefusal {
  readonly status: number;
  readonly contentType: string;
  readonly body: object;
  readonly retryAfterSec: number | undefined;
}

/** Users, installations, OAuth apps and repositories, and what they present. Source: rate-limits, section 3.2. */
export function registryRoutes(registry: Registry, quota: TokenQuota): readonly Route[] {
  const keyOf = ({ parameters }: HttpRequest): string => parameters['key'] ?? '';
  return [
    operatorRoute('POST', '/identities', CREATE, async ({ body }) => {
      const { record, secret } = await registry.create(readNewIdentity(jsonObjectOf(body)));
      const shown = { ...identityToWire(record), ...(secret !== undefined && { secret }) };
      return platformAnswer(201, shown);
    }),
    operatorRoute('GET', '/identities', LIST, async (request) => {
      const { cursor, limit } = pageOf(request);
      const found = await registry.list(cursor, limit + 1);
      const page = found.slice(0, limit);
      const nextCursor = found.length > limit ? page.at(-1)?.key : undefined;
      return pageAnswer(request, page.map(identityToWire), { limit, nextCursor });
    }),
    operatorRoute('GET', '/identities/:key', SHOW, async (request) =>
      platformAnswer(200, identityToWire(await registry.get(keyOf(request)))),
    ),
    operatorRoute('PATCH', '/identities/:key', CHANGE, async (request) => {
      const key = keyOf(request);
      const { kind } = await registry.get(key);
      const { change, secret } = readIdentityChange(kind, jsonObjectOf(request.body));
      return platformAnswer(200, identityToWire(await registry.update(key, change, secret)));
    }),
    operatorRoute('DELETE', '/identities/:key', REMOVE, async (request) => {
      await registry.delete(keyOf(request));
      return emptyAnswer(204);
    }),
    operatorRoute('POST', '/credentials', ISSUE, async ({ body, base }) => {
      const wanted = readNewCredential(jsonObjectOf(body));
      const appKey = appKeyOf(wanted);
      const refusal = appKey === undefined ? undefined : await quota(appKey, base);
      if (refusal !== undefined) return refusalAnswer(refusal);
      const { credential, text } = await registry.issue(wanted);
      return platformAnswer(201, credentialToWire(credential, text));
    }),
    operatorRoute('DELETE', '/credentials/:id', REVOKE, async ({ parameters }) => {
      const { id = '' } = parameters;
      await registry.revoke(/^[1-9]\d{0,15}$/.test(id) ? Number(id) : 0);
      return emptyAnswer(204);
    }),
  ];
}

/** The app whose tokens are counted: one that acts for a user. */
function appKeyOf({ kind, viaApp }: NewCredential): string | undefined {
  if (viaApp === undefined) return undefined;
  if (kind === 'oauth') return `oauth-app:${viaApp}`;
  return kind === 'app_user' ? `app:${viaApp}` : undefined;
}

function refusalAnswer({ status, contentType, body, retryAfterSec }: TokenRefusal): HttpAnswer {
  const bytes = Buffer.from(JSON.stringify(body));
  const hasTime = retryAfterSec !== undefined;
  return bytesAnswer(
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
