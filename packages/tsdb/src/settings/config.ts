import { defineSettings, type SettingAliases, type SettingsOf } from '@plinth/kernel';
import { MAX_LOOKBACK_NS } from '@plinth/tsdb-model/text/lookback-hint.js';
import { Type } from 'typebox';
import { COMPATIBILITY_ALIASES, COMPATIBILITY_SETTINGS } from './compatibility-settings.js';

const MIB = 1024 * 1024;
/** Minimum memory with which DuckDB can sort or group the rows of a small table. */
const LEAST_QUERY_MEMORY_BYTES = 32 * MIB;
/** Exceeds DuckDB's minimum share. */
export const LEAST_MEMORY_BYTES = 128 * MIB;

/** Settings of the time-series service. Source of the aliases: tsdb-http, "Server options users rely on". */
export const TSDB_SETTINGS = defineSettings(
  'tsdb',
  {
    compat: Type.Union([Type.Literal('documented'), Type.Literal('influxdb3')], {
      default: 'documented',
      description: 'API to follow where the documentation and InfluxDB 3 Core differ',
      details: 'This covers JSON shape, error messages and defaults.',
    }),
    max_request_size_bytes: Type.Integer({
      default: 10 * MIB,
      minimum: 1024,
      description: 'maximum request body size, both compressed and decompressed',
    }),
    memory_bytes: Type.Optional(
      Type.Integer({
        minimum: LEAST_MEMORY_BYTES,
        description: 'memory budget for column cache, DuckDB and write buffer',
        details:
          'The column cache uses half, DuckDB three eighths, and buffered rows the rest. Default: a quarter of the memory available to the process (container limits count), at least 256 MiB (128 MiB if less than 512 MiB is available).',
      }),
    ),
    buffer_flush_bytes: Type.Optional(
      Type.Integer({
        minimum: 64 * 1024,
        description: 'buffer size at which rows in memory are written to segments',
        details:
          "Default: an eighth of `memory_bytes`, at most 128 MiB and a third of DuckDB's memory. The size includes one cell per row and column.",
      }),
    ),
    buffer_flush_age_ms: Type.Integer({
      default: 600_000,
      minimum: 100,
      description: 'age at which rows in memory are written to segments',
      details:
        'Among tables with less than 64 KiB, only the 64 with the oldest rows are written. This avoids thousands of small files.',
    }),
    buffer_limit_bytes: Type.Optional(
      Type.Integer({
        minimum: MIB,
        description: 'buffer size at which writes wait up to two seconds, then return 503',
        details: 'The response has `Retry-After`. Default: half of `memory_bytes`, at most 1 GiB.',
      }),
    ),
    query_memory_bytes: Type.Integer({
      default: 0,
      minimum: 0,
      not: { exclusiveMinimum: 0, exclusiveMaximum: LEAST_QUERY_MEMORY_BYTES },
      description: 'DuckDB memory limit, beyond which queries spill to disk; 0 uses `memory_bytes`',
      details:
        'Running statements fail when the process grows by twice this amount, at least 1 GiB. A string in a result is limited to 16 MiB. With 0, DuckDB uses its share of `memory_bytes`.',
    }),
    column_cache_bytes: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'memory for the column cache; 0 disables it',
        details:
          'Common queries on cached columns run without DuckDB. Default: its share of `memory_bytes`.',
      }),
    ),
    warm_up: Type.Boolean({
      default: true,
      description: 'warm up query and write paths after startup',
      details:
        'The server queries its own metrics and parses a few lines, so that the first user requests are fast.',
    }),
    query_threads: Type.Integer({
      default: 0,
      minimum: 0,
      description: 'DuckDB threads; 0 uses one per core',
    }),
    max_concurrent_queries: Type.Integer({
      default: 64,
      minimum: 1,
      description: 'concurrent queries; further queries wait in a queue',
    }),
    max_live_queries: Type.Integer({
      default: 2000,
      minimum: 0,
      maximum: 100_000,
      description: 'concurrent live queries; further requests return 503',
    }),
    live_query_log_bytes: Type.Integer({
      default: 256 * MIB,
      minimum: 0,
      description: 'size of log files kept after a flush, for live queries that resume',
      details:
        'Files are kept only if a live query has run within an hour. The newest such file is always kept, unless the value is 0. A stream that resumes at a position before these files starts with the event `gap`.',
    }),
    query_timeout_ms: Type.Integer({
      default: 300_000,
      minimum: 0,
      maximum: 2_147_483_647,
      description: 'query timeout, including the wait in the queue; 0 disables it',
      details: "The query's slot is released once DuckDB has canceled the query.",
    }),
    query_lookback_ms: Type.Integer({
      default: 0,
      minimum: 0,
      maximum: Number(MAX_LOOKBACK_NS / 1_000_000n),
      description: 'look-back of `fill(previous)`, `difference`, `locf` and similar; 0 disables it',
      details:
        'Statements use the last point before the time range if it is within this period. The hint `/*+ lookback(1h) */` replaces the value for one statement.',
    }),
    compress_answers: Type.Boolean({
      default: true,
      description: 'compress query responses larger than 1 kB for clients that accept compression',
      details: 'The encoding is gzip, or zstd if Node supports it.',
    }),
    query_log_max_entries: Type.Integer({
      default: 1000,
      minimum: 1,
      maximum: 10_000,
      description: 'number of recent queries in the table `system.queries`',
    }),
    slow_query_ms: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'log queries that take at least this long, with their text',
        details: 'Default: no query is logged.',
      }),
    ),
    max_select_buckets_per_series: Type.Integer({
      default: 1_000_000,
      minimum: 1,
      description: 'maximum number of `GROUP BY time` buckets per series in an InfluxQL statement',
    }),
    max_select_buckets: Type.Integer({
      default: 10_000_000,
      minimum: 1,
      description: 'maximum number of `GROUP BY time` buckets per InfluxQL statement',
    }),
    max_held_values: Type.Integer({
      default: 20_000_000,
      minimum: 1000,
      description:
        'values that an InfluxQL statement may buffer for functions without DuckDB support',
    }),
    num_database_limit: Type.Integer({
      default: 1000,
      minimum: 1,
      description: 'maximum number of active databases',
    }),
    num_table_limit: Type.Integer({
      default: 10_000,
      minimum: 1,
      description: 'maximum number of active tables across all databases',
    }),
    num_total_columns_per_table_limit: Type.Integer({
      default: 1000,
      minimum: 1,
      description: 'maximum number of tag and field columns per table',
    }),
    retention_check_interval_ms: Type.Integer({
      default: 30 * 60_000,
      minimum: 100,
      description: 'how often expired segments are removed',
      details: 'Their rows are hidden from queries at once.',
    }),
    delete_grace_period_ms: Type.Integer({
      default: 24 * 3_600_000,
      minimum: 0,
      description: 'how long a deleted database or table without data remains listed',
    }),
    hard_delete_default_duration_ms: Type.Integer({
      default: 72 * 3_600_000,
      minimum: 0,
      description: 'delay before hard deletion with `hard_delete_at=default`',
    }),
    last_cache_eviction_interval_ms: Type.Integer({
      default: 10_000,
      minimum: 100,
      description: 'how often expired values are evicted from last-value caches',
      details: 'They are hidden from queries at once.',
    }),
    distinct_cache_eviction_interval_ms: Type.Integer({
      default: 10_000,
      minimum: 100,
      description: 'how often expired and surplus values are evicted from distinct-value caches',
      details: 'Expired values are hidden from queries at once.',
    }),
    internal_metrics_interval_ms: Type.Integer({
      default: 10_000,
      minimum: 0,
      description: 'how often server metrics are written to `_internal.metrics`; 0 disables it',
    }),
    cache_memory_bytes: Type.Integer({
      default: 1024 * MIB,
      minimum: MIB,
      description: 'memory for all last-value and distinct-value caches',
      details: 'Above this limit, the largest caches evict their oldest values.',
    }),
    wal_flush_interval_ms: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'how long writes are batched before a write trigger runs',
        details: 'Default: 10 ms. A write is acknowledged as soon as it is in the log.',
      }),
    ),
    plugin_dir: Type.Optional(
      Type.String({
        description: 'folder of the Python plugins; without it, no plugins run',
      }),
    ),
    plugin_dir_only: Type.Boolean({
      default: false,
      description:
        'load plugins only from the plugin folder; disable uploads and downloads of plugins',
    }),
    plugin_repo: Type.Optional(
      Type.String({
        pattern: '^https?://',
        description: 'base URL of `gh:...` plugins',
        details: 'Default: the public plugin repository of InfluxDB 3.',
      }),
    ),
    python: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'path of the Python interpreter',
        details: 'Default: the server searches the system for an interpreter.',
      }),
    ),
    virtual_env_location: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'virtual environment of the plugins, created if missing',
        details: 'Default: `.venv` in the plugin folder.',
      }),
    ),
    package_manager: Type.Union(
      [Type.Literal('discover'), Type.Literal('pip'), Type.Literal('uv'), Type.Literal('disabled')],
      {
        default: 'discover',
        description: 'package installer: `discover`, `pip`, `uv`, or `disabled`',
        details:
          '`discover` and `uv` use uv if it is on the path, otherwise pip. `disabled` rejects all installations.',
      },
    ),
    disable_package_management: Type.Boolean({
      default: false,
      description: 'create no virtual environment and install no packages',
    }),
    restrict_plugin_triggers_to: Type.Optional(
      Type.Array(
        Type.Union([
          Type.Literal('wal'),
          Type.Literal('wal_flush'),
          Type.Literal('schedule'),
          Type.Literal('request'),
        ]),
        { description: 'trigger types that may be created', details: 'Default: all.' },
      ),
    ),
    async_trigger_concurrency_limit: Type.Integer({
      default: 0,
      minimum: 0,
      description: 'concurrent runs of one asynchronous trigger; 0 uses the maximum, 32',
    }),
    plugin_isolation: Type.Union([Type.Literal('trigger'), Type.Literal('shared')], {
      default: 'trigger',
      description: 'run each trigger in its own Python process, or share one',
    }),
    plugin_response_cookies: Type.Boolean({
      default: false,
      description: 'allow plugin responses to set cookies',
      details: 'Browsers send these cookies to every page of this server.',
    }),
    plugin_run_timeout_ms: Type.Integer({
      default: 0,
      minimum: 0,
      description: 'plugin run timeout; 0 disables it, except for request triggers (5 minutes)',
    }),
    plugin_memory_limit_bytes: Type.Integer({
      default: 0,
      minimum: 0,
      description: 'address space limit of a Python process; 0 disables it',
    }),
    plugin_processes: Type.Integer({
      default: 64,
      minimum: 1,
      description: 'maximum number of Python trigger processes',
      details:
        'A process starts when its trigger runs and is kept for the next run. At the limit, the least recently used process is stopped and loses its cached state. While all are busy, runs wait.',
    }),
    plugin_process_limit: Type.Integer({
      default: 100,
      minimum: 0,
      description: 'processes that one plugin may run at a time; 0 disables the limit',
      details:
        'On Linux, the server counts the Python process and all its children twice a second. A plugin above the limit is killed.',
    }),
    plugin_env: Type.Array(Type.String({ pattern: '^(?!PLINTH_)[A-Za-z_][A-Za-z0-9_]*$' }), {
      default: [],
      examples: ['INFLUXDB3_AUTH_TOKEN'],
      description: 'environment variables that plugins can read, in addition to the standard ones',
      details:
        'The standard variables are `PATH`, `HOME`, `LANG`, `LC_ALL`, `LC_CTYPE`, `TMPDIR`, `LD_LIBRARY_PATH` and `DYLD_LIBRARY_PATH`. Package installers can also read the variables of pip and uv (`PIP_*`, `UV_*`), proxies, certificates and compilers.',
    }),
    plugin_user: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$',
        examples: ['nobody'],
        description: 'user name or number for plugins and package installers; requires root',
        details:
          'This user must be able to read the plugin folder, and owns the virtual environment that is created.',
      }),
    ),
    plugin_system_site_packages: Type.Boolean({
      default: false,
      description: "give the virtual environment access to the system's packages",
    }),
    repair: Type.Boolean({
      default: false,
      description: 'quarantine corrupt log and table files at startup, and log what was lost',
    }),
    reported_version: Type.String({
      default: '3.11.2-plinth.0.1.0',
      minLength: 1,
      description: 'version that `/ping` reports',
      details: 'Clients expect semantic versioning, 3.0 or later.',
    }),
    reported_revision: Type.String({
      default: 'unknown',
      minLength: 1,
      description:
        'source revision that `/ping` reports; `unknown` means the commit of the release',
    }),
    ...COMPATIBILITY_SETTINGS,
  },
  {
    compat: {},
    max_request_size_bytes: {
      flags: ['max-http-request-size'],
      env: ['INFLUXDB3_MAX_HTTP_REQUEST_SIZE'],
    },
    max_concurrent_queries: {
      flags: ['max-concurrent-queries'],
      env: ['INFLUXDB3_MAX_CONCURRENT_QUERIES'],
    },
    query_memory_bytes: known('exec-mem-pool-bytes'),
    query_lookback_ms: { flags: ['query-lookback'] },
    compress_answers: { flags: ['compress-answers'] },
    slow_query_ms: { flags: ['slow-query'], env: ['PLINTH_SLOW_QUERY'] },
    query_log_max_entries: {
      flags: ['query-log-max-entries', 'query-log-size'],
      env: ['INFLUXDB3_QUERY_LOG_MAX_ENTRIES', 'INFLUXDB3_QUERY_LOG_SIZE'],
    },
    retention_check_interval_ms: {
      flags: ['retention-check-interval'],
      env: ['INFLUXDB3_RETENTION_CHECK_INTERVAL'],
    },
    delete_grace_period_ms: {
      flags: ['delete-grace-period'],
      env: ['INFLUXDB3_DELETE_GRACE_PERIOD'],
    },
    hard_delete_default_duration_ms: {
      flags: ['hard-delete-default-duration'],
      env: ['INFLUXDB3_HARD_DELETE_DEFAULT_DURATION'],
    },
    last_cache_eviction_interval_ms: {
      flags: ['last-cache-eviction-interval'],
      env: ['INFLUXDB3_LAST_CACHE_EVICTION_INTERVAL'],
    },
    distinct_cache_eviction_interval_ms: {
      flags: ['distinct-cache-eviction-interval'],
      env: ['INFLUXDB3_DISTINCT_CACHE_EVICTION_INTERVAL'],
    },
    wal_flush_interval_ms: known('wal-flush-interval'),
    plugin_dir: known('plugin-dir'),
    plugin_dir_only: known('plugin-dir-only'),
    plugin_repo: known('plugin-repo'),
    python: { flags: ['python'] },
    virtual_env_location: {
      flags: ['virtual-env-location'],
      env: ['VIRTUAL_ENV', 'INFLUXDB3_VIRTUAL_ENV_LOCATION'],
    },
    package_manager: known('package-manager'),
    disable_package_management: known('disable-package-management'),
    restrict_plugin_triggers_to: known('restrict-plugin-triggers-to'),
    async_trigger_concurrency_limit: known('async-trigger-concurrency-limit'),
    plugin_isolation: { flags: ['plugin-isolation'] },
    plugin_response_cookies: { flags: ['plugin-response-cookies'] },
    plugin_run_timeout_ms: { flags: ['plugin-run-timeout'] },
    plugin_memory_limit_bytes: { flags: ['plugin-memory-limit'] },
    plugin_processes: { flags: ['plugin-processes'] },
    plugin_process_limit: { flags: ['plugin-process-limit'] },
    plugin_env: { flags: ['plugin-env'] },
    plugin_user: { flags: ['plugin-user'] },
    plugin_system_site_packages: { flags: ['plugin-system-site-packages'] },
    repair: { flags: ['repair'] },
    num_database_limit: { flags: ['num-database-limit'], env: ['INFLUXDB3_NUM_DATABASE_LIMIT'] },
    num_table_limit: { flags: ['num-table-limit'], env: ['INFLUXDB3_NUM_TABLE_LIMIT'] },
    num_total_columns_per_table_limit: {
      flags: ['num-total-columns-per-table-limit'],
      env: ['INFLUXDB3_NUM_TOTAL_COLUMNS_PER_TABLE_LIMIT'],
    },
    ...COMPATIBILITY_ALIASES,
  },
);

export type TsdbSettings = SettingsOf<typeof TSDB_SETTINGS>;

/** Returns the aliases of an InfluxDB 3 setting: its flag, and the environment variable derived from it. */
function known(flag: string): SettingAliases {
  return { flags: [flag], env: [`INFLUXDB3_${flag.replaceAll('-', '_').toUpperCase()}`] };
}
