import { ACCOUNTS_SETTINGS } from '@plinth/accounts';
import { GAMEDATA_SETTINGS } from '@plinth/gamedata';
import { IDENTITY_SETTINGS } from '@plinth/identity';
import { defineSettings, type LoadedSettings, type SettingsOf, settingsPage } from '@plinth/kernel';
import { RATE_LIMIT_SETTINGS } from '@plinth/ratelimit';
import { OPEN_TABLES_SETTINGS, QUERY_SETTINGS, TSDB_SETTINGS } from '@plinth/tsdb';
import { WEBHOOKS_SETTINGS } from '@plinth/webhooks';
import { type TSchemaOptions, Type } from 'typebox';
import { LOG_FILTER_PATTERN, LOG_LEVELS } from './process/log-filter.js';
import { OBJECT_STORE_SETTINGS } from './services/bucket-settings.js';

export const SERVICE_NAMES = ['tsdb', 'accounts', 'webhooks', 'ratelimit', 'gamedata'] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

/** Matches ports up to 65535. */
const PORT = '(\\d{1,4}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])';

/** Keeps the literal types, which `map` would lose. */
const oneOf = <const T extends string>(names: readonly T[], options: TSchemaOptions = {}) =>
  Type.Unsafe<T>(
    Type.Union(
      names.map((name) => Type.Literal(name)),
      options,
    ),
  );

/** General server settings. Source of the InfluxDB names: tsdb-http, section 19. */
const SERVER_SETTINGS = defineSettings(
  'server',
  {
    http_bind: Type.String({
      default: '127.0.0.1:8181',
      pattern: `^(\\[[0-9a-fA-F:.]+\\]|[^:\\s]+):${PORT}$`,
      examples: ['127.0.0.1:8181'],
      description: 'address and port to listen on',
      details: '`0.0.0.0:8181` accepts clients on other machines; port 0 picks a free port.',
    }),
    data_dir: Type.String({
      default: 'plinth-data',
      minLength: 1,
      description: 'folder for all stored data',
    }),
    node_id: Type.String({
      default: 'node0',
      minLength: 1,
      description: 'node name in the logs',
    }),
    first_token: oneOf(['claim', 'anyone'], {
      default: 'claim',
      description: 'clients that may create the first admin token',
      details:
        '`claim`: any program on the same machine while the server listens on loopback; other clients need the claim code. `anyone`: the first client, as in InfluxDB 3.',
    }),
    public_url: Type.Optional(
      Type.String({
        pattern: '^https?://[^\\s/?#]+$',
        examples: ['https://plinth.example.com'],
        description: 'scheme and host that clients use, for links in responses',
        details: 'Default: taken from each request.',
      }),
    ),
    allowed_hosts: Type.Array(Type.String({ minLength: 1, pattern: '^\\.?[A-Za-z0-9._-]+$' }), {
      default: [],
      examples: ['plinth,.example.com'],
      description: 'additional host names accepted when no credential is required',
      details:
        'This applies to `--without-auth`, the first token and recovery. `.example.com` matches all subdomains. Loopback names, the bound address and the host of `public_url` are always accepted.',
    }),
    cors_origins: Type.Optional(
      Type.Array(Type.String({ pattern: '^https?://[^\\s/?#]+$' }), {
        examples: ['https://grafana.example.com'],
        description: 'web origins that may call the time-series API',
        details: 'Default: any origin if requests require a token, and none with `--without-auth`.',
      }),
    ),
    master_key: Type.Optional(
      Type.String({
        minLength: 32,
        description: 'encryption key for stored secrets, at least 32 characters',
        details: 'Default: a generated key in the file `master.key` of the data folder.',
      }),
    ),
    master_key_file: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'file that contains the master key',
        details:
          'Make it readable only by the server. Environment variables are visible in `/proc`, and flags to every user of the machine.',
      }),
    ),
    database_url: Type.Optional(
      Type.String({
        pattern: '^postgres(ql)?://[^\\s]+$',
        examples: ['postgres://plinth:secret@db.internal:5432/plinth'],
        description: 'PostgreSQL database (13 or newer) shared by several nodes',
        details:
          'It stores tokens, apps, accounts, webhooks and game data. Default: the data folder.',
      }),
    ),
    object_store: oneOf(['file', 'memory'], {
      default: 'file',
      description: 'storage location; data in `memory` is lost when the process exits',
    }),
    services: Type.Array(oneOf([...SERVICE_NAMES, 'identity']), {
      default: [...SERVICE_NAMES],
      minItems: 1,
      description: 'services to run',
      details: '`identity` (tokens, apps, users) always runs and may be listed.',
    }),
    absent_service_days: Type.Integer({
      default: 30,
      minimum: 1,
      maximum: 3650,
      description: 'days to keep events for a service that no longer runs',
      details: 'After that, the service misses these events.',
    }),
    catalog_snapshot_interval_sec: Type.Integer({
      default: 21_600,
      minimum: 0,
      maximum: 2_592_000,
      description: 'interval between snapshots of `plinth.db`; 0 disables them',
      details:
        'A snapshot is written to `snapshots/` in the data folder when `plinth.db` has changed. The last three are kept.',
    }),
    trusted_proxies: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description:
        'proxies trusted to report client addresses: networks (`10.0.0.0/8`), `loopback` or `private`',
    }),
    proxy_protocol: Type.Boolean({
      default: false,
      description: 'require a PROXY protocol header (version 1 or 2) from trusted proxies',
      details: 'A connection from a trusted proxy without the header is closed.',
    }),
    max_connections_per_address: Type.Integer({
      default: 4096,
      minimum: 1,
      maximum: 16_384,
      description: 'open connections allowed per client address',
      details:
        'An IPv6 client is counted by its /64 network. Connections above the limit are closed at once. Trusted proxies are not limited.',
    }),
    max_body_memory_bytes: Type.Optional(
      Type.Integer({
        minimum: 1_048_576,
        description: 'memory for all request bodies together; requests beyond it return 503',
        details: 'Default: one eighth of the memory available to the process, at least 128 MiB.',
      }),
    ),
    client_address_header: Type.String({
      default: 'X-Forwarded-For',
      pattern: '^[A-Za-z][A-Za-z0-9-]*$',
      description: 'header in which trusted proxies send the client address',
      details: 'Use `X-Forwarded-For`, `Forwarded`, or a header that contains one address.',
    }),
    otlp_traces_url: Type.Optional(
      Type.String({
        pattern: '^https?://[^\\s]+$',
        examples: ['http://127.0.0.1:4318/v1/traces'],
        description: 'OpenTelemetry collector URL for traces (OTLP over HTTP, JSON)',
        details:
          'It receives a span for each webhook attempt and for sampled requests of the time-series service.',
      }),
    ),
    otlp_sample_ratio: Type.Number({
      default: 0.01,
      minimum: 0,
      maximum: 1,
      description: 'share of time-series requests that are traced',
      details: 'A valid `traceparent` header from the client takes precedence.',
    }),
    drain_ms: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 600_000,
        description: 'time to report "not ready" before shutdown starts',
        details:
          'During this time, `/ready` and `/health` fail, and each connection can complete one more request. Set a longer time than the load balancer needs to detect this. Default: 5 s with trusted proxies, otherwise 0.',
      }),
    ),
    shutdown_timeout_ms: Type.Integer({
      default: 30_000,
      minimum: 0,
      description: 'maximum duration of a shutdown, at least 3 s',
      details:
        'Running requests may use all but the last quarter (at most 5 s), which is reserved for closing. Then the process exits.',
    }),
    log_level: oneOf(LOG_LEVELS, {
      default: 'info',
      description: 'minimum level of logged messages',
      details: 'Requests are logged at `debug`.',
    }),
    log_filter: Type.Optional(
      Type.String({
        pattern: LOG_FILTER_PATTERN,
        examples: ['info,influxdb3_wal=debug'],
        description: 'log level in InfluxDB 3 syntax; takes precedence over `log_level`',
        details:
          'Use `off`, `error`, `warn`, `info`, `debug` or `trace`. Levels of single modules are ignored.',
      }),
    ),
    log_format: Type.Optional(
      oneOf(['text', 'json', 'full', 'pretty', 'compact'], {
        description: 'log format; by default text on a terminal, otherwise JSON lines',
        details: '`full`, `pretty` and `compact` mean text.',
      }),
    ),
    access_log: oneOf(['off', 'json', 'combined'], {
      default: 'off',
      description: 'access log format: `json` or `combined` (Apache and nginx)',
      details: '`json` writes one object per line.',
    }),
    access_log_file: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'file to append the access log to; default: standard output',
      }),
    ),
    tls_cert: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'PEM file with the TLS certificate and its intermediate certificates',
        details: 'The server reloads the file on SIGHUP.',
      }),
    ),
    tls_key: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'PEM file with the private key of the certificate',
        details: 'The port uses TLS when both the certificate and the key are set.',
      }),
    ),
    tls_minimum_version: oneOf(['tls-1.2', 'tls-1.3'], {
      default: 'tls-1.2',
      description: 'oldest TLS version to accept',
    }),
    tls_plaintext: oneOf(['refuse', 'allow'], {
      default: 'refuse',
      description: 'whether to accept connections without TLS when TLS is enabled',
    }),
  },
  {
    http_bind: { flags: ['http-bind'], env: ['PLINTH_HTTP_BIND', 'INFLUXDB3_HTTP_BIND_ADDR'] },
    first_token: { flags: ['first-token'], env: ['PLINTH_FIRST_TOKEN'] },
    public_url: { flags: ['public-url'], env: ['PLINTH_PUBLIC_URL'] },
    master_key: { env: ['PLINTH_MASTER_KEY'] },
    master_key_file: { env: ['PLINTH_MASTER_KEY_FILE'] },
    database_url: { env: ['PLINTH_DATABASE_URL'] },
    data_dir: {
      flags: ['data-dir'],
      env: ['PLINTH_DATA_DIR', 'INFLUXDB3_DATA_DIR', 'INFLUXDB3_DB_DIR'],
    },
    node_id: {
      flags: ['node-id'],
      env: ['PLINTH_NODE_ID', 'INFLUXDB3_NODE_ID', 'INFLUXDB3_NODE_IDENTIFIER_PREFIX'],
    },
    object_store: { flags: ['object-store'], env: ['INFLUXDB3_OBJECT_STORE'] },
    services: { flags: ['services'], env: ['PLINTH_SERVICES'] },
    shutdown_timeout_ms: {
      flags: ['shutdown-timeout'],
      env: ['INFLUXDB3_SHUTDOWN_TIMEOUT'],
    },
    log_level: { flags: ['log-level'], env: ['PLINTH_LOG_LEVEL'] },
    log_filter: { flags: ['log-filter'], env: ['INFLUXDB3_LOG_FILTER'] },
    log_format: {
      flags: ['log-format'],
      env: ['PLINTH_LOG_FORMAT', 'INFLUXDB3_LOG_FORMAT'],
    },
    access_log: { flags: ['access-log'], env: ['PLINTH_ACCESS_LOG'] },
    access_log_file: { flags: ['access-log-file'], env: ['PLINTH_ACCESS_LOG_FILE'] },
    tls_cert: { flags: ['tls-cert'], env: ['PLINTH_TLS_CERT', 'INFLUXDB3_TLS_CERT'] },
    tls_key: { flags: ['tls-key'], env: ['PLINTH_TLS_KEY', 'INFLUXDB3_TLS_KEY'] },
    tls_minimum_version: {
      flags: ['tls-minimum-version'],
      env: ['PLINTH_TLS_MINIMUM_VERSION', 'INFLUXDB3_TLS_MINIMUM_VERSION'],
    },
    tls_plaintext: { flags: ['tls-plaintext'], env: ['PLINTH_TLS_PLAINTEXT'] },
  },
);

/** Scheduled backups. */
const BACKUP_SETTINGS = defineSettings('backup', {
  schedule: Type.Optional(
    Type.String({
      minLength: 1,
      examples: ['0 30 2 * * *', '@daily'],
      description: 'cron schedule (UTC) for automatic backups; requires `backup.folder`',
      details:
        'Fields: second, minute, hour, day of month, month, day of week. `@hourly`, `@daily`, `@weekly` and `@monthly` are also accepted.',
    }),
  ),
  folder: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'folder for scheduled backups',
      details: 'Use another disk or a network file system. Each backup is a subfolder.',
    }),
  ),
  keep: Type.Integer({
    default: 7,
    minimum: 1,
    maximum: 10_000,
    description: 'number of scheduled backups to keep',
    details: 'Older ones are removed when a new backup is complete.',
  }),
});

/** Free space on the disk of the data folder. */
const STORAGE_SETTINGS = defineSettings('storage', {
  min_free_bytes: Type.Integer({
    default: 268_435_456,
    minimum: 0,
    description: 'free disk space below which writes return 503; 0 disables the check',
    details:
      'Queries and deletions still work. With 0, writes are rejected only when the disk is full.',
  }),
  reserve_bytes: Type.Integer({
    default: 16_777_216,
    minimum: 0,
    description: 'disk space reserved for deletions when the disk is full; 0 disables the reserve',
    details:
      'The file `disk-reserve` in the data folder holds the space. It is released when the disk is full and allocated again later.',
  }),
});

/** All sections, by the key under which each part receives its settings. */
export const SETTINGS = {
  server: SERVER_SETTINGS,
  storage: STORAGE_SETTINGS,
  backup: BACKUP_SETTINGS,
  identity: IDENTITY_SETTINGS,
  tsdb: TSDB_SETTINGS,
  openTables: OPEN_TABLES_SETTINGS,
  query: QUERY_SETTINGS,
  objectStore: OBJECT_STORE_SETTINGS,
  accounts: ACCOUNTS_SETTINGS,
  webhooks: WEBHOOKS_SETTINGS,
  rateLimit: RATE_LIMIT_SETTINGS,
  gamedata: GAMEDATA_SETTINGS,
};

/** Generates `docs/SETTINGS.md`. */
export const describeAllSettings = (): string => settingsPage(Object.values(SETTINGS));

export type Settings = LoadedSettings<typeof SETTINGS>;
export type BackupSettings = SettingsOf<typeof BACKUP_SETTINGS>;
export type ServerSettings = SettingsOf<typeof SERVER_SETTINGS>;
