import { type Clock, routesFor } from '@plinth/kernel';
import type { FastifyInstance } from 'fastify';
import type { RateLimitConfig } from '../config.js';
import type { ClientAddresses } from '../domain/client-address.js';
import type { DecisionDesk } from '../domain/decision-desk.js';
import { toWireAnswer } from './answer.js';
import { docsBaseOf } from './docs-base.js';
import { OPERATOR_PATH } from './operator-routes.js';
import { answerError, sendGithubError } from './to-wire.js';

export const AUTH_PATH = `${OPERATOR_PATH}/auth`;

const MAX_ENDPOINT_LENGTH = 256;

export interface AuthNeeds {
  readonly config: RateLimitConfig;
  readonly desk: DecisionDesk;
  readonly addresses: ClientAddresses;
  readonly clock: Clock;
}

/**
 * For proxies that ask before they pass a request on: 204, 401 or 403, the only answers such a proxy hands on. It needs
 * no token of its own: whoever asks can only spend what belongs to the credential or the address that they show.
 * Source: rate-limits, section 12.1.
 */
export function registerAuthRoute(app: FastifyInstance, needs: AuthNeeds): void {
  const { config, desk, addresses, clock } = needs;
  routesFor(app, 'public');
  app.setErrorHandler((error, request, reply) => answerError(error, config, request, reply));
  app.get<{ Querystring: { resource?: string } }>(AUTH_PATH, async (request, reply) => {
    const { headers } = request;
    const textOf = (...names: readonly string[]): string | undefined => {
      const value = names.map((name) => headers[name]).find((found) => found !== undefined);
      return typeof value === 'string' ? value : undefined;
    };
    const target = textOf('x-original-uri', 'x-forwarded-uri') ?? '/';
    const ip = addresses.of(request.raw).address;
    const { authorization } = headers;
    const answer = await desk.ask({
      caller:
        authorization === undefined
          ? { by: 'ip', ip }
          : { by: 'authorization', header: authorization, ip },
      // Part of the address that the proxy asks at: headers come from the client, who would name what has no limit.
      resource: request.query.resource ?? 'core',
      endpoint: (target.split('?', 1)[0] ?? '/').slice(0, MAX_ENDPOINT_LENGTH),
      method: (textOf('x-original-method', 'x-forwarded-method') ?? 'GET').toUpperCase(),
      cost: 1,
      points: undefined,
      content: false,
      contentPerMinute: undefined,
      graph: false,
      heavy: 0,
      lease: false,
      dryRun: false,
    });
    const docsBase = docsBaseOf(config, request);
    const wire = toWireAnswer(answer, { config, docsBase, clock });
    reply.headers(wire.headers);
    if (!wire.allowed) {
      return reply
        .code(403)
        .header('content-type', 'application/json; charset=utf-8')
        .send(Buffer.from(JSON.stringify({ ...wire.body, status: '403' })));
    }
    if (!answer.isBadCredential) return reply.code(204).send();
    const documentationUrl = `${docsBase}/rest`;
    return sendGithubError(reply, { status: 401, message: 'Bad credentials', documentationUrl });
  });
}
