import {
  ClientAddresses,
  ConfigInvalid,
  loadSettings,
  SystemClock,
  SystemRandom,
} from '@plinth/kernel';
import type { FastifyInstance } from 'fastify';
import { RATE_LIMIT_SETTINGS, type RateLimitConfig } from './config.js';
import type { BucketReport } from './domain/limiter.js';
import { LimiterMetrics } from './domain/limiter-metrics.js';
import { makeLimiter } from './domain/make-limiter.js';
import {
  type MiddlewareOptions,
  type NodeMiddleware,
  nodeMiddleware,
} from './routes/gate/node-middleware.js';
import { rateLimitProblems } from './setting-problems.js';
import { openStore } from './storage/open-store.js';

export interface LibraryOptions {
  /** Settings by their names, as under `rate_limit` in the configuration file. */
  readonly settings?: Partial<Omit<RateLimitConfig, 'vendor_name' | 'docs_base'>>;
  /** Vendor name in headers and messages. */
  readonly vendorName?: string;
  /** Networks whose forwarding headers are trusted. */
  readonly trustedProxies?: readonly string[];
}

/** A rate limiter embedded in another application. */
export interface EmbeddedLimiter extends AsyncDisposable {
  /** Creates middleware for Express, Connect and Node's own server. */
  middleware(options?: MiddlewareOptions): NodeMiddleware;
  /** Limits every route of a Fastify instance and its plugins. */
  limitFastify(app: FastifyInstance, options?: MiddlewareOptions): void;
  /** Returns the used and remaining requests of an identity, by resource. */
  report(identity: string): Promise<Readonly<Record<string, BucketReport>>>;
  /** Call before the first request. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Throws `ConfigInvalid` for invalid settings. */
export function createLimiter(options: LibraryOptions = {}): EmbeddedLimiter {
  const { rateLimit } = loadSettings(
    { rateLimit: RATE_LIMIT_SETTINGS },
    { env: {}, flags: new Map(), file: { rate_limit: options.settings ?? {} } },
  );
  const problems = rateLimitProblems(rateLimit);
  if (problems.length > 0) throw new ConfigInvalid(problems);
  const config: RateLimitConfig = { ...rateLimit, vendor_name: options.vendorName ?? 'Vendor' };
  const clock = new SystemClock();
  const random = new SystemRandom(clock);
  const store = openStore({ config, clock, random, onBan: () => {}, onChange: () => {} });
  const limiter = makeLimiter({ config, store, clock, metrics: new LimiterMetrics() });
  const addresses = new ClientAddresses({
    trustedProxies: options.trustedProxies ?? [],
    ipv4Prefix: config.ipv4_prefix,
    ipv6Prefix: config.ipv6_prefix,
    exemptNetworks: config.exempt_cidrs,
  });
  const deps = { config, limiter, addresses, clock };
  return {
    middleware: (about) => nodeMiddleware(deps, about),
    limitFastify(app, about = {}) {
      const templates = new WeakMap<object, string>();
      const endpointOf = (request: object): string => templates.get(request) ?? '*';
      const limit = nodeMiddleware(deps, { endpointOf, ...about } as MiddlewareOptions);
      app.addHook('onRequest', (request, reply, done) => {
        const { url } = request.routeOptions;
        if (url !== undefined) templates.set(request.raw, url);
        // `limit` has already responded to a rejected request, so the Fastify callback is not called.
        limit(request.raw, reply.raw, (error) => done(error as Error | undefined)); // from a throw
      });
    },
    async report(identity) {
      const caller = limiter.callers.ofKey(identity);
      if (caller === undefined) return {};
      const { all } = limiter.resources;
      const reports = await limiter.report(caller, all);
      return Object.fromEntries(reports.map((report, index) => [all[index]?.name ?? '', report]));
    },
    start: () => store.start(),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store.close(),
  };
}
