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
    tests: [
      unit('identity', 'domain/admin-tokens'),
      unit('identity', 'service'),
      wire('identity/tokens'),
    ],
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
    file: 'packages/identity/dist/domain/credential-resolver.js',
    tests: [
      wire('ratelimit/platform-clients'),
      wire('ratelimit/windows-and-headers'),
      wire('server/database-outage'),
    ],
  },
  {
    file: 'packages/server/dist/http/pipeline.js',
    tests: [unit('server', 'http/pipeline')],
  },
  {
    file: 'packages/server/dist/http/cors.js',
    tests: [wire('server/strangers-pages')],
  },
  {
    file: 'packages/server/dist/port/connection-limit.js',
    tests: [unit('server', 'port/connection-limit'), wire('server/connection-limits')],
  },
  {
    file: 'packages/server/dist/http/head-fault.js',
    tests: [wire('server/malformed-requests')],
  },
  {
    file: 'packages/identity/dist/domain/shared-reading.js',
    tests: [unit('identity', 'domain/shared-reading')],
  },
  {
    file: 'packages/kernel/dist/net/guess-guard.js',
    tests: [unit('kernel', 'net/guess-guard'), unit('ratelimit', 'domain/login-guard')],
  },
  {
    file: 'packages/ratelimit/dist/domain/login-guard.js',
    tests: [unit('ratelimit', 'domain/login-guard')],
  },
  {
    file: 'packages/tsdb/dist/model/package-requirement.js',
    tests: [unit('tsdb', 'model/package-requirement')],
  },
  {
    file: 'packages/tsdb/dist/model/line-allowance.js',
    tests: [unit('tsdb', 'model/line-allowance')],
  },
  {
    file: 'packages/tsdb/dist/storage/plugins/requirements-files.js',
    tests: [unit('tsdb', 'storage/plugins/requirements-files')],
  },
  {
    file: 'packages/tsdb/dist/storage/plugins/plugin-folder.js',
    tests: [
      unit('tsdb', 'storage/plugins/plugin-folder'),
      unit('tsdb', 'storage/plugins/requirements-files'),
      wire('tsdb/processing-files'),
    ],
  },
  {
    file: 'packages/webhooks/dist/domain/signature.js',
    tests: [unit('webhooks', 'domain/signature')],
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
      wire('ratelimit/gate-and-transports'),
      wire('accounts/locked-address'),
      wire('server/database-outage'),
    ],
  },
  {
    file: 'packages/ratelimit/dist/routes/connection-guard.js',
    tests: [wire('ratelimit/connections')],
  },
  {
    file: 'packages/accounts/dist/routes/dialect.js',
    tests: [wire('accounts/http'), wire('accounts/operating')],
  },
  {
    file: 'packages/accounts/dist/routes/arrivals.js',
    tests: [wire('accounts/http'), wire('accounts/operating')],
  },
  {
    file: 'packages/identity/dist/domain/store-absence.js',
    tests: [unit('identity', 'domain/store-absence')],
  },
  {
    file: 'packages/gamedata/dist/routes/editor/editor-access.js',
    tests: [unit('gamedata', 'routes/editor/editor-access'), wire('gamedata/editor')],
  },
];

/** Changes that make no difference, each with why. */
export const EQUIVALENT = [
  // Saves work; the longer way has the same result.
  { file: 'app-jwt.js', text: 'known !== undefined -> false' },
  { file: 'app-jwt.js', text: 'known === undefined -> true' },
  { file: 'app-jwt.js', text: 'app !== undefined -> ((app) === (undefined))' },
  { file: 'app-jwt.js', text: 'known.untilMs > this.#clock.monotonicMs() -> ' },
  { file: 'app-jwt.js', text: 'isValid -> false' },
  { file: 'app-jwt.js', text: 'this.#verified.' },
  { file: 'app-jwt.js', text: '.fingerprint === kid -> ' },
  { file: 'platform-keys.js', text: 'readKeyText(text) === undefined -> false' },
  // An answer that varies by nothing says that it may; no page reads more.
  { file: 'cors.js', text: 'this.#origins.size === 0 -> false' },
  // The signature refuses it as well: without a key there is none, `jose` knows three parts and is told the one algorithm.
  { file: 'app-jwt.js', text: "throw new AppJwtRefused('key_missing')" },
  { file: 'app-jwt.js', text: 'app.keys.length === 0 -> false' },
  { file: 'app-jwt.js', text: 'parts.length !== 3 -> false' },
  // An id that is no exact number belongs to nobody.
  { file: 'app-jwt.js', text: 'Number.isSafeInteger(id) -> true' },
  // The name of an address is that address, which its range allows.
  { file: 'target-guard.js', text: 'range === undefined -> true' },
  // Bits beyond those of an address are not compared.
  { file: 'target-guard.js', text: "address.kind() === 'ipv4' -> false" },
  // The signal is asked again before anything is handed out.
  { file: 'connect.js', text: 'signal.throwIfAborted(); -> ;' },
  // Bounds of memory that 10,000 tokens and 100,000 keys would have to reach.
  { file: 'platform-keys.js', text: "throw identityError('platform_key_limit_reached'" },
  { file: 'admin-tokens.js', text: "throw identityError('token_limit_reached'" },
  { file: 'admin-tokens.js', text: 'this.#byName.size >= MAX_TOKEN_COUNT -> false' },
  { file: 'platform-keys.js', text: 'issued.length > MAX_KEY_COUNT -> false' },
  { file: 'normal-target.js', text: "!target.startsWith('/') -> true" },
  { file: 'normal-target.js', text: 'percent === -1 -> false' },
  { file: 'normal-target.js', text: 'percent > query -> false' },
  // The types of a map: one that is not empty has a first key.
  { file: 'guess-guard.js', text: 'oldest !== undefined -> true' },
];
