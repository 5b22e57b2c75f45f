import { defineSettings, LIMIT, LIMIT_WINDOW, type SettingsOf } from '@plinth/kernel';
import { type Static, type TSchemaOptions, Type } from 'typebox';
import { DEFAULT_RULES, type LimitRules } from './model/limit-store.js';
import type { SecondaryScope } from './model/plan.js';

const count = (byDefault: number, description: string) =>
  Type.Integer({ minimum: 0, default: byDefault, description });

const oneOf = <const T extends string>(names: readonly T[], options: TSchemaOptions) =>
  Type.Unsafe<T>(
    Type.Union(
      names.map((name) => Type.Literal(name)),
      options,
    ),
  );

/** How a refusal is worded: in the dialect of the service that the client speaks to. */
const STYLES = ['github', 'influxdb', 'stripe', 'problem'] as const;
export type Style = (typeof STYLES)[number];

const REFUSAL_STATUS = Type.Unsafe<403 | 429>(Type.Union([Type.Literal(403), Type.Literal(429)]));

const ResourceSetting = Type.Object(
  {
    limit: Type.Optional(LIMIT),
    anonymous_limit: Type.Optional(LIMIT),
    window: Type.Optional(LIMIT_WINDOW),
    shadow: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

const ServiceSetting = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean()),
    resource: Type.Optional(Type.String({ minLength: 1 })),
    status: Type.Optional(REFUSAL_STATUS),
    style: Type.Optional(oneOf(STYLES, {})),
    secondary: Type.Optional(oneOf(['all', 'concurrency', 'none'], {})),
  },
  { additionalProperties: false },
);

/** Source: rate-limits, section 18. */
export const RATE_LIMIT_SETTINGS = defineSettings('rate_limit', {
  enabled: Type.Boolean({
    default: true,
    description:
      'limit requests at all; otherwise everything passes and `/rate_limit` is not found',
  }),
  store: oneOf(['memory', 'redis'], {
    default: 'memory',
    description: 'where counters are kept; `redis` shares them between nodes',
  }),
  snapshot: Type.Boolean({
    default: true,
    description:
      'keep the counters of the memory store over a restart; a crash loses at most a second',
  }),
  redis_url: Type.String({
    default: 'redis://127.0.0.1:6379',
    pattern: '^(rediss?://[^/]|/.)',
    examples: ['redis://127.0.0.1:6379'],
    description: 'address of Redis (6 or newer) or Valkey',
  }),
  redis_timeout_ms: Type.Integer({
    default: 50,
    minimum: 1,
    description: 'Redis counts as away when it says nothing for so long while decisions wait',
  }),
  redis_reserve: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 10_000,
    description:
      'units of a busy bucket that a node takes ahead from Redis, for decisions about the primary limit alone; 0 asks Redis each time',
  }),
  redis_prefix: Type.String({
    default: 'rl:',
    description: 'first part of every key in Redis',
  }),
  on_store_error: oneOf(['local', 'open', 'closed'], {
    default: 'local',
    description:
      'without Redis: `local` counts in this process, `open` lets everything pass, `closed` answers 503',
  }),
  status_primary: Type.Unsafe<403 | 429>(
    Type.Integer({
      default: 403,
      enum: [403, 429],
      description: 'status of a request over its primary limit',
    }),
  ),
  status_secondary: Type.Unsafe<403 | 429>(
    Type.Integer({
      default: 403,
      enum: [403, 429],
      description: 'status of a request over a secondary limit',
    }),
  ),
  retry_after_on_primary: Type.Boolean({
    default: false,
    description: 'send `retry-after` with refusals of the primary limit, too',
  }),
  ietf_headers: Type.Boolean({
    default: false,
    description: 'send `RateLimit-Policy` and `RateLimit` as well',
  }),
  limited_by_header: Type.Boolean({
    default: false,
    description: 'name the limit of a refusal in `x-<vendor>-limited-by`',
  }),
  support_hint: Type.Boolean({
    default: false,
    description: 'end the message of the primary limit with the id of the request',
  }),
  shadow: Type.Boolean({
    default: false,
    description: 'count and decide, but refuse nothing',
  }),
  report: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description: 'resources that `/rate_limit` shows; all when empty',
  }),
  app_jwt: oneOf(['count', 'exempt'], {
    default: 'count',
    description: 'whether requests with the token of an app itself are limited',
  }),
  scaling_excess_only: Type.Boolean({
    default: false,
    description: 'add to the limit of an installation for repositories and users beyond 20 only',
  }),
  scaling_cap: count(12_500, 'most that the limit of an installation grows to'),
  resources: Type.Unsafe<Readonly<Record<string, Static<typeof ResourceSetting>>>>(
    Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_]*$' }), ResourceSetting, {
      default: {},
      examples: ['{"search":{"limit":60,"anonymous_limit":10,"window":60}}'],
      description: 'limits and windows (seconds) by resource; new names are new resources',
    }),
  ),
  services: Type.Unsafe<Readonly<Record<string, Static<typeof ServiceSetting>>>>(
    Type.Record(Type.String(), ServiceSetting, {
      default: {},
      examples: ['{"gamedata":{"enabled":true,"resource":"gamedata","status":429}}'],
      description: 'what is limited of each service, and how its refusals look',
    }),
  ),
  secondary_concurrency: count(100, 'requests of one identity that run at the same time'),
  secondary_points_rest: count(900, 'points per endpoint and minute'),
  secondary_points_graph: count(2_000, 'points of graph queries per minute'),
  secondary_cpu_seconds: count(90, 'time of handlers per minute'),
  secondary_cpu_graph_seconds: count(60, 'part of it for graph queries'),
  secondary_content_minute: count(80, 'requests that create content, per minute'),
  secondary_content_hour: count(500, 'requests that create content, per hour'),
  secondary_heavy: count(100, 'sum of declared weights per minute'),
  secondary_token_hour: count(2_000, 'OAuth tokens that are made for one app per hour'),
  secondary_min_retry_after: Type.Integer({
    default: 1,
    minimum: 1,
    description: 'least `retry-after` of a secondary limit, in seconds',
  }),
  ban_enabled: Type.Boolean({
    default: true,
    description: 'shut out identities that go on after they were refused',
  }),
  ban_threshold: Type.Integer({
    default: 5_000,
    minimum: 1,
    description: 'refusals within ten minutes that lead to a ban',
  }),
  ban_minutes: Type.Integer({
    default: 10,
    minimum: 1,
    description: 'length of a first ban; each further one within a day doubles it',
  }),
  ban_ip_connections: Type.Integer({
    default: 1_000,
    minimum: 1,
    description:
      'connections of one address that ask services with limits without a credential; more are closed without an answer',
  }),
  lfs_max_objects: Type.Integer({
    default: 100,
    minimum: 1,
    description: 'most objects that one batch of large files may name',
  }),
  exempt_cidrs: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description: 'networks whose requests are never limited',
  }),
  ipv4_prefix: Type.Integer({
    default: 32,
    minimum: 8,
    maximum: 32,
    description: 'addresses of version 4 that share so many bits are one identity',
  }),
  ipv6_prefix: Type.Integer({
    default: 64,
    minimum: 32,
    maximum: 128,
    description: 'addresses of version 6 that share so many bits are one identity',
  }),
  max_buckets: Type.Integer({
    default: 1_000_000,
    minimum: 1_000,
    description: 'identities whose counters are kept in memory',
  }),
  envoy_port: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description: 'port of the Envoy rate limit service (gRPC); not open unless set',
    }),
  ),
  envoy_host: Type.String({
    default: '127.0.0.1',
    minLength: 1,
    description:
      'address of that port; whoever reaches it may ask and charge, in plain text, so it belongs beside the proxy',
  }),
  test_window_seconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'replaces the length of every window; for tests only',
    }),
  ),
});
export type RateLimitConfig = SettingsOf<typeof RATE_LIMIT_SETTINGS> & {
  /** In headers and messages. */
  readonly vendor_name: string;
  /** Start of every `documentation_url`; `/docs` of this server unless it is given. */
  readonly docs_base?: string;
};

/** How the requests of one service are treated. */
export interface ServiceRule {
  readonly isEnabled: boolean;
  readonly resource: string;
  /** `undefined`: as the general settings say. */
  readonly status: 403 | 429 | undefined;
  readonly style: Style;
  /** Whether a refusal by the primary limit says so whatever `retry_after_on_primary` is. */
  readonly hasRetryAfter: boolean;
  readonly secondary: SecondaryScope;
}

const GITHUB: ServiceRule = {
  isEnabled: true,
  resource: 'core',
  status: undefined,
  style: 'github',
  hasRetryAfter: false,
  secondary: 'all',
};

/** Source: rate-limits, section 4.3; of game data also gamedata, section 2.6. */
const SERVICE_DEFAULTS: Readonly<Record<string, ServiceRule>> = {
  webhooks: GITHUB,
  ratelimit: GITHUB,
  gamedata: {
    ...GITHUB,
    resource: 'gamedata',
    status: 429,
    hasRetryAfter: true,
    secondary: 'concurrency',
  },
  accounts: { ...GITHUB, isEnabled: false, resource: 'accounts', status: 429, style: 'stripe' },
  tsdb: { ...GITHUB, isEnabled: false, resource: 'tsdb_query', status: 429, style: 'influxdb' },
};

/** Whether `rate_limit.services` can say something of a service with this name. */
export const isLimitedService = (name: string): boolean => Object.hasOwn(SERVICE_DEFAULTS, name);

const UNKNOWN_SERVICE: ServiceRule = { ...GITHUB, isEnabled: false };

/** How a service is limited: its own defaults with what `rate_limit.services` says of it; unknown ones are not. */
export function serviceRule(config: RateLimitConfig, service: string): ServiceRule {
  const base = Object.hasOwn(SERVICE_DEFAULTS, service) ? SERVICE_DEFAULTS[service] : undefined;
  const rule = base ?? UNKNOWN_SERVICE;
  const own = Object.hasOwn(config.services, service) ? config.services[service] : undefined;
  const style = own?.style ?? rule.style;
  return {
    isEnabled: config.enabled && (own?.enabled ?? rule.isEnabled),
    resource: own?.resource ?? rule.resource,
    status: own?.status ?? rule.status,
    style,
    hasRetryAfter: rule.hasRetryAfter || style !== 'github',
    secondary: own?.secondary ?? rule.secondary,
  };
}

/** The secondary limits and the rule about bans; windows are shorter with `test_window_seconds`. */
export function limitRules(config: RateLimitConfig): LimitRules {
  const windowMs = config.test_window_seconds && config.test_window_seconds * 1000;
  return {
    ...DEFAULT_RULES,
    concurrency: config.secondary_concurrency,
    pointsRest: config.secondary_points_rest,
    pointsGraph: config.secondary_points_graph,
    cpuMs: config.secondary_cpu_seconds * 1000,
    cpuGraphMs: config.secondary_cpu_graph_seconds * 1000,
    contentMinute: config.secondary_content_minute,
    contentHour: config.secondary_content_hour,
    heavy: config.secondary_heavy,
    tokenHour: config.secondary_token_hour,
    minRetryAfterSec: config.secondary_min_retry_after,
    isBanEnabled: config.ban_enabled,
    banThreshold: config.ban_threshold,
    banMs: config.ban_minutes * 60_000,
    minuteMs: windowMs ?? DEFAULT_RULES.minuteMs,
    hourMs: windowMs ?? DEFAULT_RULES.hourMs,
  };
}
