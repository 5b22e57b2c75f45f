import { ACCOUNTS_SETTINGS } from '@plinth/accounts';
import { GAMEDATA_SETTINGS } from '@plinth/gamedata';
import { IDENTITY_SETTINGS } from '@plinth/identity';
import { defineSettings, type LoadedSettings, type SettingsOf, settingsPage } from '@plinth/kernel';
import { RATE_LIMIT_SETTINGS } from '@plinth/ratelimit';
import { TSDB_SETTINGS } from '@plinth/tsdb';
import { WEBHOOKS_SETTINGS } from '@plinth/webhooks';
import { type TSchemaOptions, Type } from 'typebox';
import { LOG_FILTER_PATTERN, LOG_LEVELS } from './process/log-filter.js';

export const SERVICE_NAMES = ['tsdb', 'accounts', 'webhooks', 'ratelimit', 'gamedata'] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

/** Ports above 65,535 must not get as far as the socket. */
const PORT = '(\\d{1,4}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])';

/** The union's own type is lost in `map`. */
const oneOf = <const T extends string>(names: readonly T[], options: TSchemaOptions = {}) =>
  Type.Unsafe<T>(
    Type.Union(
      names.map((name) => Type.Literal(name)),
      options,
    ),
  );

/** Settings of the server as a whole. Names of the real system: tsdb-http, section 19. */
const SERVER_SETTINGS = defineSettings(
  'server',
  {
    http_bind: Type.String({
      default: '127.0.0.1:8181',
      pattern: `^(\\[[0-9a-fA-F:.]+\\]|[^:\\s]+):${PORT}$`,
      examples: ['127.0.0.1:8181'],
      description:
        'address and port to listen on; `0.0.0.0:8181` accepts clients on other machines, port 0 takes a free one',
    }),
    data_dir: Type.String({
      default: 'plinth-data',
      minLength: 1,
      description: 'folder that holds everything the server stores',
    }),
    node_id: Type.String({
      default: 'node0',
      minLength: 1,
      description: 'label of this node in logs',
    }),
    first_token: oneOf(['claim', 'anyone'], {
      default: 'claim',
      description:
        'who may create the first admin token. `claim`: programs on the same machine, while the server listens on loopback; every other client needs the claim code. `anyone`: the first client, as in InfluxDB 3',
    }),
    public_url: Type.Optional(
      Type.String({
        pattern: '^https?://[^\\s/?#]+$',
        examples: ['https://plinth.example.com'],
        description:
          'scheme and host under which clients see the server, for links in answers; without it each request says',
      }),
    ),
    allowed_hosts: Type.Array(Type.String({ minLength: 1, pattern: '^\\.?[A-Za-z0-9._-]+$' }), {
      default: [],
      examples: ['plinth,.example.com'],
      description:
        'further names under which clients may reach the server where it asks for no credential (`--without-auth`, the first token, recovery); `.example.com` names all below. Loopback names, the bound address and that of `public_url` are known',
    }),
    cors_origins: Type.Optional(
      Type.Array(Type.String({ pattern: '^https?://[^\\s/?#]+$' }), {
        examples: ['https://grafana.example.com'],
        description:
          'web pages that may call the time-series API; without it any page that has a token may, and none where no token is asked for (`--without-auth`)',
      }),
    ),
    master_key: Type.Optional(
      Type.String({
        minLength: 32,
        description:
          'text of at least 32 characters with which stored secrets are sealed; without it a key is made and kept in the file `master.key` of the data folder',
      }),
    ),
    master_key_file: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'file that holds that text, for the server alone to read: an environment can be seen in `/proc`, and flags by everybody on the machine',
      }),
    ),
    database_url: Type.Optional(
      Type.String({
        pattern: '^postgres(ql)?://[^\\s]+$',
        examples: ['postgres://plinth:secret@db.internal:5432/plinth'],
        description:
          'PostgreSQL database (13 or newer) for what several nodes share: tokens, apps, accounts, webhooks, game data; without it that is in the data folder',
      }),
    ),
    object_store: oneOf(['file', 'memory'], {
      default: 'file',
      description: 'where data live; `memory` keeps nothing after the end of the process',
    }),
    services: Type.Array(oneOf([...SERVICE_NAMES, 'identity']), {
      default: [...SERVICE_NAMES],
      minItems: 1,
      description: 'services to run; `identity` (tokens, apps, users) always runs and may be named',
    }),
    absent_service_days: Type.Integer({
      default: 30,
      minimum: 1,
      maximum: 3650,
      description:
        'how long events between services are kept for one that ran here and does not any more; later it misses them',
    }),
    catalog_snapshot_interval_sec: Type.Integer({
      default: 21_600,
      minimum: 0,
      maximum: 2_592_000,
      description:
        'interval of the copies of `plinth.db` in `snapshots/` of the data folder, made when it has changed; the last three are kept; 0 turns them off',
    }),
    trusted_proxies: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description:
        'networks (`10.0.0.0/8`), `loopback` or `private` whose word about the address of a client is believed',
    }),
    proxy_protocol: Type.Boolean({
      default: false,
      description:
        'every connection of a trusted proxy begins with a header of the PROXY protocol (version 1 or 2) that names its client; one without is closed',
    }),
    max_connections_per_address: Type.Integer({
      default: 4096,
      minimum: 1,
      maximum: 16_384,
      description:
        'open connections that one address (of version 6: one network of 64 bits) may hold; more are closed at once. Trusted proxies may hold any number',
    }),
    max_body_memory_bytes: Type.Optional(
      Type.Integer({
        minimum: 1_048_576,
        description:
          'memory for the bodies of all requests together, on their way or being handled; beyond it they are answered with 503. Without it an eighth of what the process may use, at least 128 MiB',
      }),
    ),
    client_address_header: Type.String({
      default: 'X-Forwarded-For',
      pattern: '^[A-Za-z][A-Za-z0-9-]*$',
      description:
        'where such proxies say it: `X-Forwarded-For`, `Forwarded`, or a header with one address',
    }),
    otlp_traces_url: Type.Optional(
      Type.String({
        pattern: '^https?://[^\\s]+$',
        examples: ['http://127.0.0.1:4318/v1/traces'],
        description:
          'OpenTelemetry collector (OTLP over HTTP, JSON) that is sent a span of every webhook attempt and of sampled requests of the time-series service',
      }),
    ),
    otlp_sample_ratio: Type.Number({
      default: 0.01,
      minimum: 0,
      maximum: 1,
      description:
        'share of the requests of the time-series service that are traced; a valid `traceparent` of the client decides instead',
    }),
    drain_ms: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 600_000,
        description:
          'at a stop the server says for so long that it is not ready (`/ready`, `/health`) and goes on taking requests, the last of each connection; then the stop begins. Longer than a balancer takes to notice. Without it 5 s where there are trusted proxies, else 0',
      }),
    ),
    shutdown_timeout_ms: Type.Integer({
      default: 30_000,
      minimum: 0,
      description:
        'how long a stop may take, at least 3 s: running requests have it but for its last quarter (at most 5 s), in which all is closed; then the process ends, whatever still runs',
    }),
    log_level: oneOf(LOG_LEVELS, {
      default: 'info',
      description: 'least severe level that is logged; requests are logged at `debug`',
    }),
    log_filter: Type.Optional(
      Type.String({
        pattern: LOG_FILTER_PATTERN,
        examples: ['info,influxdb3_wal=debug'],
        description:
          'the level as InfluxDB 3 users write it, goes before `log_level`: `off`, `error`, `warn`, `info`, `debug` or `trace`; levels of single modules are ignored',
      }),
    ),
    log_format: Type.Optional(
      oneOf(['text', 'json', 'full', 'pretty', 'compact'], {
        description:
          'form of the log; unless set, text on a terminal and JSON lines otherwise; full, pretty and compact mean text',
      }),
    ),
    access_log: oneOf(['off', 'json', 'combined'], {
      default: 'off',
      description:
        'log of all requests: `json` (one object a line) or `combined` (the format of Apache and nginx)',
    }),
    access_log_file: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'file that the access log is appended to; without it standard output',
      }),
    ),
    tls_cert: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'PEM file with the certificate of the port, and those between it and the root; read again on SIGHUP',
      }),
    ),
    tls_key: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'PEM file with the key of the certificate; with both of them the port speaks TLS',
      }),
    ),
    tls_minimum_version: oneOf(['tls-1.2', 'tls-1.3'], {
      default: 'tls-1.2',
      description: 'oldest version of TLS that is spoken',
    }),
    tls_plaintext: oneOf(['refuse', 'allow'], {
      default: 'refuse',
      description: 'what becomes of connections without TLS when the port speaks TLS',
    }),
  },
  {
    http_bind: { flags: ['http-bind'], env: ['PLINTH_HTTP_BIND', 'INFLUXDB3_HTTP_BIND_ADDR'] },
    first_token: { flags: ['first-token'], env: ['PLINTH_FIRST_TOKEN'] },
    public_url: { env: ['PLINTH_PUBLIC_URL'] },
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

/** Backups that the server makes by itself. */
const BACKUP_SETTINGS = defineSettings('backup', {
  schedule: Type.Optional(
    Type.String({
      minLength: 1,
      examples: ['0 30 2 * * *', '@daily'],
      description:
        'when the server makes a backup by itself: second, minute, hour, day of month, month, day of week, in UTC; or `@hourly`, `@daily`, `@weekly`, `@monthly`. Needs `backup.folder`',
    }),
  ),
  folder: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'folder for them, best on another disk or a network file system: each backup is a folder below it',
    }),
  ),
  keep: Type.Integer({
    default: 7,
    minimum: 1,
    maximum: 10_000,
    description: 'how many of them stay; older ones are removed when a new one is whole',
  }),
});

/** Room on the disk of the data folder. */
const STORAGE_SETTINGS = defineSettings('storage', {
  min_free_bytes: Type.Integer({
    default: 268_435_456,
    minimum: 0,
    description:
      'while less is free on the disk of the data folder, requests that store return 503; queries and deletions work. 0 refuses none before the disk is full',
  }),
  reserve_bytes: Type.Integer({
    default: 16_777_216,
    minimum: 0,
    description:
      'size of the file `disk-reserve` in the data folder, which is released for deletions when the disk is full, and filled again later. 0 keeps none',
  }),
});

/** All sections, by the name under which each part receives its own. */
export const SETTINGS = {
  server: SERVER_SETTINGS,
  storage: STORAGE_SETTINGS,
  backup: BACKUP_SETTINGS,
  identity: IDENTITY_SETTINGS,
  tsdb: TSDB_SETTINGS,
  accounts: ACCOUNTS_SETTINGS,
  webhooks: WEBHOOKS_SETTINGS,
  rateLimit: RATE_LIMIT_SETTINGS,
  gamedata: GAMEDATA_SETTINGS,
};

/** `docs/SETTINGS.md`, from the declarations. */
export const describeAllSettings = (): string => settingsPage(Object.values(SETTINGS));

export type Settings = LoadedSettings<typeof SETTINGS>;
export type BackupSettings = SettingsOf<typeof BACKUP_SETTINGS>;
export type ServerSettings = SettingsOf<typeof SERVER_SETTINGS>;
