import { defineSettings, type SettingAliases, type SettingsOf } from '@plinth/kernel';
import { Type } from 'typebox';
import { COMPATIBILITY_ALIASES, COMPATIBILITY_SETTINGS } from './compatibility-settings.js';

const MIB = 1024 * 1024;
/** With less the engine cannot sort or group the rows of a small table. */
const LEAST_QUERY_MEMORY_BYTES = 32 * MIB;
/** The engine's part of it is more than that. */
export const LEAST_MEMORY_BYTES = 128 * MIB;

/** Settings of the time-series service. Source of the aliases: tsdb-http, "Server options users rely on". */
export const TSDB_SETTINGS = defineSettings(
  'tsdb',
  {
    compat: Type.Union([Type.Literal('documented'), Type.Literal('influxdb3')], {
      default: 'documented',
      description:
        'Which behaviour applies where the documented API and InfluxDB 3 Core differ (JSON shape, error texts, defaults).',
    }),
    max_request_size_bytes: Type.Integer({
      default: 10 * MIB,
      minimum: 1024,
      description: 'Largest request body, as sent and again after decompression.',
    }),
    memory_bytes: Type.Optional(
      Type.Integer({
        minimum: LEAST_MEMORY_BYTES,
        description:
          'Memory for columns that answer queries (a half of it), the query engine (three eighths) and rows that wait for their segments. Unless given, a quarter of what the process may use, at least 256 MiB (128 MiB below 512 MiB); limits of its container count.',
      }),
    ),
    buffer_flush_bytes: Type.Optional(
      Type.Integer({
        minimum: 64 * 1024,
        description:
          'Rows in memory are written to segments when they take this much; unless given, an eighth of `memory_bytes`, at most 128 MiB and a third of the engine’s memory. A row has a cell of each column.',
      }),
    ),
    buffer_flush_age_ms: Type.Integer({
      default: 600_000,
      minimum: 100,
      description:
        'Rows in memory are written to segments after this time. Of tables with less than 64 KiB those 64 with the oldest rows are, and others later: thousands of them would become thousands of files.',
    }),
    buffer_limit_bytes: Type.Optional(
      Type.Integer({
        minimum: MIB,
        description:
          'While rows that are not in segments take this much, writes wait up to two seconds for room, then they are answered with 503 and Retry-After; a half of `memory_bytes`, at most 1 GiB, unless given.',
      }),
    ),
    query_memory_bytes: Type.Integer({
      default: 0,
      minimum: 0,
      not: { exclusiveMinimum: 0, exclusiveMaximum: LEAST_QUERY_MEMORY_BYTES },
      description:
        'Memory of the query engine; what exceeds it spills to disk. When the process grows by twice as much, at least 1 GiB, while statements run, they end with an error; one text of an answer has at most 16 MiB. 0 takes the part of `memory_bytes`.',
    }),
    column_cache_bytes: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'Memory for columns of rows; common queries over them need no engine. 0 keeps none; the part of `memory_bytes` unless given.',
      }),
    ),
    warm_up: Type.Boolean({
      default: true,
      description:
        'Ask a few questions about its own metrics and read a few lines after the start, so that the first queries and bodies of users are fast.',
    }),
    query_threads: Type.Integer({
      default: 0,
      minimum: 0,
      description: 'Threads of the query engine. 0 takes one per core.',
    }),
    max_concurrent_queries: Type.Integer({
      default: 64,
      minimum: 1,
      description: 'Queries that run at the same time; more wait.',
    }),
    query_timeout_ms: Type.Integer({
      default: 300_000,
      minimum: 0,
      maximum: 2_147_483_647,
      description:
        'Time after which a query is answered with a failure, its wait for a place included; its place is free when the engine has ended it. 0: none.',
    }),
    compress_answers: Type.Boolean({
      default: true,
      description:
        'Send answers of queries of more than 1 kB as gzip, or zstd where Node has it, to clients that accept it.',
    }),
    query_log_max_entries: Type.Integer({
      default: 1000,
      minimum: 1,
      maximum: 10_000,
      description: 'Last queries that the table `system.queries` shows.',
    }),
    slow_query_ms: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Queries that take at least so long have a line in the log, with their text; without it none has.',
      }),
    ),
    max_select_buckets_per_series: Type.Integer({
      default: 1_000_000,
      minimum: 1,
      description: 'Buckets that GROUP BY time of InfluxQL may make in one series.',
    }),
    max_select_buckets: Type.Integer({
      default: 10_000_000,
      minimum: 1,
      description: 'Buckets that GROUP BY time of InfluxQL may make in all series of a statement.',
    }),
    max_held_values: Type.Integer({
      default: 20_000_000,
      minimum: 1000,
      description:
        'Values that a statement of InfluxQL may hold in memory for functions that the query engine does not have.',
    }),
    num_database_limit: Type.Integer({
      default: 1000,
      minimum: 1,
      description: 'Active databases.',
    }),
    num_table_limit: Type.Integer({
      default: 10_000,
      minimum: 1,
      description: 'Active tables over all databases.',
    }),
    num_total_columns_per_table_limit: Type.Integer({
      default: 1000,
      minimum: 1,
      description: 'Tag and field columns of one table.',
    }),
    retention_check_interval_ms: Type.Integer({
      default: 30 * 60_000,
      minimum: 100,
      description:
        'How often segments beyond the retention period are removed. Their rows are hidden from queries at once.',
    }),
    delete_grace_period_ms: Type.Integer({
      default: 24 * 3_600_000,
      minimum: 0,
      description: 'So long a database or table without data is still listed as deleted.',
    }),
    hard_delete_default_duration_ms: Type.Integer({
      default: 72 * 3_600_000,
      minimum: 0,
      description: 'What `hard_delete_at=default` adds to the time of a deletion.',
    }),
    last_cache_eviction_interval_ms: Type.Integer({
      default: 10_000,
      minimum: 100,
      description:
        'How often expired values leave last-value caches. They are hidden from queries at once.',
    }),
    distinct_cache_eviction_interval_ms: Type.Integer({
      default: 10_000,
      minimum: 100,
      description:
        'How often expired and surplus values leave distinct-value caches. Expired ones are hidden from queries at once.',
    }),
    internal_metrics_interval_ms: Type.Integer({
      default: 10_000,
      minimum: 0,
      description:
        'How often the server writes its own metrics to the table `metrics` of the database `_internal`. 0: never.',
    }),
    cache_memory_bytes: Type.Integer({
      default: 1024 * MIB,
      minimum: MIB,
      description:
        'Memory of all last-value and distinct-value caches. Beyond it those with the most lose their oldest values.',
    }),
    wal_flush_interval_ms: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'Writes are gathered so long before a write trigger gets them; 10 ms unless given. A write itself is answered as soon as the log holds it.',
      }),
    ),
    plugin_dir: Type.Optional(
      Type.String({
        description: 'Folder of the Python plugins; without one no plugins run.',
      }),
    ),
    plugin_dir_only: Type.Boolean({
      default: false,
      description: 'Take plugins from the plugin folder only: neither fetched nor uploaded ones.',
    }),
    plugin_repo: Type.Optional(
      Type.String({
        pattern: '^https?://',
        description:
          'Base address of plugins named `gh:...`; the public collection of InfluxDB 3 unless given.',
      }),
    ),
    python: Type.Optional(
      Type.String({ minLength: 1, description: 'Python interpreter; looked for unless given.' }),
    ),
    virtual_env_location: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Virtual environment of the plugins, made when it is not there; `.venv` in the plugin folder unless given.',
      }),
    ),
    package_manager: Type.Union(
      [Type.Literal('discover'), Type.Literal('pip'), Type.Literal('uv'), Type.Literal('disabled')],
      {
        default: 'discover',
        description:
          'What installs packages: `discover` and `uv` take uv where it is on the path and pip otherwise; `disabled` refuses to install any.',
      },
    ),
    disable_package_management: Type.Boolean({
      default: false,
      description: 'No virtual environment is made and no package is installed.',
    }),
    restrict_plugin_triggers_to: Type.Optional(
      Type.Array(
        Type.Union([
          Type.Literal('wal'),
          Type.Literal('wal_flush'),
          Type.Literal('schedule'),
          Type.Literal('request'),
        ]),
        { description: 'Kinds of triggers that may be created; all unless given.' },
      ),
    ),
    async_trigger_concurrency_limit: Type.Integer({
      default: 0,
      minimum: 0,
      description: 'Runs of one asynchronous trigger at a time; 0 takes the most, 32.',
    }),
    plugin_isolation: Type.Union([Type.Literal('trigger'), Type.Literal('shared')], {
      default: 'trigger',
      description: 'A Python process for each trigger, or one for all.',
    }),
    plugin_response_cookies: Type.Boolean({
      default: false,
      description:
        'Let plugin responses set cookies. Browsers send these to every page of this server.',
    }),
    plugin_run_timeout_ms: Type.Integer({
      default: 0,
      minimum: 0,
      description: 'Longest run of a plugin. 0: any time, 5 minutes for requests.',
    }),
    plugin_memory_limit_bytes: Type.Integer({
      default: 0,
      minimum: 0,
      description: 'Address space of a Python process. 0: no limit.',
    }),
    plugin_processes: Type.Integer({
      default: 64,
      minimum: 1,
      description:
        'Python processes of triggers at a time. One starts when a trigger runs and stays for its next run; when there are as many, the one that was used longest ago ends, with what its plugin remembers, and runs wait while all are busy.',
    }),
    plugin_process_limit: Type.Integer({
      default: 100,
      minimum: 0,
      description:
        'Processes that one Python process and all it starts may be at a time; with more they are ended. Counted twice a second, on Linux. 0: no limit.',
    }),
    plugin_env: Type.Array(Type.String({ pattern: '^(?!PLINTH_)[A-Za-z_][A-Za-z0-9_]*$' }), {
      default: [],
      examples: ['INFLUXDB3_AUTH_TOKEN'],
      description:
        'Names of environment variables that plugins see, beside those that Python needs: `PATH`, `HOME`, `LANG`, `LC_ALL`, `LC_CTYPE`, `TMPDIR`, `LD_LIBRARY_PATH` and `DYLD_LIBRARY_PATH`. Installers of packages see these, those of pip and uv (`PIP_*`, `UV_*`), of proxies, certificates and compilers.',
    }),
    plugin_user: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$',
        examples: ['nobody'],
        description:
          'User, by name or number, that plugins and installers of packages run as; the server has to be root for that. That user has to be able to read the plugin folder, and owns the virtual environment that is made.',
      }),
    ),
    plugin_system_site_packages: Type.Boolean({
      default: false,
      description: 'The virtual environment sees the packages of the system.',
    }),
    repair: Type.Boolean({
      default: false,
      description:
        'At the start: move damaged files of the log and of tables aside and say what was lost.',
    }),
    reported_version: Type.String({
      default: '3.11.2-plinth.0.1.0',
      minLength: 1,
      description: 'Version that /ping reports; clients expect semantic versioning from 3.0 on.',
    }),
    reported_revision: Type.String({
      default: 'unknown',
      minLength: 1,
      description: 'Source revision that /ping reports; `unknown` means the commit of the release.',
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

/** A flag of the real system; its variable is spelled like it. */
function known(flag: string): SettingAliases {
  return { flags: [flag], env: [`INFLUXDB3_${flag.replaceAll('-', '_').toUpperCase()}`] };
}
