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
      description: "the operator's own name in values, fields and codes",
    }),
    vendor_word_aliases: Type.Array(Type.String({ pattern: '^[a-z][a-z0-9]{0,31}$' }), {
      default: ['stripe'],
      description: 'further spellings that requests may use',
    }),
    header_prefixes: Type.Array(Type.String({ pattern: '^[A-Za-z][A-Za-z0-9]{0,31}$' }), {
      default: ['Api', 'Stripe'],
      minItems: 1,
      description:
        'prefixes of the `-Version` header, first present wins; answers carry all of them',
    }),
    applied_format: Type.Unsafe<'auto' | 'timestamp' | 'boolean'>(
      Type.Union([Type.Literal('auto'), Type.Literal('timestamp'), Type.Literal('boolean')], {
        default: 'auto',
        description:
          'how `configuration.<name>.applied` is answered; `auto`: as a timestamp, but as a boolean to the official clients for Go, Java and .NET, whose types hold nothing else',
      }),
    ),
    bootstrap_keys: Type.Array(Type.String(), {
      default: [],
      description:
        'keys to create at the start, as `[platform:]key`; kind and mode stand in the key (`sk_test_...`). Without any, the first start makes four for `plat_default`: it prints them on a terminal, and otherwise writes them to the file `initial-account-keys` of the data folder',
    }),
    token_ttl_sec: Type.Integer({
      default: 600,
      minimum: 1,
      description: 'life of person and account tokens',
    }),
    idempotency_ttl_sec: Type.Integer({
      default: 2_592_000,
      minimum: 1,
      description: 'how long an idempotency key is remembered',
    }),
    event_retention_sec: Type.Integer({
      default: 2_592_000,
      minimum: 1,
      description: 'how long events can be read',
    }),
    max_body_bytes: Type.Integer({
      default: 1_048_576,
      minimum: 1024,
      maximum: 67_108_864,
      description: 'largest body of a request',
    }),
    public_url: Type.String({
      default: '',
      examples: ['https://plinth.example.com'],
      description: 'address of this server in `doc_url`; empty: as the request names it',
    }),
    allow_private_targets: Type.Array(Type.String({ pattern: EGRESS_PATTERNS.target }), {
      default: [],
      examples: ['127.0.0.0/8'],
      description:
        'networks (CIDR) and host names inside the own network to which events may be delivered; `*` allows all',
    }),
    allowed_ports: Type.Optional(
      Type.Array(Type.String({ pattern: EGRESS_PATTERNS.port }), {
        description:
          'ports to which events may be delivered; unless given, those of `webhooks.allowed_ports`',
      }),
    ),
    extra_ca_file: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'PEM file with certificate authorities of event destinations, beside those of the system; unless given, that of `webhooks.extra_ca_file`',
      }),
    ),
    egress_proxy: Type.Optional(
      Type.String({
        pattern: EGRESS_PATTERNS.proxy,
        examples: ['http://proxy.internal:3128'],
        description:
          'proxy for events: `http`, `https` or `socks5`; unless given, that of `webhooks.egress_proxy`',
      }),
    ),
    egress_no_proxy: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description:
          'host names of event destinations that are reached without the proxy; `.example.com` covers what ends so; unless given, those of `webhooks.egress_no_proxy`',
      }),
    ),
    event_timeout_ms: Type.Integer({
      default: 10_000,
      minimum: 100,
      maximum: 30_000,
      description: "from the look-up of an event's destination to the end of its response headers",
    }),
  },
  {
    token_ttl_sec: spelledOut('token_ttl'),
    idempotency_ttl_sec: spelledOut('idempotency_ttl'),
    event_retention_sec: spelledOut('event_retention'),
  },
);

/** The specification writes the unit in full. */
function spelledOut(name: string): { readonly flags: string[]; readonly env: string[] } {
  return {
    flags: [`accounts-${name.replaceAll('_', '-')}-seconds`],
    env: [`PLINTH_ACCOUNTS_${name.toUpperCase()}_SECONDS`],
  };
}

export type AccountsConfig = SettingsOf<typeof ACCOUNTS_SETTINGS>;
