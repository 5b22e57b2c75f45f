// Wire and crash tests of `npm test`: the main requests of every service, with only Node as a requirement. All others run only with
// `npm run test:full`, as do tests that start many servers. A name is the path below tests/ without `.test.ts`.
export const MAIN_WIRE_FILES = [
  ...['write', 'query-sql', 'query-influxql', 'query-v1', 'caches', 'databases-and-tables'],
  ...['policies-of-databases', 'line-protocol-refusals', 'storage', 'system-tables'],
  ...['permission-tokens', 'processing-triggers', 'service-endpoints', 'influxdb3-profile'],
]
  .map((name) => `wire/tsdb/${name}`)
  .concat(
    ['http', 'stripe-client', 'events', 'operating'].map((name) => `wire/accounts/${name}`),
    ['app-api', 'deliveries', 'events', 'registry'].map((name) => `wire/webhooks/${name}`),
    ['primary-limits', 'windows-and-headers', 'decision-service'].map(
      (name) => `wire/ratelimit/${name}`,
    ),
    ['public-reads', 'limits', 'editor'].map((name) => `wire/gamedata/${name}`),
    ['authentication', 'tokens'].map((name) => `wire/identity/${name}`),
    ['console', 'transport', 'audit', 'unknown-paths'].map((name) => `wire/server/${name}`),
    ['wire/cli/cli', 'crash/kill'],
  );
