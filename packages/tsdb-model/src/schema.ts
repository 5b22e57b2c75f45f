import type { Column } from './columns/column.js';

/**
 * Column type of new integer fields. With `float`, integers are also accepted by float columns,
 * and converted.
 */
export type IntegerFields = 'integer' | 'float';

/** An immutable snapshot of one database. A schema change creates a new one. */
export interface DatabaseSchema {
  /**
   * Small sequential number on this node, never reused. `uuid` identifies the database elsewhere.
   */
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  /** Rows with `time < now - retentionNs` are invisible. `undefined` keeps everything. */
  readonly retentionNs: bigint | undefined;
  /** Retention policy (the database `name/policy`) for 1.x clients that do not name one; absent if there is none. */
  readonly defaultPolicy?: string;
  /** Shard duration set by 1.x clients. It is only listed and does not affect segments. */
  readonly shardDurationNs?: bigint;
  /** Absent for `integer`. Retention policies have none: they use the option of their database. */
  readonly integerFields?: IntegerFields;
  /** Active tables by name. */
  readonly tables: ReadonlyMap<string, TableSchema>;
  /** Current name of each renamed table, by former name; absent if there are none. */
  readonly formerTables?: ReadonlyMap<string, string>;
}

export interface TableSchema {
  readonly id: number;
  readonly uuid: string;
  readonly databaseId: number;
  readonly name: string;
  /** By name, with `time`. Iterates in byte order of the names, which is the order of `SELECT *`. */
  readonly columns: ReadonlyMap<string, Column>;
  /** Tag columns in order of appearance. With `time`, they are the sort key of the table. */
  readonly seriesKey: readonly string[];
  /** Seeds the series-id hash of the table. */
  readonly seriesSeed: bigint;
  /** Increases with every change of this table. */
  readonly version: number;
  /** Retention period of the table; if absent, that of the database applies. */
  readonly retentionNs?: bigint | undefined;
  /** Earlier names of the table that writes and queries reject; absent if there are none. */
  readonly formerNames?: readonly string[];
  /**
   * Current name of each renamed column, by former name; absent if there are none. No other column of the table can
   * have a former name.
   */
  readonly formerColumns?: ReadonlyMap<string, string>;
}
