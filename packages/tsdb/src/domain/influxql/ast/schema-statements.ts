import type { Expr } from './expr.js';
import type { Measurement } from './measurement.js';

/** What `WITH` or `CREATE RETENTION POLICY` says; durations in nanoseconds, 0 without end. */
export interface PolicyOptions {
  readonly name?: string;
  readonly durationNs?: bigint;
  readonly shardDurationNs?: bigint;
  readonly replication?: number;
  readonly isDefault?: boolean;
}

export interface CreateDatabase {
  readonly kind: 'create_database';
  readonly name: string;
  readonly policy: PolicyOptions;
}

export interface DropDatabase {
  readonly kind: 'drop_database';
  readonly name: string;
}

export interface CreateRetentionPolicy {
  readonly kind: 'create_retention_policy';
  readonly name: string;
  readonly database: string;
  readonly options: PolicyOptions;
}

export interface AlterRetentionPolicy {
  readonly kind: 'alter_retention_policy';
  readonly name: string;
  readonly database: string;
  readonly options: PolicyOptions;
}

export interface DropRetentionPolicy {
  readonly kind: 'drop_retention_policy';
  readonly name: string;
  readonly database: string;
}

export interface DropMeasurement {
  readonly kind: 'drop_measurement';
  readonly name: string;
}

/** Rows by tags and time; `drop_series` takes no time. */
export interface DeleteRows {
  readonly kind: 'delete' | 'drop_series';
  readonly sources: readonly Measurement[];
  readonly condition?: Expr;
}

export interface KillQuery {
  readonly kind: 'kill_query';
  readonly id: bigint;
}
