import { routesFor } from '@plinth/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RateLimitConfig } from '../config.js';
import type { ClientAddresses } from '../domain/client-address.js';
import type { Limiter } from '../domain/limiter.js';
import { UNLIMITED } from '../model/resource.js';
import { answerError } from './to-wire.js';

export const STATUS_PATHS = ['/rate_limit', '/api/v3/rate_limit'] as const;

/** From this version on the body has no `rate`. */
const VERSION_WITHOUT_RATE = '2026-03-10';

export interface StatusNeeds {
  readonly config: RateLimitConfig;
  readonly limiter: Limiter;
  readonly addresses: ClientAddresses;
}

/** What a caller has left. Source: rate-limits, section 7. */
export function registerStatusRoutes(app: FastifyInstance, needs: StatusNeeds): void {
  const { config, limiter, addresses } = needs;
  routesFor(app, 'public');
  app.setErrorHandler((error, request, reply) => answerError(error, config, request, reply));
  const shown = limiter.resources.all.filter(
    ({ name, limit }) =>
      name === 'core' ||
      (config.report.length === 0 ? limit !== UNLIMITED : config.report.includes(name)),
  );

  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const address = addresses.of(request.raw);
    const caller =
      limiter.callers.ofPrincipal(request.principal) ??
      limiter.callers.ofAddress(address.key, address.address);
    const reports = await limiter.report(caller, shown);
    const resources = Object.fromEntries(
      shown.map(({ name }, index) => [name, reports[index]] as const),
    );
    const rate = resources['core'];
    const isWithoutRate = versionOf(config, request) === VERSION_WITHOUT_RATE;
    return reply
      .header('cache-control', 'no-cache')
      .header('content-type', 'application/json; charset=utf-8')
      .send(Buffer.from(JSON.stringify({ resources, ...(!isWithoutRate && { rate }) })));
  };
  for (const path of STATUS_PATHS) app.get(path, { config: { rateLimit: { cost: 0 } } }, answer);
}

function versionOf({ vendor_name }: RateLimitConfig, { headers }: FastifyRequest): unknown {
  return headers[`x-${vendor_name.toLowerCase()}-api-version`] ?? headers['x-github-api-version'];
}
