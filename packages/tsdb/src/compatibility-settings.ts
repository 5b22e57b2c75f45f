import type { SettingAliases } from '@plinth/kernel';
import { Type } from 'typebox';

/**
 * Settings of the real system that change nothing here. They are taken so that its configurations start a server,
 * and checked so that a slip is still found; one that is given is named in the log. When a part of the service makes
 * use of one, it moves to `config.ts`.
 * Source: tsdb-http, "Server options users rely on"; processing-engine, "Settings".
 */
const Duration = Type.Optional(Type.Integer({ minimum: 0 }));
const Count = Type.Optional(Type.Integer({ minimum: 0 }));
const Text = Type.Optional(Type.String({ minLength: 1 }));

export const COMPATIBILITY_SETTINGS = {
  wal_flush_interval_ms: Duration,
  wal_files_per_snapshot: Count,
  wal_max_buffered_writes: Count,
  gen1_duration_ms: Type.Optional(Type.Integer({ enum: [60_000, 300_000, 600_000] })),
  query_file_limit: Count,
  plugin_dir: Text,
  plugin_repo: Text,
  virtual_env_location: Text,
  package_manager: Type.Optional(
    Type.Union([
      Type.Literal('discover'),
      Type.Literal('pip'),
      Type.Literal('uv'),
      Type.Literal('disabled'),
    ]),
  ),
  disable_package_management: Type.Optional(Type.Boolean()),
  restrict_plugin_triggers_to: Type.Optional(
    Type.Array(
      Type.Union([
        Type.Literal('wal'),
        Type.Literal('wal_flush'),
        Type.Literal('schedule'),
        Type.Literal('request'),
      ]),
    ),
  ),
  async_trigger_concurrency_limit: Count,
};

const NO_PLUGINS = 'no plugins run';

export const COMPATIBILITY_ALIASES: {
  readonly [K in keyof typeof COMPATIBILITY_SETTINGS]: SettingAliases;
} = {
  wal_flush_interval_ms: known(
    ['wal-flush-interval'],
    'a write is answered as soon as the log holds it, and waiting writes share one sync',
  ),
  wal_files_per_snapshot: known(
    ['wal-files-per-snapshot', 'wal-snapshot-size'],
    'size and age of the rows in memory decide (`buffer_flush_bytes`, `buffer_flush_age_ms`)',
  ),
  wal_max_buffered_writes: known(
    ['wal-max-buffered-writes', 'wal-max-write-buffer-size'],
    'the buffer is bounded by its size (`buffer_limit_bytes`)',
  ),
  gen1_duration_ms: known(['gen1-duration'], 'segments cover at most one day and are merged'),
  query_file_limit: known(['query-file-limit'], 'a query may read any number of files'),
  plugin_dir: known(['plugin-dir'], NO_PLUGINS),
  plugin_repo: known(['plugin-repo'], NO_PLUGINS),
  virtual_env_location: {
    flags: ['virtual-env-location'],
    env: ['VIRTUAL_ENV', 'INFLUXDB3_VIRTUAL_ENV_LOCATION'],
    noEffectBecause: NO_PLUGINS,
  },
  package_manager: known(['package-manager'], NO_PLUGINS),
  disable_package_management: known(['disable-package-management'], NO_PLUGINS),
  restrict_plugin_triggers_to: known(['restrict-plugin-triggers-to'], NO_PLUGINS),
  async_trigger_concurrency_limit: known(['async-trigger-concurrency-limit'], NO_PLUGINS),
};

/** Flags of the real system, the newest spelling first; its variables are spelled like them. */
function known(flags: readonly string[], noEffectBecause: string): SettingAliases {
  const env = flags.map((flag) => `INFLUXDB3_${flag.replaceAll('-', '_').toUpperCase()}`);
  return { flags, env, noEffectBecause };
}
