// Source: tsdb-http, "Server options users rely on"; processing-engine, settings of plugins.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { givenWithoutEffect, machineMemoryBytes } from '@plinth/kernel';
import { levelOfFilter } from './process/log-filter.js';
import { SETTINGS } from './settings.js';
import { readSettings } from './start-server.js';

/** Options of InfluxDB 3 Core's `serve` that have no effect here. */
const TAKEN: readonly (readonly [flag: string, text: string, value: unknown])[] = [
  ['force-snapshot-mem-threshold', '50%', '50%'],
  ['snapshotted-wal-files-to-keep', '300', 300],
  ['wal-replay-fail-on-error', 'true', true],
  ['wal-replay-concurrency-limit', '16', 16],
  ['gen1-lookback-duration', '24h', '24h'],
  ['disable-parquet-mem-cache', 'true', true],
  ['parquet-mem-cache-size', '20%', '20%'],
  ['parquet-mem-cache-size-mb', '1000', '1000'],
  ['parquet-mem-cache-prune-percentage', '0.1', '0.1'],
  ['parquet-mem-cache-prune-interval', '1s', '1s'],
  ['parquet-mem-cache-query-path-duration', '5h', '5h'],
  ['preemptive-cache-age', '3d', '3d'],
  ['datafusion-num-threads', '8', 8],
  ['datafusion-runtime-type', 'multi-thread', 'multi-thread'],
  ['datafusion-runtime-disable-lifo-slot', 'true', 'true'],
  ['datafusion-runtime-event-interval', '10', 10],
  ['datafusion-runtime-global-queue-interval', '10', 10],
  ['datafusion-runtime-max-blocking-threads', '512', 512],
  ['datafusion-runtime-max-io-events-per-tick', '1024', 1024],
  ['datafusion-runtime-thread-keep-alive', '10s', '10s'],
  ['datafusion-runtime-thread-priority', '10', '10'],
  ['datafusion-max-parquet-fanout', '1000', 1000],
  ['datafusion-use-cached-parquet-loader', 'true', 'true'],
  ['datafusion-config', 'iox.hint:true', 'iox.hint:true'],
  ['num-io-threads', '2', 2],
  ['telemetry-endpoint', 'localhost.example.com', 'localhost.example.com'],
  ['telemetry-disable-upload', 'true', true],
  ['disable-telemetry-upload', 'true', true],
];

/** Flags and variables of a setting (with older names), a value as users write it, and the parsed value. */
const OPTIONS: readonly (readonly [names: string, path: string, text: string, value: unknown])[] = [
  ['--node-id NODE_ID NODE_IDENTIFIER_PREFIX', 'server.node_id', 'n1', 'n1'],
  ['--object-store OBJECT_STORE', 'server.object_store', 'memory', 'memory'],
  ['--data-dir DATA_DIR DB_DIR', 'server.data_dir', '/d', '/d'],
  ['--http-bind HTTP_BIND_ADDR', 'server.http_bind', '0.0.0.0:8086', '0.0.0.0:8086'],
  ['--max-http-request-size MAX_HTTP_REQUEST_SIZE', 'tsdb.max_request_size_bytes', '1mb', 1048576],
  ['--max-http-request-size', 'tsdb.max_request_size_bytes', '4096', 4096],
  ['--without-auth WITHOUT_AUTH START_WITHOUT_AUTH', 'identity.without_auth', 'true', true],
  ['--disable-authz DISABLE_AUTHZ', 'identity.disable_authz', 'ping,ready', ['ping', 'ready']],
  ['--admin-token-file ADMIN_TOKEN_FILE', 'identity.admin_token_file', 't.json', 't.json'],
  [
    '--admin-token-recovery-http-bind ADMIN_TOKEN_RECOVERY_HTTP_BIND_ADDR',
    'identity.admin_token_recovery_http_bind',
    '127.0.0.1:8182',
    '127.0.0.1:8182',
  ],
  ['--tls-key TLS_KEY', 'server.tls_key', 'k.pem', 'k.pem'],
  ['--tls-cert TLS_CERT', 'server.tls_cert', 'c.pem', 'c.pem'],
  ['--tls-minimum-version TLS_MINIMUM_VERSION', 'server.tls_minimum_version', 'tls-1.3', 'tls-1.3'],
  ['--wal-flush-interval WAL_FLUSH_INTERVAL', 'tsdb.wal_flush_interval_ms', '100ms', 100],
  [
    '--wal-files-per-snapshot --wal-snapshot-size WAL_FILES_PER_SNAPSHOT WAL_SNAPSHOT_SIZE',
    'tsdb.wal_files_per_snapshot',
    '600',
    600,
  ],
  [
    '--wal-max-buffered-writes --wal-max-write-buffer-size WAL_MAX_BUFFERED_WRITES WAL_MAX_WRITE_BUFFER_SIZE',
    'tsdb.wal_max_buffered_writes',
    '100000',
    100_000,
  ],
  ['--gen1-duration GEN1_DURATION', 'tsdb.gen1_duration_ms', '10m', 600_000],
  ['--exec-mem-pool-bytes EXEC_MEM_POOL_BYTES', 'tsdb.query_memory_bytes', '8000000000', 8e9],
  [
    '--exec-mem-pool-bytes EXEC_MEM_POOL_BYTES',
    'tsdb.query_memory_bytes',
    '20%',
    Math.floor(machineMemoryBytes() / 5),
  ],
  ...TAKEN.map(
    ([flag, text, value]) =>
      [
        `--${flag} ${flag.replaceAll('-', '_').toUpperCase()}`,
        `tsdb.${flag.replaceAll('-', '_')}`,
        text,
        value,
      ] as const,
  ),
  ['--query-file-limit QUERY_FILE_LIMIT', 'tsdb.query_file_limit', '432', 432],
  [
    '--query-log-max-entries --query-log-size QUERY_LOG_MAX_ENTRIES QUERY_LOG_SIZE',
    'tsdb.query_log_max_entries',
    '1000',
    1000,
  ],
  ['--max-concurrent-queries MAX_CONCURRENT_QUERIES', 'tsdb.max_concurrent_queries', '8', 8],
  [
    '--last-cache-eviction-interval LAST_CACHE_EVICTION_INTERVAL',
    'tsdb.last_cache_eviction_interval_ms',
    '10s',
    10_000,
  ],
  [
    '--distinct-cache-eviction-interval DISTINCT_CACHE_EVICTION_INTERVAL',
    'tsdb.distinct_cache_eviction_interval_ms',
    '10s',
    10_000,
  ],
  [
    '--retention-check-interval RETENTION_CHECK_INTERVAL',
    'tsdb.retention_check_interval_ms',
    '30m',
    1_800_000,
  ],
  ['--delete-grace-period DELETE_GRACE_PERIOD', 'tsdb.delete_grace_period_ms', '24h', 86_400_000],
  [
    '--hard-delete-default-duration HARD_DELETE_DEFAULT_DURATION',
    'tsdb.hard_delete_default_duration_ms',
    '72h',
    259_200_000,
  ],
  ['--plugin-dir PLUGIN_DIR', 'tsdb.plugin_dir', '/plugins', '/plugins'],
  ['--virtual-env-location =VIRTUAL_ENV', 'tsdb.virtual_env_location', '/venv', '/venv'],
  ['--plugin-repo PLUGIN_REPO', 'tsdb.plugin_repo', 'https://x/', 'https://x/'],
  ['--package-manager PACKAGE_MANAGER', 'tsdb.package_manager', 'uv', 'uv'],
  [
    '--disable-package-management DISABLE_PACKAGE_MANAGEMENT',
    'tsdb.disable_package_management',
    'true',
    true,
  ],
  [
    '--restrict-plugin-triggers-to RESTRICT_PLUGIN_TRIGGERS_TO',
    'tsdb.restrict_plugin_triggers_to',
    'wal,schedule',
    ['wal', 'schedule'],
  ],
  [
    '--async-trigger-concurrency-limit ASYNC_TRIGGER_CONCURRENCY_LIMIT',
    'tsdb.async_trigger_concurrency_limit',
    '4',
    4,
  ],
  ['--shutdown-timeout', 'server.shutdown_timeout_ms', '30s', 30_000],
  ['--log-filter LOG_FILTER', 'server.log_filter', 'info,datafusion=warn', 'info,datafusion=warn'],
  ['--log-format LOG_FORMAT', 'server.log_format', 'full', 'full'],
];

const read = (name: string, text: string) => {
  const isFlag = name.startsWith('--');
  const variable = name.startsWith('=') ? name.slice(1) : `INFLUXDB3_${name}`;
  return readSettings({
    env: isFlag ? {} : { [variable]: text },
    flags: new Map(isFlag ? [[name.slice(2), text]] : []),
  });
};

describe('settings of the real system', () => {
  for (const [names, path, text, value] of OPTIONS) {
    it(`${names.split(' ')[0]} is accepted under every name`, () => {
      const [section = '', key = ''] = path.split('.');
      for (const name of names.split(' ')) {
        const loaded = Reflect.get(read(name, text), section);
        assert.deepEqual(Reflect.get(loaded, key), value, name);
      }
    });
  }

  it('reports settings without effect only when they are given', () => {
    const given = (flags: [string, string][]) =>
      givenWithoutEffect(
        Object.values(SETTINGS),
        readSettings({ env: {}, flags: new Map(flags) }),
      ).map(({ setting }) => setting);
    assert.deepEqual(given([]), []);
    assert.deepEqual(given([['node-id', 'x']]), []);
    assert.deepEqual(given([['wal-snapshot-size', '5']]), ['--wal-files-per-snapshot']);
  });

  it('refuses all invalid values, even of settings without effect', () => {
    const flags = new Map([
      ['http-bind', '127.0.0.1:99999'],
      ['object-store', 's3'],
      ['log-filter', 'loud'],
      ['tls-minimum-version', 'ssl3'],
      ['disable-authz', 'foo'],
      ['admin-token-recovery-http-bind', 'nonsense'],
      ['max-http-request-size', '10 parsecs'],
      ['wal-flush-interval', 'soon'],
      ['gen1-duration', '7m'],
      ['package-manager', 'apt'],
    ]);
    assert.throws(() => readSettings({ env: {}, flags }), {
      problems: [
        '--http-bind: expected text like `127.0.0.1:8181`, got "127.0.0.1:99999"',
        '--object-store: expected one of `file`, `memory`, got "s3"',
        '--log-filter: expected text like `info,influxdb3_wal=debug`, got "loud"',
        '--tls-minimum-version: expected one of `tls-1.2`, `tls-1.3`, got "ssl3"',
        '--disable-authz: expected list of `health`, `ping`, `metrics`, `ready`, `pprof`, got "foo"',
        '--admin-token-recovery-http-bind: expected text like `127.0.0.1:8182`, got "nonsense"',
        '--max-http-request-size: expected size (bare number: bytes), at least 1024, got "10 parsecs"',
        '--wal-flush-interval: expected duration (bare number: milliseconds), got "soon"',
        '--package-manager: expected one of `discover`, `pip`, `uv`, `disabled`, got "apt"',
        '--gen1-duration: expected one of `60000`, `300000`, `600000`, got "7m"',
      ],
    });
  });
});

it('extracts the global level from a log filter', () => {
  const check = (filter: string | undefined, level: string | undefined) =>
    assert.equal(levelOfFilter(filter), level, filter);
  check(undefined, undefined);
  check('debug', 'debug');
  check('off', 'silent');
  check('warn,influxdb3_wal=trace', 'warn');
  check('influxdb3_wal=trace', undefined);
});
