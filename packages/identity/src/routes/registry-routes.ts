import { type Logger, routesFor, takeJsonObjects } from '@plinth/kernel';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { NewCredential, Registry } from '../domain/registry.js';
import type { Credential } from '../model/credential-token.js';
import type { IdentityRecord } from '../model/identity-record.js';
import { answerOperatorError } from './operator-front.js';
import { readIdentityChange, readNewCredential, readNewIdentity } from './registry-requests.js';

type Fields = Readonly<Record<string, unknown>>;
interface OfIdentity {
  Params: { key: string };
}
interface WithBody {
  Body: Fields;
}

const DEFAULT_PAGE = 30;
const MAX_PAGE = 100;

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

export interface RegistryRouteNeeds {
  readonly registry: Registry;
  readonly quota: TokenQuota;
  readonly log: Logger;
}

/** Who may come here is decided in front. Source: rate-limits, section 3.2. */
export function registerRegistryRoutes(
  app: FastifyInstance,
  { registry, quota, log }: RegistryRouteNeeds,
): void {
  routesFor(app, 'admin');
  takeJsonObjects(app);
  app.setErrorHandler((error, request, reply) => answerOperatorError(error, log, request, reply));

  app.post<WithBody>('/ops/v1/identities', async (request, reply) => {
    const { record, secret } = await registry.create(readNewIdentity(request.body ?? {}));
    return send(reply, 201, { ...identityToWire(record), ...(secret !== undefined && { secret }) });
  });

  app.get<{ Querystring: Record<string, string> }>('/ops/v1/identities', async (request, reply) => {
    const wanted = Number(request.query['per_page']);
    const isWanted = Number.isInteger(wanted) && wanted >= 1;
    const limit = isWanted ? Math.min(wanted, MAX_PAGE) : DEFAULT_PAGE;
    const found = await registry.list(request.query['cursor'] ?? '', limit + 1);
    const page = found.slice(0, limit);
    const last = page.at(-1);
    if (found.length > limit && last !== undefined) {
      const query = new URLSearchParams({ per_page: String(limit), cursor: last.key });
      const base = `${request.protocol}://${request.host}`;
      reply.header('link', `<${base}/ops/v1/identities?${query}>; rel="next"`);
    }
    return send(reply, 200, page.map(identityToWire));
  });

  app.get<OfIdentity>('/ops/v1/identities/:key', async (request, reply) =>
    send(reply, 200, identityToWire(await registry.get(request.params.key))),
  );

  app.patch<OfIdentity & WithBody>('/ops/v1/identities/:key', async (request, reply) => {
    const { kind } = await registry.get(request.params.key);
    const { change, secret } = readIdentityChange(kind, request.body ?? {});
    const changed = await registry.update(request.params.key, change, secret);
    return send(reply, 200, identityToWire(changed));
  });

  app.delete<OfIdentity>('/ops/v1/identities/:key', async (request, reply) => {
    await registry.delete(request.params.key);
    return reply.code(204).send();
  });

  app.post<WithBody>('/ops/v1/credentials', async (request, reply) => {
    const wanted = readNewCredential(request.body ?? {});
    const appKey = appKeyOf(wanted);
    const base = `${request.protocol}://${request.host}`;
    const refusal = appKey === undefined ? undefined : await quota(appKey, base);
    if (refusal !== undefined) {
      const { status, contentType, body, retryAfterSec } = refusal;
      if (retryAfterSec !== undefined) reply.header('retry-after', String(retryAfterSec));
      return reply
        .code(status)
        .header('content-type', contentType)
        .send(Buffer.from(JSON.stringify(body)));
    }
    const { credential, text } = await registry.issue(wanted);
    return send(reply, 201, credentialToWire(credential, text));
  });

  app.delete<{ Params: { id: string } }>('/ops/v1/credentials/:id', async (request, reply) => {
    const { id } = request.params;
    await registry.revoke(/^[1-9]\d{0,15}$/.test(id) ? Number(id) : 0);
    return reply.code(204).send();
  });
}

/** The app whose tokens are counted: one that acts for a user. */
function appKeyOf({ kind, viaApp }: NewCredential): string | undefined {
  if (viaApp === undefined) return undefined;
  if (kind === 'oauth') return `oauth-app:${viaApp}`;
  return kind === 'app_user' ? `app:${viaApp}` : undefined;
}

/** Bytes, because Fastify would look for a serialiser otherwise. */
function send(reply: FastifyReply, status: number, body: unknown): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(Buffer.from(JSON.stringify(body)));
}

const isoSeconds = (ms: number): string => new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');

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
