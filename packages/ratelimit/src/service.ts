import type {
  Clock,
  HttpService,
  LimitProfile,
  Logger,
  Metrics,
  Principal,
  RequestGate,
  ServiceFront,
} from '@plinth/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { limitRules, type RateLimitConfig } from './config.js';
import { type AddressRules, ClientAddresses } from './domain/client-address.js';
import { Limiter } from './domain/limiter.js';
import { LimiterNumbers } from './domain/limiter-numbers.js';
import { LoginGuard } from './domain/login-guard.js';
import { LimiterDisabled } from './errors.js';
import type { Ban } from './model/decision.js';
import { PrimaryLimitRules } from './model/primary-limits.js';
import { ResourceTable } from './model/resource.js';
import { EXPOSED_HEADERS } from './routes/headers.js';
import { docsBaseOf, HttpGate } from './routes/http-gate.js';
import { registerStatusRoutes, STATUS_PATHS } from './routes/status-routes.js';
import { answerError, sendGithubError } from './routes/to-wire.js';
import type { LimitStore } from './storage/limit-store.js';
import { MemoryStore } from './storage/memory-store.js';

/** Who a credential belongs to, whoever issued it. */
export interface CredentialDesk {
  /** Throws `NotAuthenticated` for a credential that is unknown, expired or revoked. */
  resolve(request: FastifyRequest): Principal | Promise<Principal>;
  /** What is known of an identity; for questions that name it by its key. */
  profileOf(key: string): Promise<LimitProfile | undefined>;
}

export interface RateLimitNeeds {
  readonly config: RateLimitConfig;
  readonly addresses: Pick<AddressRules, 'trustedProxies' | 'header'>;
  readonly credentials: CredentialDesk;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told of bans that begin and end. */
  readonly onBan?: (event: BanEvent) => void;
}

export type BanEvent =
  | { readonly type: 'rate_limit.banned'; readonly ban: Ban }
  | { readonly type: 'rate_limit.unbanned'; readonly identity: string };

export interface RateLimit extends HttpService {
  /** Goes in front of all services. */
  readonly gate: RequestGate;
}

export function createRateLimit(needs: RateLimitNeeds): RateLimit {
  return new RateLimitService(needs);
}

class RateLimitService implements RateLimit {
  readonly name = 'ratelimit';
  readonly front: ServiceFront;
  readonly gate: HttpGate;
  readonly #needs: RateLimitNeeds;
  readonly #addresses: ClientAddresses;
  readonly #limiter: Limiter;
  readonly #store: LimitStore;

  constructor(needs: RateLimitNeeds) {
    const { config, clock, metrics, log } = needs;
    this.#needs = needs;
    const resources = new ResourceTable(config.resources, config.test_window_seconds);
    const scaling = { excessOnly: config.scaling_excess_only, cap: config.scaling_cap };
    const rules = new PrimaryLimitRules(resources, scaling);
    this.#store = new MemoryStore({
      clock,
      rules: limitRules(config),
      maxIdentityCount: config.max_buckets,
      onBan: (ban) => needs.onBan?.({ type: 'rate_limit.banned', ban }),
    });
    const numbers = new LimiterNumbers();
    numbers.show(metrics, this.#store);
    const shadowed = Object.entries(config.resources).filter(([, { shadow }]) => shadow);
    this.#limiter = new Limiter({
      store: this.#store,
      resources,
      rules,
      clock,
      numbers,
      isShadow: config.shadow,
      shadowResources: new Set(shadowed.map(([name]) => name)),
    });
    this.#addresses = new ClientAddresses({
      ...needs.addresses,
      ipv4Prefix: config.ipv4_prefix,
      ipv6Prefix: config.ipv6_prefix,
      exemptNetworks: config.exempt_cidrs,
    });
    this.gate = new HttpGate({
      config,
      limiter: this.#limiter,
      addresses: this.#addresses,
      logins: new LoginGuard(clock),
      clock,
      log,
    });
    this.front = this.#makeFront();
  }

  async register(app: FastifyInstance): Promise<void> {
    const { config } = this.#needs;
    if (!config.enabled) {
      app.setErrorHandler((error, request, reply) => answerError(error, config, request, reply));
      for (const path of STATUS_PATHS) {
        app.get(path, async () => {
          throw new LimiterDisabled();
        });
      }
      return;
    }
    registerStatusRoutes(app, {
      config,
      limiter: this.#limiter,
      addresses: this.#addresses,
    });
  }

  async start(): Promise<void> {
    const { config, log } = this.#needs;
    if (config.test_window_seconds !== undefined) {
      log.warn({ seconds: config.test_window_seconds }, 'every limit has a window for tests');
    }
    await this.#store.start();
  }

  async close(): Promise<void> {
    await this.#store.close();
  }

  #makeFront(): ServiceFront {
    const { config, credentials } = this.#needs;
    return {
      paths: STATUS_PATHS,
      // Whoever switched the limiter off gets one answer, whatever the credential.
      authenticate: (request) =>
        config.enabled ? credentials.resolve(request) : { kind: 'anonymous', ip: request.ip },
      answerError: (error, request, reply) => answerError(error, config, request, reply),
      answerNotFound: (request, reply) => answerNotFound(config, request, reply),
      setHeaders(_request, reply) {
        reply.header('access-control-allow-origin', '*');
        reply.header('access-control-expose-headers', EXPOSED_HEADERS);
      },
      answerPreflight: (_request, reply) => reply.code(204).headers(PREFLIGHT_HEADERS).send(),
    };
  }
}

const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD, OPTIONS',
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
};

const answerNotFound = (
  config: RateLimitConfig,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply =>
  sendGithubError(reply, {
    status: 404,
    message: 'Not Found',
    documentationUrl: `${docsBaseOf(config, request)}/rest`,
  });
