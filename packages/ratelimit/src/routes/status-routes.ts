import {
  githubResponse,
  type HttpRequest,
  type HttpResponse,
  OpenApi,
  type Route,
} from '@plinth/kernel';
import type { RateLimitConfig } from '../config.js';
import type { Limiter } from '../domain/limiter.js';
import { rateLimitError } from '../errors.js';
import { UNLIMITED } from '../model/resource.js';
import { Overview } from './description.js';

export const STATUS_PATHS = ['/rate_limit', '/api/v3/rate_limit'] as const;

/** API version from which the body has no `rate` member. */
const VERSION_WITHOUT_RATE = '2026-03-10';

export interface StatusDeps {
  readonly config: RateLimitConfig;
  readonly limiter: Limiter;
}

/** Returns a caller's limits and usage. Source: rate-limits, section 7. */
export function statusRoutes({ config, limiter }: StatusDeps): readonly Route[] {
  const shown = limiter.resources.all.filter(
    ({ name, limit }) =>
      name === 'core' ||
      (config.report.length === 0 ? limit !== UNLIMITED : config.report.includes(name)),
  );
  const handle = async (request: HttpRequest): Promise<HttpResponse> => {
    if (!config.enabled) throw rateLimitError('limiter_disabled');
    const { principal, client } = request;
    const caller =
      limiter.callers.ofPrincipal(principal) ??
      limiter.callers.ofAddress(client.key, client.address);
    const reports = await limiter.report(caller, shown);
    const resources = Object.fromEntries(
      shown.map(({ name }, index) => [name, reports[index]] as const),
    );
    const isWithoutRate = versionOf(config, request) === VERSION_WITHOUT_RATE;
    const body = { resources, ...(!isWithoutRate && { rate: resources['core'] }) };
    return githubResponse(200, body, [['cache-control', 'no-cache']]);
  };
  return STATUS_PATHS.map((path) => ({
    method: 'GET',
    path,
    access: 'public',
    cost: { cost: 0 },
    about: { summary: "Get the caller's limits and usage" },
    output: { 200: OpenApi.response('by resource', OpenApi.json(Overview)) },
    errors: { 401: 'bad credentials', 404: 'rate limiting is disabled' },
    handle,
  }));
}

const versionOf = ({ vendor_name }: RateLimitConfig, { headers }: HttpRequest): unknown =>
  headers[`x-${vendor_name.toLowerCase()}-api-version`] ?? headers['x-github-api-version'];
