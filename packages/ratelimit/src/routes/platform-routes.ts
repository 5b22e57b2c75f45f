import { hash } from 'node:crypto';
import { AppJwtRefused } from '@plinth/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RateLimitConfig } from '../config.js';
import { answerError } from './to-wire.js';

export const META_PATHS = ['/api/v3/meta', '/meta'] as const;
export const INSTALLATION_PATHS = ['/api/v3/app/installations', '/app/installations'] as const;

/** A token that an app asked for in the name of one of its installations. */
export interface InstallationToken {
  readonly token: string;
  /** ISO 8601. */
  readonly expires_at: string;
}

/** `undefined`: the app has no such installation. */
export type MintInstallationToken = (
  appId: number,
  installationId: number,
) => Promise<InstallationToken | undefined>;

/** For clients that look for the server's abilities; whoever wants to see the limits at work asks here. */
const META = { verifiable_password_authentication: false, installed_version: '3.0.0' };

/** Answers of the platform that belong to no other service. Source: rate-limits, sections 3.2 and 19. */
export function registerPlatformRoutes(
  app: FastifyInstance,
  needs: { readonly config: RateLimitConfig; readonly mint: MintInstallationToken },
): void {
  app.setErrorHandler((error, request, reply) => answerError(error, needs.config, request, reply));
  const body = Buffer.from(JSON.stringify(META));
  const etag = `W/"${hash('sha256', body, 'hex')}"`;
  for (const path of META_PATHS) {
    // The webhook service has more to say there, if it runs.
    if (app.hasRoute({ method: 'GET', url: path })) continue;
    app.get(path, { config: { access: 'public' } }, (request, reply) => {
      reply.header('etag', etag).header('cache-control', 'private, max-age=0, must-revalidate');
      if (isKnown(request, etag)) return reply.code(304).send();
      return reply.header('content-type', 'application/json; charset=utf-8').send(body);
    });
  }
  for (const path of INSTALLATION_PATHS) {
    app.post<{ Params: { id: string } }>(
      `${path}/:id/access_tokens`,
      { config: { access: 'app' } },
      async (request, reply) => sendToken(request, reply, needs.mint),
    );
  }
}

async function sendToken(
  request: FastifyRequest<{ Params: { id: string } }>,
  reply: FastifyReply,
  mint: MintInstallationToken,
): Promise<FastifyReply> {
  const { principal } = request;
  if (principal.kind !== 'app') throw new AppJwtRefused('undecodable');
  const { id } = request.params;
  const minted = /^[1-9]\d{0,15}$/.test(id) ? await mint(principal.appId, Number(id)) : undefined;
  if (minted === undefined) {
    reply.callNotFound();
    return reply;
  }
  const answer = { ...minted, permissions: {}, repository_selection: 'all' };
  return reply
    .code(201)
    .header('content-type', 'application/json; charset=utf-8')
    .send(Buffer.from(JSON.stringify(answer)));
}

/** Source: RFC 9110, section 13.1.2; weak comparison. */
function isKnown({ headers }: FastifyRequest, etag: string): boolean {
  const given = headers['if-none-match'];
  if (given === undefined) return false;
  const bare = (tag: string): string => tag.trim().replace(/^W\//, '');
  return given.trim() === '*' || given.split(',').some((tag) => bare(tag) === bare(etag));
}
