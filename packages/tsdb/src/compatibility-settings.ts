import type { SettingAliases } from '@plinth/kernel';
import { Type } from 'typebox';

/**
 * Settings of the real system that change nothing here. They are taken so that its configurations start a server,
 * and checked so that a slip is still found; one that is given is named in the log. When a part of the service makes
 * use of one, it moves to `config.ts`.
 * Source: tsdb-http, "Server options users rely on"; processing-engine, "Settings".
 */
const Count = Type.Optional(Type.Integer({ minimum: 0 }));

export const COMPATIBILITY_SETTINGS = {
  wal_files_per_snapshot: Count,
  wal_max_buffered_writes: Count,
  gen1_duration_ms: Type.Optional(Type.Integer({ enum: [60_000, 300_000, 600_000] })),
  query_file_limit: Count,
};

export const COMPATIBILITY_ALIASES: {
  readonly [K in keyof typeof COMPATIBILITY_SETTINGS]: SettingAliases;
} = {
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
};

/** Flags of the real system, the newest spelling first; its variables are spelled like them. */
function known(flags: readonly string[], noEffectBecause: string): SettingAliases {
  const env = flags.map((flag) => `INFLUXDB3_${flag.replaceAll('-', '_').toUpperCase()}`);
  return { flags, env, noEffectBecause };
}
