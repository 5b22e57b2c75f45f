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

/** Format of a refusal, matching the API conventions of the service. */
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
    description: 'enable rate limits',
    details: 'When disabled, all requests pass and `/rate_limit` returns 404.',
  }),
  store: oneOf(['memory', 'redis'], {
    default: 'memory',
    description: 'counter storage; `redis` shares counters between nodes',
  }),
  snapshot: Type.Boolean({
    default: true,
    description: 'keep the counters of the memory store across restarts',
    details: 'A crash loses at most one second of counts.',
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
    description: 'Redis response timeout, after which Redis is considered unavailable',
  }),
  redis_reserve: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 10_000,
    description: 'units that a node reserves in advance in a busy Redis bucket',
    details:
      'This applies only to requests that count against the primary limit. With 0, each request queries Redis.',
  }),
  redis_prefix: Type.String({
    default: 'rl:',
    description: 'prefix of all keys in Redis',
  }),
  on_store_error: oneOf(['local', 'open', 'closed'], {
    default: 'local',
    description:
      'behavior without Redis: `local` counts per process, `open` allows everything, `closed` returns 503',
  }),
  status_primary: Type.Unsafe<403 | 429>(
    Type.Integer({
      default: 403,
      enum: [403, 429],
      description: 'status of requests that exceed the primary limit',
    }),
  ),
  status_secondary: Type.Unsafe<403 | 429>(
    Type.Integer({
      default: 403,
      enum: [403, 429],
      description: 'status of requests that exceed a secondary limit',
    }),
  ),
  retry_after_on_primary: Type.Boolean({
    default: false,
    description: 'also send `retry-after` when the primary limit is exceeded',
  }),
  ietf_headers: Type.Boolean({
    default: false,
    description: 'also send the headers `RateLimit-Policy` and `RateLimit`',
  }),
  limited_by_header: Type.Boolean({
    default: false,
    description: 'name the exceeded limit in the header `x-<vendor>-limited-by`',
  }),
  support_hint: Type.Boolean({
    default: false,
    description: 'append the request id to the message of the primary limit',
  }),
  shadow: Type.Boolean({
    default: false,
    description: 'count requests and log decisions without rejecting requests',
  }),
  report: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description: 'resources that `/rate_limit` includes; if empty, all',
  }),
  app_jwt: oneOf(['count', 'exempt'], {
    default: 'count',
    description: 'whether requests with an app JWT are limited',
  }),
  scaling_excess_only: Type.Boolean({
    default: false,
    description: 'scale installation limits only for repositories and users beyond 20',
  }),
  scaling_cap: count(12_500, 'maximum limit of an installation after scaling'),
  resources: Type.Unsafe<Readonly<Record<string, Static<typeof ResourceSetting>>>>(
    Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_]*$' }), ResourceSetting, {
      default: {},
      examples: ['{"search":{"limit":60,"anonymous_limit":10,"window":60}}'],
      description: 'limits and windows (seconds) per resource; new names create resources',
    }),
  ),
  services: Type.Unsafe<Readonly<Record<string, Static<typeof ServiceSetting>>>>(
    Type.Record(Type.String(), ServiceSetting, {
      default: {},
      examples: ['{"gamedata":{"enabled":true,"resource":"gamedata","status":429}}'],
      description: 'rate limits and error response format of each service',
    }),
  ),
  secondary_concurrency: count(100, 'concurrent requests per identity'),
  secondary_points_rest: count(900, 'points per endpoint and minute'),
  secondary_points_graph: count(2_000, 'points for graph queries per minute'),
  secondary_cpu_seconds: count(90, 'handler time (seconds) per minute'),
  secondary_cpu_graph_seconds: count(60, 'handler time (seconds) for graph queries per minute'),
  secondary_content_minute: count(80, 'requests that create content, per minute'),
  secondary_content_hour: count(500, 'requests that create content, per hour'),
  secondary_heavy: count(100, 'sum of declared weights per minute'),
  secondary_token_hour: count(2_000, 'OAuth tokens created per app and hour'),
  secondary_min_retry_after: Type.Integer({
    default: 1,
    minimum: 1,
    description: 'minimum `retry-after` of a secondary limit, in seconds',
  }),
  ban_enabled: Type.Boolean({
    default: true,
    description: 'ban identities that continue after repeated rejections',
  }),
  ban_threshold: Type.Integer({
    default: 5_000,
    minimum: 1,
    description: 'number of rejections within ten minutes that triggers a ban',
  }),
  ban_minutes: Type.Integer({
    default: 10,
    minimum: 1,
    description: 'duration of the first ban, doubled for each ban within a day',
  }),
  ban_ip_connections: Type.Integer({
    default: 1_000,
    minimum: 1,
    description: 'maximum unauthenticated connections per address to rate-limited services',
  }),
  lfs_max_objects: Type.Integer({
    default: 100,
    minimum: 1,
    description: 'maximum number of objects in a large-file batch',
  }),
  exempt_cidrs: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description: 'networks that are never rate-limited',
  }),
  ipv4_prefix: Type.Integer({
    default: 32,
    minimum: 8,
    maximum: 32,
    description: 'prefix length that groups IPv4 addresses into one identity',
  }),
  ipv6_prefix: Type.Integer({
    default: 64,
    minimum: 32,
    maximum: 128,
    description: 'prefix length that groups IPv6 addresses into one identity',
  }),
  max_buckets: Type.Integer({
    default: 1_000_000,
    minimum: 1_000,
    description: 'maximum number of identities with counters in memory',
  }),
  envoy_port: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description: 'port of the Envoy rate limit service (gRPC); closed unless set',
    }),
  ),
  envoy_host: Type.String({
    default: '127.0.0.1',
    minLength: 1,
    description: 'bind address of the Envoy rate limit service',
    details:
      'The connection is plain text, and every client that can connect can read and use limits. Use an address that only the proxy can reach.',
  }),
  test_window_seconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'length of all windows in seconds, for tests only',
    }),
  ),
});
export type RateLimitConfig = SettingsOf<typeof RATE_LIMIT_SETTINGS> & {
  /** Vendor name in headers and messages. */
  readonly vendor_name: string;
  /** Base of every `documentation_url`; defaults to `/docs` of this server. */
  readonly docs_base?: string;
};

/** Limits of the requests of one service. */
export interface ServiceRule {
  readonly isEnabled: boolean;
  readonly resource: string;
  /** `undefined` to use the general setting. */
  readonly status: 403 | 429 | undefined;
  readonly style: Style;
  /**
   * Whether primary-limit refusals always have `retry-after`, regardless of
   * `retry_after_on_primary`.
   */
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

/** Source: rate-limits, section 4.3; for game data also gamedata, section 2.6. */
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

/** Whether `rate_limit.services` accepts a service with this name. */
export const isLimitedService = (name: string): boolean => Object.hasOwn(SERVICE_DEFAULTS, name);

const UNKNOWN_SERVICE: ServiceRule = { ...GITHUB, isEnabled: false };

/**
 * Returns the rule of a service: its defaults, overridden by `rate_limit.services`. Unknown
 * services are not limited.
 */
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

/** Returns the secondary limits and the ban rule. `test_window_seconds` shortens the windows. */
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
