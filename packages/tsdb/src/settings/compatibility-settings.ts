import type { SettingAliases } from '@plinth/kernel';
import { Type } from 'typebox';

/**
 * InfluxDB settings without effect here. They are accepted so that InfluxDB configurations start a server, and validated so that
 * typing errors are found. The log lists the settings that are set.
 * Source: tsdb-http, "Server options users rely on"; processing-engine, "Settings"; the options of InfluxDB 3 Core's `serve`.
 */
const Count = Type.Optional(Type.Integer({ minimum: 0 }));
const Text = Type.Optional(Type.String());
const Switch = Type.Optional(Type.Boolean());

export const COMPATIBILITY_SETTINGS = {
  wal_files_per_snapshot: Count,
  wal_max_buffered_writes: Count,
  wal_replay_concurrency_limit: Count,
  wal_replay_fail_on_error: Switch,
  snapshotted_wal_files_to_keep: Count,
  force_snapshot_mem_threshold: Text,
  gen1_duration_ms: Type.Optional(Type.Integer({ enum: [60_000, 300_000, 600_000] })),
  gen1_lookback_duration: Text,
  query_file_limit: Count,
  disable_parquet_mem_cache: Switch,
  parquet_mem_cache_size: Text,
  parquet_mem_cache_size_mb: Text,
  parquet_mem_cache_prune_percentage: Text,
  parquet_mem_cache_prune_interval: Text,
  parquet_mem_cache_query_path_duration: Text,
  preemptive_cache_age: Text,
  datafusion_num_threads: Count,
  datafusion_runtime_type: Text,
  datafusion_runtime_disable_lifo_slot: Text,
  datafusion_runtime_event_interval: Count,
  datafusion_runtime_global_queue_interval: Count,
  datafusion_runtime_max_blocking_threads: Count,
  datafusion_runtime_max_io_events_per_tick: Count,
  datafusion_runtime_thread_keep_alive: Text,
  datafusion_runtime_thread_priority: Text,
  datafusion_max_parquet_fanout: Count,
  datafusion_use_cached_parquet_loader: Text,
  datafusion_config: Text,
  num_io_threads: Count,
  telemetry_endpoint: Text,
  telemetry_disable_upload: Switch,
  disable_telemetry_upload: Switch,
};

type Key = keyof typeof COMPATIBILITY_SETTINGS;

/** By name prefix. */
const REASONS: readonly (readonly [prefix: string, because: string])[] = [
  ['wal_max', 'the buffer is bounded by its size (`buffer_limit_bytes`)'],
  ['wal_replay', 'startup reads the log in order and stops at corrupt data unless `repair` is set'],
  ['gen1', 'segments cover at most one day and are merged'],
  ['query_file', 'a query may read any number of files'],
  ['datafusion', 'queries run in DuckDB (`query_threads`)'],
  ['num_io', 'queries run in DuckDB (`query_threads`)'],
  ['telemetry', 'no telemetry is sent'],
  ['disable_telemetry', 'no telemetry is sent'],
  ['parquet', 'columns are cached instead of files (`column_cache_bytes`)'],
  ['disable_parquet', 'columns are cached instead of files (`column_cache_bytes`)'],
  ['preemptive', 'columns are cached instead of files (`column_cache_bytes`)'],
  [
    '',
    'flushes depend on size and age of buffered rows (`buffer_flush_bytes`, `buffer_flush_age_ms`)',
  ],
];

/** Flags whose names differ from the setting, the newest first. */
const FLAGS: { readonly [K in Key]?: readonly string[] } = {
  wal_files_per_snapshot: ['wal-files-per-snapshot', 'wal-snapshot-size'],
  wal_max_buffered_writes: ['wal-max-buffered-writes', 'wal-max-write-buffer-size'],
  gen1_duration_ms: ['gen1-duration'],
};

const KEYS = Object.keys(COMPATIBILITY_SETTINGS) as Key[]; // keys of the object above

export const COMPATIBILITY_ALIASES = Object.fromEntries(
  KEYS.map((key) => [key, aliasesOf(key)]),
) as { readonly [K in Key]: SettingAliases };

/** Variables have the names of the flags. */
function aliasesOf(key: Key): SettingAliases {
  const flags = FLAGS[key] ?? [key.replaceAll('_', '-')];
  const env = flags.map((flag) => `INFLUXDB3_${flag.replaceAll('-', '_').toUpperCase()}`);
  const noEffectBecause = REASONS.find(([prefix]) => key.startsWith(prefix))?.[1] ?? '';
  return { flags, env, noEffectBecause };
}
