import {
  bytesAnswer,
  emptyAnswer,
  type HttpAnswer,
  type HttpRequest,
  jsonObjectOf,
  platformAnswer,
  type Route,
} from '@plinth/kernel';
import type { NewCredential, Registry } from '../domain/registry.js';
import type { Credential } from '../model/credential-token.js';
import type { IdentityRecord } from '../model/identity-record.js';
import { isoSeconds, operatorRoute, pageAnswer, pageOf } from './operator-route.js';
import { readIdentityChange, readNewCredential, readNewIdentity } from './registry-requests.js';

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
    operatorRoute('POST', '/identities', async ({ body }) => {
      const { record, secret } = await registry.create(readNewIdentity(jsonObjectOf(body)));
      const shown = { ...identityToWire(record), ...(secret !== undefined && { secret }) };
      return platformAnswer(201, shown);
    }),
    operatorRoute('GET', '/identities', async (request) => {
      const { cursor, limit } = pageOf(request);
      const found = await registry.list(cursor, limit + 1);
      const page = found.slice(0, limit);
      const nextCursor = found.length > limit ? page.at(-1)?.key : undefined;
      return pageAnswer(request, page.map(identityToWire), { limit, nextCursor });
    }),
    operatorRoute('GET', '/identities/:key', async (request) =>
      platformAnswer(200, identityToWire(await registry.get(keyOf(request)))),
    ),
    operatorRoute('PATCH', '/identities/:key', async (request) => {
      const key = keyOf(request);
      const { kind } = await registry.get(key);
      const { change, secret } = readIdentityChange(kind, jsonObjectOf(request.body));
      return platformAnswer(200, identityToWire(await registry.update(key, change, secret)));
    }),
    operatorRoute('DELETE', '/identities/:key', async (request) => {
      await registry.delete(keyOf(request));
      return emptyAnswer(204);
    }),
    operatorRoute('POST', '/credentials', async ({ body, base }) => {
      const wanted = readNewCredential(jsonObjectOf(body));
      const appKey = appKeyOf(wanted);
      const refusal = appKey === undefined ? undefined : await quota(appKey, base);
      if (refusal !== undefined) return refusalAnswer(refusal);
      const { credential, text } = await registry.issue(wanted);
      return platformAnswer(201, credentialToWire(credential, text));
    }),
    operatorRoute('DELETE', '/credentials/:id', async ({ parameters }) => {
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
