import type {
  ApiConventions,
  ClientAddresses,
  Clock,
  CountTogether,
  HttpService,
  Logger,
  Metrics,
  Principal,
  Random,
  RelationalStore,
  RequestGate,
  RouteGroup,
} from '@plinth/kernel';
import { docsBaseAt } from '@plinth/kernel';
import { limitRules, type RateLimitConfig, serviceRule } from './config.js';
import { DecisionService } from './domain/decision-service.js';
import { EnvoyService } from './domain/envoy-service.js';
import type { Limiter } from './domain/limiter.js';
import { LimiterMetrics } from './domain/limiter-metrics.js';
import { LoginGuard } from './domain/login-guard.js';
import { makeLimiter } from './domain/make-limiter.js';
import { type ProfileSource, Profiles } from './domain/profiles.js';
import type { Ban } from './model/decision.js';
import type { LimitStore } from './model/limit-store.js';
import { makeTokenPlan } from './model/plan.js';
import type { ResourceTable } from './model/resource.js';
import { slotMsOf } from './model/sliding-sum.js';
import { rateLimitConventions } from './routes/conventions.js';
import { EnvoyServer } from './routes/envoy/envoy-server.js';
import { HttpGate } from './routes/gate/http-gate.js';
import { type Refusal, refusalOf } from './routes/gate/refusal.js';
import type { MintInstallationToken } from './routes/github-routes.js';
import { RouteListing } from './routes/route-listing.js';
import { rateLimitRouteGroups } from './routes/table.js';
import type { ResponseContext } from './routes/wire-response.js';
import { MemoryStore } from './storage/memory/memory-store.js';
import { Snapshots } from './storage/memory/snapshots.js';
import { openStore } from './storage/open-store.js';

/** Resolves credentials of any issuer. */
export interface CredentialService {
  /** Throws `not_authenticated` for a credential that is unknown, expired or revoked. */
  resolve(authorization: string): Principal | Promise<Principal>;
  /** Creates a token for an app's installation. */
  readonly mint: MintInstallationToken;
  /** Profiles of identities, for checks that name identities by key. */
  readonly profiles: ProfileSource;
}

export interface RateLimitDeps {
  readonly config: RateLimitConfig;
  readonly addresses: ClientAddresses;
  readonly credentials: CredentialService;
  /** API conventions of all paths below `/ops/v1`. */
  readonly operatorConventions: ApiConventions;
  /** API conventions of paths without a service. */
  readonly serverConventions: ApiConventions;
  /** Whether this service serves `/api/v3/meta`, because no other does. */
  readonly ownsMeta: boolean;
  readonly metrics: Metrics;
  readonly relational: RelationalStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Called when a ban starts or ends. */
  readonly onBan?: (event: BanEvent) => void;
}

export type BanEvent =
  | { readonly type: 'rate_limit.banned'; readonly ban: Ban }
  | { readonly type: 'rate_limit.unbanned'; readonly identity: string };

export interface RateLimit extends HttpService {
  /** Request gate in front of all services. */
  readonly gate: RequestGate;
  /** Returns a counter for wrong credentials that `service` checks, shared by all nodes. */
  countWrongLogins(service: string): CountTogether;
  /**
   * Counts an OAuth token before it is created for an app.
   * @param appKey `oauth-app:<id>` or `app:<id>`
   * @param base URL of this server as its client sees it
   * @returns the refusal if the app has created too many tokens.
   */
  countToken(appKey: string, base: string): Promise<Refusal | undefined>;
}

/** Creates the service. The settings must have passed `rateLimitProblems`. */
export function createRateLimit(deps: RateLimitDeps): RateLimit {
  return new RateLimitService(deps);
}

class RateLimitService implements RateLimit {
  readonly name = 'ratelimit';
  readonly conventions: ApiConventions;
  readonly gate: HttpGate;
  readonly #deps: RateLimitDeps;
  readonly #limiter: Limiter;
  readonly #logins: LoginGuard;
  readonly #store: LimitStore;
  readonly #snapshots: Snapshots | undefined;
  readonly #routes = new RouteListing();
  readonly #profiles: Profiles;
  readonly #decisions: DecisionService;
  readonly #envoyService: EnvoyService;
  #envoyServer: EnvoyServer | undefined;

  constructor(deps: RateLimitDeps) {
    const { config, clock, metrics } = deps;
    this.#deps = deps;
    const { random, log, onBan } = deps;
    this.#store = openStore({
      config,
      clock,
      random,
      onBan: (ban) => onBan?.({ type: 'rate_limit.banned', ban }),
      onChange(isReachable) {
        if (isReachable) log.info('redis is available again');
        else log.error({ mode: config.on_store_error }, 'redis is unavailable');
      },
    });
    const limiterMetrics = new LimiterMetrics();
    limiterMetrics.show(metrics, this.#store);
    this.#limiter = makeLimiter({ config, store: this.#store, clock, metrics: limiterMetrics });
    this.#snapshots = openSnapshots(deps, this.#store, this.#limiter.resources);
    this.#logins = new LoginGuard({
      clock,
      countTogether: (address, windowMs) => this.#store.countWrongLogin({ address }, windowMs),
    });
    this.gate = new HttpGate({
      config,
      limiter: this.#limiter,
      logins: this.#logins,
      routes: this.#routes,
      clock,
    });
    this.#profiles = new Profiles(deps.credentials.profiles, clock);
    this.#decisions = new DecisionService({
      limiter: this.#limiter,
      addresses: deps.addresses,
      profiles: this.#profiles,
      resolve: (authorization) => deps.credentials.resolve(authorization),
      clock,
      random: deps.random,
    });
    this.#envoyService = new EnvoyService(this.#decisions);
    this.conventions = rateLimitConventions(deps);
  }

  countWrongLogins(service: string): CountTogether {
    return (address, windowMs) => this.#store.countWrongLogin({ address, service }, windowMs);
  }

  async countToken(appKey: string, base: string): Promise<Refusal | undefined> {
    const { config } = this.#deps;
    const limiter = this.#limiter;
    const caller = limiter.callers.ofKey(appKey, undefined);
    if (!config.enabled || caller === undefined) return undefined;
    const plan = makeTokenPlan(limiter.resources.need('core'));
    const { admission, isRefused, charge } = await limiter.admit(caller, plan, this.name);
    charge?.finish();
    if (!isRefused) return undefined;
    const { docsBase } = this.#contextOf(base);
    const rule = serviceRule(config, this.name);
    return refusalOf(caller, admission, { config, rule, docsBase, requestId: undefined });
  }

  routeGroups(): readonly RouteGroup[] {
    const { credentials, onBan } = this.#deps;
    return rateLimitRouteGroups({
      ...this.#deps,
      conventions: this.conventions,
      limiter: this.#limiter,
      logins: this.#logins,
      decisions: this.#decisions,
      envoyService: this.#envoyService,
      profiles: this.#profiles,
      routes: this.#routes,
      mint: credentials.mint,
      contextOf: (base) => this.#contextOf(base),
      onUnban: (identity) => onBan?.({ type: 'rate_limit.unbanned', identity }),
    });
  }

  async prepare(): Promise<void> {
    await this.#snapshots?.prepare();
  }

  async start(): Promise<void> {
    const { config, log } = this.#deps;
    if (config.test_window_seconds !== undefined) {
      log.warn({ seconds: config.test_window_seconds }, 'rate limits use the test window');
    }
    await this.#snapshots?.start();
    await this.#store.start();
    if (config.enabled && config.envoy_port !== undefined) await this.#openEnvoyPort();
  }

  async close(): Promise<void> {
    await this.#envoyServer?.close();
    await this.#snapshots?.close();
    await this.#store.close();
  }

  async #openEnvoyPort(): Promise<void> {
    const { config, log } = this.#deps;
    const { envoy_host: host, envoy_port = 0 } = config;
    const server = new EnvoyServer({
      decisions: this.#envoyService,
      context: this.#contextOf(`http://${host}`),
      log,
      host,
      port: envoy_port,
    });
    this.#envoyServer = server;
    const port = await server.listen();
    log.info({ host, port }, 'envoy rate limit service is listening');
  }

  #contextOf(base: string): ResponseContext {
    const { config, clock } = this.#deps;
    return { config, docsBase: docsBaseAt(config, base), clock };
  }
}

/** Persists the memory store; Redis persists its own counters. */
function openSnapshots(
  { config, relational, clock, log }: RateLimitDeps,
  store: LimitStore,
  resources: ResourceTable,
): Snapshots | undefined {
  if (!config.enabled || !config.snapshot || !(store instanceof MemoryStore)) return undefined;
  return new Snapshots({
    cachedIdentities: store.cachedIdentities,
    relational,
    resources: resources.buckets,
    clock,
    hourSlotMs: slotMsOf(limitRules(config).hourMs),
    onFailure: (err) => log.error({ err }, 'cannot store rate limit counters'),
  });
}
