import type { Column } from './columns/column.js';

/** An immutable picture of one database; a schema change makes a new one. */
export interface DatabaseSchema {
  /** Dense small number of this node, never reused; `uuid` is the name elsewhere. */
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  /** Rows with `time < now - retentionNs` are invisible. `undefined` keeps everything. */
  readonly retentionNs: bigint | undefined;
  /** Retention policy (the database `name/policy`) that clients of version 1 mean when they name none; absent: none. */
  readonly defaultPolicy?: string;
  /** Shard duration that clients of version 1 gave it, kept for their lists; segments are cut otherwise. */
  readonly shardDurationNs?: bigint;
  /** Active tables by name. */
  readonly tables: ReadonlyMap<string, TableSchema>;
}

export interface TableSchema {
  readonly id: number;
  readonly uuid: string;
  readonly databaseId: number;
  readonly name: string;
  /** By name, with `time`. Iterates in byte order of the names, which is the order of `SELECT *`. */
  readonly columns: ReadonlyMap<string, Column>;
  /** Tag columns in the order in which they appeared: the sort key of the table, followed by `time`. */
  readonly seriesKey: readonly string[];
  /** Seeds the series-id hash of the table. */
  readonly seriesSeed: bigint;
  /** Grows with every change of this table. */
  readonly version: number;
  /** A retention period of the table's own; absent: that of its database holds. */
  readonly retentionNs?: bigint | undefined;
}
