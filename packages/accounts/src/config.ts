import { defineSettings, EGRESS_PATTERNS, type SettingsOf } from '@plinth/kernel';
import { Type } from 'typebox';

/** Source: accounts, section 1. */
export const ACCOUNTS_SETTINGS = defineSettings(
  'accounts',
  {
    vendor_word: Type.String({
      default: 'vendor',
      pattern: '^[a-z][a-z0-9]{0,31}$',
      examples: ['stripe'],
      description: 'vendor name in values, fields and error codes',
    }),
    vendor_word_aliases: Type.Array(Type.String({ pattern: '^[a-z][a-z0-9]{0,31}$' }), {
      default: ['stripe'],
      description: 'additional vendor names accepted in requests',
    }),
    header_prefixes: Type.Array(Type.String({ pattern: '^[A-Za-z][A-Za-z0-9]{0,31}$' }), {
      default: ['Api', 'Stripe'],
      minItems: 1,
      description: 'prefixes of the `-Version` header, in order of precedence',
      details: 'Responses contain all of them.',
    }),
    applied_format: Type.Unsafe<'auto' | 'timestamp' | 'boolean'>(
      Type.Union([Type.Literal('auto'), Type.Literal('timestamp'), Type.Literal('boolean')], {
        default: 'auto',
        description: 'type of `configuration.<name>.applied` in responses',
        details:
          '`auto` returns a timestamp. The official clients for Go, Java and .NET accept only a boolean, so they receive a boolean.',
      }),
    ),
    bootstrap_keys: Type.Array(Type.String(), {
      default: [],
      description: 'API keys to create at startup, as `[platform:]key`',
      details:
        'The prefix determines the kind and mode of the key (`sk_test_...`). Without this setting, the server creates four keys for `plat_default` when it first starts. It prints the keys on a terminal, or writes them to the file `initial-account-keys` in the data folder.',
    }),
    token_ttl_sec: Type.Integer({
      default: 600,
      minimum: 1,
      description: 'lifetime of person and account tokens',
    }),
    idempotency_ttl_sec: Type.Integer({
      default: 2_592_000,
      minimum: 1,
      description: 'how long idempotency keys are stored',
    }),
    event_retention_sec: Type.Integer({
      default: 2_592_000,
      minimum: 1,
      description: 'retention period of events',
    }),
    max_body_bytes: Type.Integer({
      default: 1_048_576,
      minimum: 1024,
      maximum: 67_108_864,
      description: 'maximum size of a request body',
    }),
    public_url: Type.String({
      default: '',
      examples: ['https://plinth.example.com'],
      description: 'server URL in `doc_url`; if empty, the URL of the request',
    }),
    allow_private_targets: Type.Array(Type.String({ pattern: EGRESS_PATTERNS.target }), {
      default: [],
      examples: ['127.0.0.0/8'],
      description: 'private networks (CIDR) and host names that may receive events; `*` allows all',
    }),
    allowed_ports: Type.Optional(
      Type.Array(Type.String({ pattern: EGRESS_PATTERNS.port }), {
        description: 'ports to which events may be delivered',
        details: 'Default: `webhooks.allowed_ports`.',
      }),
    ),
    extra_ca_file: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'PEM file with additional certificate authorities for event destinations',
        details: 'Default: `webhooks.extra_ca_file`.',
      }),
    ),
    egress_proxy: Type.Optional(
      Type.String({
        pattern: EGRESS_PATTERNS.proxy,
        examples: ['http://proxy.internal:3128'],
        description: 'proxy for event deliveries: `http`, `https` or `socks5`',
        details: 'Default: `webhooks.egress_proxy`.',
      }),
    ),
    egress_no_proxy: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description: 'host names to reach without the proxy; `.example.com` matches all subdomains',
        details: 'Default: `webhooks.egress_no_proxy`.',
      }),
    ),
    event_timeout_ms: Type.Integer({
      default: 10_000,
      minimum: 100,
      maximum: 30_000,
      description: 'event delivery timeout, from DNS lookup to the end of the response headers',
    }),
  },
  {
    token_ttl_sec: spelledOut('token_ttl'),
    idempotency_ttl_sec: spelledOut('idempotency_ttl'),
    event_retention_sec: spelledOut('event_retention'),
  },
);

/** Returns option names that contain the unit in full, as in the specification. */
function spelledOut(name: string): { readonly flags: string[]; readonly env: string[] } {
  return {
    flags: [`accounts-${name.replaceAll('_', '-')}-seconds`],
    env: [`PLINTH_ACCOUNTS_${name.toUpperCase()}_SECONDS`],
  };
}

export type AccountsConfig = SettingsOf<typeof ACCOUNTS_SETTINGS>;
