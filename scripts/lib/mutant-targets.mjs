const unit = (name, file) => `packages/${name}/dist/${file}.test.js`;
const wire = (file) => `tests/dist/wire/${file}.test.js`;

/** Files that keep others out, with the tests that should notice when one of their decisions is switched off; quick ones first. */
export const TARGETS = [
  {
    file: 'packages/kernel/dist/http/normal-target.js',
    tests: [unit('kernel', 'http/normal-target')],
  },
  {
    file: 'packages/identity/dist/domain/access-gate.js',
    tests: [
      unit('identity', 'service'),
      wire('identity/authentication'),
      wire('server/strangers-pages'),
    ],
  },
  {
    file: 'packages/identity/dist/domain/page-guard.js',
    tests: [wire('server/strangers-pages')],
  },
  {
    file: 'packages/identity/dist/domain/credential.js',
    tests: [unit('identity', 'domain/credential'), wire('identity/authentication')],
  },
  {
    file: 'packages/identity/dist/domain/admin-tokens.js',
    tests: [unit('identity', 'service'), wire('identity/tokens')],
  },
  {
    file: 'packages/identity/dist/domain/app-jwt.js',
    tests: [unit('identity', 'domain/app-jwt'), wire('webhooks/app-api')],
  },
  {
    file: 'packages/identity/dist/domain/platform-keys.js',
    tests: [unit('identity', 'domain/platform-keys'), wire('accounts/http')],
  },
  {
    file: 'packages/identity/dist/domain/credential-desk.js',
    tests: [
      wire('ratelimit/platform-clients'),
      wire('ratelimit/windows-and-headers'),
      wire('server/database-outage'),
    ],
  },
  {
    file: 'packages/server/dist/http/route-guard.js',
    tests: [unit('server', 'http/http-app')],
  },
  {
    file: 'packages/server/dist/http/cors.js',
    tests: [wire('server/strangers-pages')],
  },
  {
    file: 'packages/server/dist/port/connection-limit.js',
    tests: [wire('server/connection-limits')],
  },
  {
    file: 'packages/ratelimit/dist/domain/login-guard.js',
    tests: [unit('ratelimit', 'domain/login-guard')],
  },
  {
    file: 'packages/kernel/dist/deliver/target-guard.js',
    tests: [unit('kernel', 'deliver/target-guard'), wire('accounts/event-targets')],
  },
  {
    file: 'packages/kernel/dist/deliver/connect.js',
    tests: [unit('kernel', 'deliver/connect'), unit('kernel', 'deliver/sender')],
  },
  {
    file: 'packages/ratelimit/dist/routes/http-gate.js',
    tests: [
      wire('ratelimit/windows-and-headers'),
      wire('ratelimit/plain-gate'),
      wire('accounts/locked-address'),
      wire('server/database-outage'),
    ],
  },
  {
    file: 'packages/ratelimit/dist/routes/connection-guard.js',
    tests: [wire('ratelimit/connections')],
  },
  {
    file: 'packages/accounts/dist/routes/front.js',
    tests: [wire('accounts/http'), wire('accounts/plain-creates')],
  },
  {
    file: 'packages/identity/dist/domain/store-absence.js',
    tests: [unit('identity', 'domain/store-absence')],
  },
  {
    file: 'packages/gamedata/dist/routes/editor/editor-access.js',
    tests: [wire('gamedata/editor'), wire('gamedata/records')],
  },
];

/** Changes that make no difference, each with why. */
export const EQUIVALENT = [
  // Saves work; the longer way has the same result.
  { file: 'normal-target.js', text: "!target.startsWith('/') -> true" },
  { file: 'normal-target.js', text: 'percent === -1 -> false' },
  { file: 'normal-target.js', text: 'percent > query -> false' },
  // The types of a map: one that is not empty has a first key.
  { file: 'login-guard.js', text: 'oldest !== undefined -> true' },
];
