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
    description: 'Deliver events; with `false` this node accepts events and serves requests only.',
  }),
  timeout_ms: Type.Integer({
    default: 10_000,
    minimum: 100,
    maximum: 120_000,
    description: 'Timeout of an attempt, from the DNS lookup to the end of the response headers.',
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
    description: "Recorded part of a receiver's response body; the rest is dropped.",
  }),
  retention_days: Type.Integer({
    default: 30,
    minimum: 1,
    maximum: 3650,
    description: 'Retention period of delivery records.',
  }),
  retain_payload_days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 3650,
      description:
        'Retention period of payloads and response bodies, if shorter than that of records.',
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
    description: 'Reject webhook URLs that are not `https`.',
  }),
  allow_private_targets: Type.Array(Type.String({ pattern: EGRESS_PATTERNS.target }), {
    default: [],
    examples: ['10.0.0.0/8'],
    description:
      'Private address ranges (`10.0.0.0/8`) and host names to which deliveries are allowed.',
  }),
  allowed_ports: Type.Array(Type.String({ pattern: EGRESS_PATTERNS.port }), {
    default: [],
    description: 'Ports to which deliveries are allowed; empty: all.',
  }),
  extra_ca_file: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'PEM file with further certificate authorities for receivers.',
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
    description: 'Host names that bypass the proxy; `.example.com` matches its subdomains.',
  }),
  retry_policy: Type.Union(
    [Type.Literal('none'), Type.Literal('standard'), Type.Literal('schedule')],
    {
      default: 'none',
      description:
        'Retries of failed deliveries: none, nine retries within four days, or the delays in `retry_schedule`.',
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
    description: 'Maximum concurrent deliveries of this node.',
  }),
  concurrency_app: Type.Integer({
    default: 64,
    minimum: 1,
    maximum: 10_000,
    description: 'Maximum concurrent deliveries to one app.',
  }),
  concurrency_host: Type.Integer({
    default: 32,
    minimum: 1,
    maximum: 10_000,
    description: 'Maximum concurrent deliveries to one receiver, across all nodes.',
  }),
  rate_app: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, description: 'Maximum deliveries per second to one app.' }),
  ),
  rate_host: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      description: 'Maximum deliveries per second to one receiver.',
    }),
  ),
  breaker_enabled: Type.Boolean({
    default: false,
    description: 'Pause a receiver for 30 s after 70 % of 10 or more attempts failed in 5 minutes.',
  }),
  disable_on_gone: Type.Boolean({
    default: false,
    description: 'Disable a webhook when its receiver returns 410, instead of retrying.',
  }),
  disable_after_hours: Type.Number({
    default: 0,
    minimum: 0,
    maximum: 8760,
    description: 'Hours without a successful delivery after which a webhook is disabled; 0: never.',
  }),
  max_queued_per_app: Type.Integer({
    default: 1_000_000,
    minimum: 1,
    description: 'Maximum queued events of one app; further events are rejected.',
  }),
  ping_on_url_change: Type.Boolean({
    default: false,
    description: 'Send a `ping` when an app changes the URL of its webhook.',
  }),
  redeliver_body: Type.Union([Type.Literal('none'), Type.Literal('object')], {
    default: 'none',
    description: 'Response body of the redeliver operation: empty, or `{}` as on GitHub.',
  }),
  strict_query: Type.Boolean({
    default: false,
    description: 'Reject an out-of-range `per_page` instead of clamping it.',
  }),
  accept_mask_as_secret: Type.Boolean({
    default: false,
    description: 'Accept `********` as a new secret instead of ignoring it.',
  }),
  private_cache: Type.Boolean({
    default: true,
    description: 'Prevent shared caches from storing responses.',
  }),
  require_user_agent: Type.Boolean({
    default: false,
    description: 'Reject requests without a `User-Agent`, as GitHub does.',
  }),
  docs_base: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s]+$',
      examples: ['https://docs.github.com'],
      description: 'Base URL of the documentation links in error responses.',
    }),
  ),
  egress_cidrs: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description: 'Source address ranges of deliveries, returned by `GET /api/v3/meta`.',
  }),
  internal_events_enabled: Type.Boolean({
    default: true,
    description: 'Send events of the other services to apps that subscribe to them.',
  }),
});
export type WebhooksConfig = SettingsOf<typeof WEBHOOKS_SETTINGS>;
