import { defineSettings, EGRESS_PATTERNS, type SettingsOf } from '@plinth/kernel';
import { Type } from 'typebox';
import { RETRY_SCHEDULE } from './model/hook.js';

/** Source: webhooks, section 15. */
export const WEBHOOKS_SETTINGS = defineSettings('webhooks', {
  vendor_name: Type.String({
    default: 'Vendor',
    pattern: '^[A-Za-z][A-Za-z0-9]{0,31}$',
    examples: ['GitHub'],
    description: 'vendor name in headers and media types',
    details: 'Use `GitHub` for receivers and clients written for GitHub.',
  }),
  root_alias: Type.Boolean({
    default: true,
    description: 'also serve the `/api/v3/app` paths as `/app`',
  }),
  worker: Type.Boolean({
    default: true,
    description:
      'deliver webhooks from this node; with `false`, it only accepts events and serves the API',
  }),
  timeout_ms: Type.Integer({
    default: 10_000,
    minimum: 100,
    maximum: 120_000,
    description: 'delivery timeout, from DNS lookup to the end of the response headers',
  }),
  max_payload_bytes: Type.Integer({
    default: 26_214_400,
    minimum: 1024,
    maximum: 104_857_600,
    description: 'maximum size of an event payload',
  }),
  response_body_bytes: Type.Integer({
    default: 65_536,
    minimum: 0,
    maximum: 1_048_576,
    description: 'maximum size of the stored response body',
  }),
  retention_days: Type.Integer({
    default: 30,
    minimum: 1,
    maximum: 3650,
    description: 'retention period of delivery records in days',
  }),
  retain_payload_days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 3650,
      description:
        'retention period of payloads and response bodies, if shorter than `retention_days`',
    }),
  ),
  legacy_sha1: Type.Boolean({
    default: true,
    description: 'also send `X-Hub-Signature` with a SHA-1 digest',
  }),
  enterprise_headers: Type.Boolean({
    default: false,
    description: 'send the host and version headers of GitHub Enterprise Server',
  }),
  enrich_payload: Type.Boolean({
    default: true,
    description: 'add `action` and `installation` to payloads that lack them',
  }),
  https_only: Type.Boolean({
    default: false,
    description: 'reject webhook URLs that do not use `https`',
  }),
  allow_private_targets: Type.Array(Type.String({ pattern: EGRESS_PATTERNS.target }), {
    default: [],
    examples: ['10.0.0.0/8'],
    description: 'private networks (`10.0.0.0/8`) and host names to which deliveries are allowed',
  }),
  allowed_ports: Type.Array(Type.String({ pattern: EGRESS_PATTERNS.port }), {
    default: [],
    description: 'ports to which deliveries are allowed; empty allows all',
  }),
  extra_ca_file: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'PEM file with additional certificate authorities for receivers',
    }),
  ),
  egress_proxy: Type.Optional(
    Type.String({
      pattern: EGRESS_PATTERNS.proxy,
      examples: ['http://proxy.internal:3128'],
      description: 'proxy for deliveries: `http`, `https` or `socks5`',
    }),
  ),
  egress_no_proxy: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description: 'host names to reach without the proxy; `.example.com` matches all subdomains',
  }),
  retry_policy: Type.Union(
    [Type.Literal('none'), Type.Literal('standard'), Type.Literal('schedule')],
    {
      default: 'none',
      description: 'automatic retries: `none`, `standard`, or `schedule` (see `retry_schedule`)',
      details: '`standard` retries after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h.',
    },
  ),
  retry_schedule: Type.Array(Type.Number({ minimum: 0, maximum: RETRY_SCHEDULE.maxDelaySec }), {
    default: [],
    maxItems: RETRY_SCHEDULE.maxCount,
    description: `seconds before each retry, at most ${RETRY_SCHEDULE.maxCount} values, for the policy \`schedule\``,
  }),
  concurrency_node: Type.Integer({
    default: 256,
    minimum: 1,
    maximum: 10_000,
    description: 'concurrent deliveries of this node',
  }),
  concurrency_app: Type.Integer({
    default: 64,
    minimum: 1,
    maximum: 10_000,
    description: 'concurrent deliveries per app',
  }),
  concurrency_host: Type.Integer({
    default: 32,
    minimum: 1,
    maximum: 10_000,
    description: 'concurrent deliveries per receiver, across all nodes',
  }),
  rate_app: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, description: 'deliveries per second to one app' }),
  ),
  rate_host: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, description: 'deliveries per second to one receiver' }),
  ),
  breaker_enabled: Type.Boolean({
    default: false,
    description: 'pause deliveries to failing receivers for 30 s',
    details: 'The breaker opens when 70 % of at least 10 attempts in 5 minutes have failed.',
  }),
  disable_on_gone: Type.Boolean({
    default: false,
    description: 'disable a webhook when its receiver returns 410',
  }),
  disable_after_hours: Type.Number({
    default: 0,
    minimum: 0,
    maximum: 8760,
    description:
      'hours of continuous failures after which a webhook is disabled; 0 disables this check',
    details: 'Fractions are allowed.',
  }),
  max_queued_per_app: Type.Integer({
    default: 1_000_000,
    minimum: 1,
    description: 'maximum number of queued events per app; further events are rejected',
  }),
  ping_on_url_change: Type.Boolean({
    default: false,
    description: 'send a `ping` when an app changes its webhook URL',
  }),
  redeliver_body: Type.Union([Type.Literal('none'), Type.Literal('object')], {
    default: 'none',
    description: 'response body of the redeliver operation: empty, or `{}` as GitHub sends',
  }),
  strict_query: Type.Boolean({
    default: false,
    description: 'reject an out-of-range `per_page` instead of clamping it',
  }),
  accept_mask_as_secret: Type.Boolean({
    default: false,
    description: 'accept `********` as a secret instead of ignoring it',
  }),
  private_cache: Type.Boolean({
    default: true,
    description: 'prevent shared caches from storing responses',
  }),
  require_user_agent: Type.Boolean({
    default: false,
    description: 'reject requests without a `User-Agent` header, as GitHub does',
  }),
  docs_base: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s]+$',
      examples: ['https://docs.github.com'],
      description: 'base URL of documentation links in error responses',
    }),
  ),
  egress_cidrs: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description: 'source networks of deliveries, as listed by `GET /api/v3/meta`',
  }),
  internal_events_enabled: Type.Boolean({
    default: true,
    description: 'offer the events of the other services to subscribed apps',
  }),
});
export type WebhooksConfig = SettingsOf<typeof WEBHOOKS_SETTINGS>;
