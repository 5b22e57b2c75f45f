import { defineSettings, EGRESS_PATTERNS, type SettingsOf } from '@plinth/kernel';
import { Type } from 'typebox';
import { RETRY_SCHEDULE } from './model/hook.js';

/** Source: webhooks, section 15. */
export const WEBHOOKS_SETTINGS = defineSettings('webhooks', {
  vendor_name: Type.String({
    default: 'Vendor',
    pattern: '^[A-Za-z][A-Za-z0-9]{0,31}$',
    examples: ['GitHub'],
    description:
      'Name in header names and media types; `GitHub` for receivers and clients made for GitHub.',
  }),
  root_alias: Type.Boolean({
    default: true,
    description: 'Also serve the `/api/v3/app` paths as `/app`.',
  }),
  worker: Type.Boolean({
    default: true,
    description: 'Deliver; `false` makes a node that only takes events in and answers.',
  }),
  timeout_ms: Type.Integer({
    default: 10_000,
    minimum: 100,
    maximum: 120_000,
    description: 'From the look-up of the receiver to the end of its response headers.',
  }),
  max_payload_bytes: Type.Integer({
    default: 26_214_400,
    minimum: 1024,
    maximum: 104_857_600,
    description: 'Largest payload of an event.',
  }),
  response_body_bytes: Type.Integer({
    default: 65_536,
    minimum: 0,
    maximum: 1_048_576,
    description: "How much of a receiver's response body is kept.",
  }),
  retention_days: Type.Integer({
    default: 30,
    minimum: 1,
    maximum: 3650,
    description: 'How long records of deliveries are kept.',
  }),
  retain_payload_days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 3650,
      description: 'How long payloads and response bodies are kept, if less than the records.',
    }),
  ),
  legacy_sha1: Type.Boolean({
    default: true,
    description: 'Also send `X-Hub-Signature` with a SHA-1 digest.',
  }),
  enterprise_headers: Type.Boolean({
    default: false,
    description: 'Send the host and version headers of an enterprise server.',
  }),
  enrich_payload: Type.Boolean({
    default: true,
    description: 'Add `action` and `installation` to payloads that lack them.',
  }),
  https_only: Type.Boolean({
    default: false,
    description: 'Refuse webhook URLs that are not `https`.',
  }),
  allow_private_targets: Type.Array(Type.String({ pattern: EGRESS_PATTERNS.target }), {
    default: [],
    examples: ['10.0.0.0/8'],
    description:
      'Address ranges (`10.0.0.0/8`) and host names to which deliveries may go although they are not of the public Internet.',
  }),
  allowed_ports: Type.Array(Type.String({ pattern: EGRESS_PATTERNS.port }), {
    default: [],
    description: 'Ports to which deliveries may go; empty: all.',
  }),
  extra_ca_file: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'PEM file with certificate authorities of receivers, beside those of the system.',
    }),
  ),
  egress_proxy: Type.Optional(
    Type.String({
      pattern: EGRESS_PATTERNS.proxy,
      examples: ['http://proxy.internal:3128'],
      description: 'Proxy for deliveries: `http`, `https` or `socks5`.',
    }),
  ),
  egress_no_proxy: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description:
      'Host names that are reached without the proxy; `.example.com` covers what ends so.',
  }),
  retry_policy: Type.Union(
    [Type.Literal('none'), Type.Literal('standard'), Type.Literal('schedule')],
    {
      default: 'none',
      description:
        'Whether failed deliveries are tried again: never, after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, or as `retry_schedule` says.',
    },
  ),
  retry_schedule: Type.Array(Type.Number({ minimum: 0, maximum: RETRY_SCHEDULE.maxDelaySec }), {
    default: [],
    maxItems: RETRY_SCHEDULE.maxCount,
    description: `Seconds before each retry, at most ${RETRY_SCHEDULE.maxCount} of them, with the policy \`schedule\`.`,
  }),
  concurrency_node: Type.Integer({
    default: 256,
    minimum: 1,
    maximum: 10_000,
    description: 'Deliveries of this node that run at the same time.',
  }),
  concurrency_app: Type.Integer({
    default: 64,
    minimum: 1,
    maximum: 10_000,
    description: 'Deliveries to one app that run at the same time.',
  }),
  concurrency_host: Type.Integer({
    default: 32,
    minimum: 1,
    maximum: 10_000,
    description: 'Deliveries to one receiver that run at the same time, all nodes together.',
  }),
  rate_app: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, description: 'Deliveries per second to one app.' }),
  ),
  rate_host: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, description: 'Deliveries per second to one receiver.' }),
  ),
  breaker_enabled: Type.Boolean({
    default: false,
    description:
      'Pause deliveries to a receiver for 30 s when 70 % of at least 10 attempts in 5 minutes failed.',
  }),
  disable_on_gone: Type.Boolean({
    default: false,
    description:
      'Switch a webhook off when its receiver answers 410; otherwise that is a failure like any other.',
  }),
  disable_after_hours: Type.Number({
    default: 0,
    minimum: 0,
    maximum: 8760,
    description:
      'Switch a webhook off after so many hours (fractions too) of nothing but failures; 0: never.',
  }),
  max_queued_per_app: Type.Integer({
    default: 1_000_000,
    minimum: 1,
    description: 'Events that may wait for one app; more are refused.',
  }),
  ping_on_url_change: Type.Boolean({
    default: false,
    description: 'Send a `ping` when an app changes the URL of its webhook.',
  }),
  redeliver_body: Type.Union([Type.Literal('none'), Type.Literal('object')], {
    default: 'none',
    description: 'Answer of the redeliver operation: no body, or `{}` as GitHub sends.',
  }),
  strict_query: Type.Boolean({
    default: false,
    description: 'Refuse a `per_page` that is out of range instead of correcting it.',
  }),
  accept_mask_as_secret: Type.Boolean({
    default: false,
    description: 'Take `********` for a secret instead of ignoring it.',
  }),
  private_cache: Type.Boolean({
    default: true,
    description: 'Keep shared caches from storing answers.',
  }),
  require_user_agent: Type.Boolean({
    default: false,
    description: 'Refuse requests without a `User-Agent`, as GitHub does.',
  }),
  docs_base: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s]+$',
      examples: ['https://docs.github.com'],
      description: 'Start of the documentation links in error answers.',
    }),
  ),
  egress_cidrs: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description:
      'Address ranges from which deliveries come, as `GET /api/v3/meta` tells receivers.',
  }),
  internal_events_enabled: Type.Boolean({
    default: true,
    description: 'Offer the events of the other services to apps that subscribe to them.',
  }),
});
export type WebhooksConfig = SettingsOf<typeof WEBHOOKS_SETTINGS>;
