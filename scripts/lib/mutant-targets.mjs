const unit = (name, file) => `packages/${name}/dist/${file}.test.js`;
const wire = (file) => `tests/dist/wire/${file}.test.js`;

/** Files with security decisions, and the tests that must fail if a decision is disabled. Fast tests come first. */
export const TARGETS = [
  {
    file: 'packages/kernel/dist/commit-log/recovery/log-resync.js',
    tests: [unit('kernel', 'commit-log/recovery/log-salvage')],
  },
  {
    file: 'packages/kernel/dist/http/normal-target.js',
    tests: [unit('kernel', 'http/normal-target')],
  },
  {
    file: 'packages/server/dist/folder/folder-owner.js',
    tests: [wire('server/file-rights')],
  },
  {
    file: 'packages/kernel/dist/fs/disk-space.js',
    tests: [unit('kernel', 'fs/disk-space')],
  },
  {
    file: 'packages/server/dist/operator/full-disk-requests.js',
    tests: [unit('server', 'operator/full-disk-requests')],
  },
  {
    file: 'packages/kernel/dist/schema/plain-text.js',
    tests: [unit('kernel', 'schema/plain-text')],
  },
  {
    file: 'packages/identity/dist/domain/key-maker.js',
    tests: [unit('identity', 'domain/key-maker')],
  },
  {
    file: 'packages/identity/dist/domain/access-control.js',
    tests: [
      unit('identity', 'service'),
      unit('identity', 'domain/first-token-claim'),
      wire('identity/authentication'),
      wire('server/strangers-pages'),
    ],
  },
  {
    file: 'packages/identity/dist/domain/first-token-claim.js',
    tests: [unit('identity', 'domain/first-token-claim')],
  },
  {
    file: 'packages/identity/dist/model/claim-code.js',
    tests: [unit('identity', 'domain/first-token-claim')],
  },
  {
    file: 'packages/kernel/dist/http/access/permission.js',
    tests: [unit('kernel', 'http/access/permission')],
  },
  {
    file: 'packages/identity/dist/domain/password-checks.js',
    tests: [unit('identity', 'domain/password-users')],
  },
  {
    file: 'packages/tsdb-model/dist/database/database-access.js',
    tests: [unit('tsdb-model', 'database/database-access')],
  },
  {
    file: 'packages/tsdb-ingest/dist/prometheus/snappy.js',
    tests: [unit('tsdb-ingest', 'prometheus/snappy')],
  },
  {
    file: 'packages/tsdb-ingest/dist/messages/label-bytes.js',
    tests: [unit('tsdb-ingest', 'otlp/metrics-parser')],
  },
  {
    file: 'packages/tsdb/dist/routes/prometheus/remote-read-routes.js',
    tests: [wire('tsdb/prometheus-remote-read')],
  },
  {
    file: 'packages/tsdb-catalog/dist/access/catalog-view.js',
    tests: [wire('tsdb/permissions')],
  },
  {
    file: 'packages/tsdb/dist/routes/iceberg/iceberg-routes.js',
    tests: [wire('tsdb/iceberg-catalog')],
  },
  {
    file: 'packages/tsdb/dist/routes/iceberg/iceberg-conventions.js',
    tests: [unit('tsdb', 'routes/iceberg/iceberg-conventions'), wire('tsdb/iceberg-catalog')],
  },
  {
    file: 'packages/kernel/dist/lease/round-robin.js',
    tests: [unit('kernel', 'lease/round-robin')],
  },
  {
    file: 'packages/identity/dist/domain/fair-queue.js',
    tests: [unit('identity', 'domain/fair-queue')],
  },
  {
    file: 'packages/tsdb-model/dist/fair-semaphore.js',
    tests: [unit('tsdb-model', 'fair-semaphore')],
  },
  {
    file: 'packages/identity/dist/domain/page-guard.js',
    tests: [unit('identity', 'domain/page-guard')],
  },
  {
    file: 'packages/identity/dist/domain/credential.js',
    tests: [unit('identity', 'domain/credential'), wire('identity/authentication')],
  },
  {
    file: 'packages/identity/dist/domain/api-tokens.js',
    tests: [
      unit('identity', 'domain/api-tokens'),
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
    tests: [unit('identity', 'domain/credential-resolver')],
  },
  {
    file: 'packages/server/dist/http/pipeline.js',
    tests: [unit('server', 'http/pipeline')],
  },
  {
    file: 'packages/server/dist/http/identify.js',
    tests: [unit('server', 'http/pipeline')],
  },
  {
    file: 'packages/server/dist/http/exchange.js',
    tests: [unit('server', 'http/pipeline')],
  },
  {
    file: 'packages/kernel/dist/http/access/cors.js',
    tests: [unit('kernel', 'http/access/cors')],
  },
  {
    file: 'packages/server/dist/port/limits/connection-limit.js',
    tests: [unit('server', 'port/connection-limit'), wire('server/connection-limits')],
  },
  {
    file: 'packages/kernel/dist/http/head-fault.js',
    tests: [unit('kernel', 'http/head-fault')],
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
    file: 'packages/tsdb-model/dist/plugins/package-requirement.js',
    tests: [unit('tsdb-model', 'plugins/package-requirement')],
  },
  {
    file: 'packages/tsdb-model/dist/plugins/line-allowance.js',
    tests: [unit('tsdb-model', 'plugins/line-allowance')],
  },
  {
    file: 'packages/tsdb-plugins/dist/storage/plugins/requirements-files.js',
    tests: [unit('tsdb-plugins', 'storage/plugins/requirements-files')],
  },
  {
    file: 'packages/tsdb-plugins/dist/storage/plugins/plugin-folder.js',
    tests: [
      unit('tsdb-plugins', 'storage/plugins/plugin-folder'),
      unit('tsdb-plugins', 'storage/plugins/requirements-files'),
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
    file: 'packages/kernel/dist/deliver/interim-responses.js',
    tests: [unit('kernel', 'deliver/sender')],
  },
  {
    file: 'packages/kernel/dist/deliver/sender.js',
    tests: [unit('kernel', 'deliver/sender')],
  },
  {
    file: 'packages/kernel/dist/http/body/body-budget.js',
    tests: [unit('kernel', 'http/body/body-budget')],
  },
  {
    file: 'packages/kernel/dist/net/networks.js',
    tests: [unit('kernel', 'net/networks')],
  },
  {
    file: 'packages/kernel/dist/fs/folder-lock.js',
    tests: [unit('kernel', 'fs/folder-lock')],
  },
  {
    file: 'packages/kernel/dist/http/body/json-bounds.js',
    tests: [unit('kernel', 'http/body/json-bounds')],
  },
  {
    file: 'packages/identity/dist/domain/token-file.js',
    tests: [unit('identity', 'domain/token-file')],
  },
  {
    file: 'packages/tsdb-plugins/dist/storage/plugins/plugin-file-name.js',
    tests: [unit('tsdb-plugins', 'storage/plugins/plugin-file-name')],
  },
  {
    file: 'packages/tsdb-storage/dist/duckdb/instance/lock-down.js',
    tests: [unit('tsdb-storage', 'duckdb/instance/open-instance')],
  },
  {
    file: 'packages/server/dist/backup/backup-folder.js',
    tests: [unit('server', 'backup/backup-folder'), wire('server/hostile-backup')],
  },
  {
    file: 'packages/kernel/dist/net/client-address.js',
    tests: [unit('kernel', 'net/client-address')],
  },
  {
    file: 'packages/ratelimit/dist/routes/gate/http-gate.js',
    tests: [unit('ratelimit', 'routes/gate/http-gate')],
  },
  {
    file: 'packages/ratelimit/dist/routes/gate/connection-guard.js',
    tests: [unit('ratelimit', 'routes/gate/connection-guard')],
  },
  {
    file: 'packages/accounts/dist/routes/conventions.js',
    tests: [unit('accounts', 'routes/conventions')],
  },
  {
    file: 'packages/accounts/dist/routes/request-authenticator.js',
    tests: [unit('accounts', 'routes/request-authenticator')],
  },
  {
    file: 'packages/identity/dist/domain/store-failure.js',
    tests: [unit('identity', 'domain/store-failure')],
  },
  {
    file: 'packages/gamedata/dist/routes/editor/editor-access.js',
    tests: [unit('gamedata', 'routes/editor/editor-access')],
  },
];

/** Equivalent mutants, grouped by the reason why they change no behavior. */
export const EQUIVALENT = [
  // Both branches copy the same bytes.
  { file: 'prometheus/snappy.js', text: 'size > SHORT_BYTES' },
  // A missing day parses as NaN, and `NaN <= now` is never true.
  { file: 'editor-access.js', text: 'day === undefined -> false' },
  // A waiter leaves the queue only by its signal.
  { file: 'fair-semaphore.js', text: 'signal !== undefined -> true' },
  // Cache hits only save work. The slow path has the same result.
  { file: 'app-jwt.js', text: 'known !== undefined -> false' },
  { file: 'app-jwt.js', text: 'known === undefined -> true' },
  { file: 'app-jwt.js', text: 'app !== undefined -> ((app) === (undefined))' },
  { file: 'app-jwt.js', text: 'known.untilMs > this.#clock.monotonicMs() -> ' },
  { file: 'app-jwt.js', text: 'isValid -> false' },
  { file: 'app-jwt.js', text: 'this.#verified.' },
  { file: 'app-jwt.js', text: '.fingerprint === kid -> ' },
  { file: 'platform-keys.js', text: 'readKeyText(text) === undefined -> false' },
  { file: 'pipeline.js', text: '!this.#logsRequests -> false' },
  { file: 'networks.js', text: "text.includes(':') -> true" },
  { file: 'client-address.js', text: 'this.#bySocket.set(socket, peer); -> ;' },
  { file: 'client-address.js', text: 'this.#byText.set(text, peer); -> ;' },
  { file: 'client-address.js', text: 'peer === undefined -> true' },
  { file: 'request-authenticator.js', text: 'earlier !== undefined -> false' },
  { file: 'request-authenticator.js', text: 'this.#versions.' },
  // Only platform keys have a platform, and no platform has this id.
  { file: 'request-authenticator.js', text: "principal.kind === 'platform_key' -> true" },
  { file: 'request-authenticator.js', text: 'id === undefined -> false' },
  // An invalid version falls back to the platform's own version.
  { file: 'request-authenticator.js', text: 'sent !== undefined -> true' },
  { file: 'http-gate.js', text: 'this.#rules.set(service, rule); -> ;' },
  { file: 'http-gate.js', text: 'this.#plans.set(route, plan); -> ;' },
  { file: 'http-gate.js', text: 'this.#unrouted.set(key, plan); -> ;' },
  { file: 'http-gate.js', text: 'rule === undefined -> true' },
  { file: 'http-gate.js', text: 'plan === undefined -> true' },
  { file: 'client-address.js', text: 'known !== undefined -> false' },
  // Limits memory: all unknown methods share counters and have the same cost.
  { file: 'http-gate.js', text: 'KNOWN_METHODS.has(method) -> true' },
  // Only frees memory.
  { file: 'connection-guard.js', text: 'this.#counts.delete(key); -> ;' },
  { file: 'connection-guard.js', text: 'left > 0 -> true' },
  { file: 'client-address.js', text: 'this.#byText.clear(); -> ;' },
  { file: 'client-address.js', text: 'this.#byText.size >= MAX_CACHED_COUNT -> ' },
  { file: 'credential-resolver.js', text: 'this.#remembered.delete(digest); -> ;' },
  // The response is the same, one microtask earlier or later.
  { file: 'pipeline.js', text: 'ed instanceof Promise -> true' },
  { file: 'pipeline.js', text: 'admitting instanceof Promise -> true' },

  // The map only saves the creation of another equal object.
  { file: 'database-access.js', text: 'KNOWN.set(principal, access); -> ;' },
  { file: 'database-access.js', text: 'access === undefined -> true' },
  // The tests do not run on Windows.
  { file: 'token-file.js', text: "process.platform === 'win32' -> false" },
  // An origin is never `undefined`.
  { file: 'page-guard.js', text: 'publicUrl === undefined -> false' },
  // Without allowed origins, an unnecessary `Vary` header grants no access.
  { file: 'cors.js', text: 'this.#origins.size === 0 -> false' },
  // Signature verification also rejects these tokens: the app has no key, `jose` requires three parts, and only one algorithm is allowed.
  { file: 'app-jwt.js', text: "throw new AppJwtRefused('key_missing')" },
  { file: 'app-jwt.js', text: 'app.keys.length === 0 -> false' },
  // No app has an ID outside the safe integer range.
  { file: 'app-jwt.js', text: 'Number.isSafeInteger(id) -> true' },
  // An address literal resolves to itself, and its range was already allowed.
  { file: 'target-guard.js', text: 'range === undefined -> true' },
  // Bits beyond the address length are not compared.
  { file: 'networks.js', text: "address.kind() === 'ipv4' -> false" },
  { file: 'target-guard.js', text: "address.kind() === 'ipv4' -> false" },
  // The signal is checked again before a connection is returned.
  { file: 'connect.js', text: 'signal.throwIfAborted(); -> ;' },
  // Memory limits that only 10,000 tokens or 100,000 keys reach.
  { file: 'platform-keys.js', text: "throw identityError('platform_key_limit_reached'" },
  { file: 'credential-resolver.js', text: 'this.#remembered.size <= MAX_REMEMBERED_COUNT -> true' },
  { file: 'credential-resolver.js', text: 'oldest !== undefined -> ' },
  { file: 'credential-resolver.js', text: 'this.#remembered.delete(oldest); -> ;' },
  { file: 'api-tokens.js', text: "throw identityError('token_limit_reached'" },
  { file: 'api-tokens.js', text: 'this.#byName.size >= MAX_TOKEN_COUNT -> false' },
  { file: 'platform-keys.js', text: 'issued.length > MAX_KEY_COUNT -> false' },
  { file: 'normal-target.js', text: "!target.startsWith('/') -> true" },
  { file: 'normal-target.js', text: 'percent === -1 -> false' },
  { file: 'normal-target.js', text: 'percent > query -> false' },
  { file: 'plugin-folder.js', text: 'stat === undefined -> true' },
  { file: 'plugin-folder.js', text: 'name.startsWith(sep) -> true' },
  { file: 'plugin-folder.js', text: "typeof content === 'string' -> true" },
  // A file that is deleted during listing, and a root that does not exist.
  { file: 'plugin-folder.js', text: 'stat !== undefined -> true' },
  { file: 'plugin-folder.js', text: 'parent === path -> false' },
  // Garbage collection closes the database, and the end of the transaction already released the lock.
  { file: 'folder-lock.js', text: 'this.#database.close(); -> ;' },
  // This is the driver's default.
  { file: 'folder-lock.js', text: "database.pragma('busy_timeout" },
  // No app has such a client ID. Only PostgreSQL rejects a query for it (`texts-nobody-has.test.ts`).
  { file: 'credential-resolver.js', text: '!isClientId(clientId) -> false' },
  { file: 'app-jwt.js', text: 'isClientId(text) -> true' },
  // Cleanup of state that expires anyway or is checked again immediately.
  { file: 'deliver/sender.js', text: 'clearTimeout(timer); -> ;' },
  { file: 'deliver/sender.js', text: 'this.#sweep[Symbol.dispose](); -> ;' },
  { file: 'deliver/sender.js', text: 'this.#idle.clear(); -> ;' },
  { file: 'deliver/sender.js', text: 'this.#idle.delete(origin); -> ;' },
  { file: 'deliver/sender.js', text: 'signal.throwIfAborted(); -> ;' },
  { file: 'deliver/sender.js', text: 'usable.length > 0 -> true' },
  // Sending over a lost kept-alive connection detects the loss, and the client closes with its socket.
  { file: 'deliver/sender.js', text: '!client.destroyed && !socket.destroyed' },
  { file: 'deliver/sender.js', text: 'destroy(next); -> ;' },
  { file: 'deliver/sender.js', text: 'this.#idle.set(origin, usable); -> ;' },
  { file: 'deliver/sender.js', text: 'client.destroy().catch(() => { }); -> ;' },
  // The client connects once, because it is destroyed with its connection.
  { file: 'deliver/sender.js', text: 'isFirst -> true' },
  {
    file: 'deliver/sender.js',
    text: "callback(new Error('the connection is closed'), null); -> ;",
  },
  // A connection that was never used is never stale.
  { file: 'deliver/sender.js', text: "exchange === 'stale' -> false" },
  { file: 'deliver/sender.js', text: "throw new TransportFailed('connection_lost'" },
  // Matters only on a power failure. The tests only kill processes.
  { file: 'backup-folder.js', text: "at !== '.' -> " },
  { file: 'backup-folder.js', text: 'folders.add(at); -> ;' },
  { file: 'backup-folder.js', text: "process.platform === 'win32' -> " },
  // Needed only for the type of `Map`. A map that is not empty has a first key.
  { file: 'guess-guard.js', text: 'oldest !== undefined -> true' },
];
