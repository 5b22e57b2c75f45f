import type { Action } from '@plinth/kernel';
import type { Expr, RegexLiteral } from './expressions.js';
import type { Dimension, Measurement, SelectStatement } from './select.js';

export interface ExplainStatement {
  readonly kind: 'explain';
  readonly analyze: boolean;
  readonly verbose: boolean;
  readonly select: SelectStatement;
}

/**
 * Options of `WITH` or `CREATE RETENTION POLICY`. Durations are in nanoseconds; 0 means infinite.
 */
export interface PolicyOptions {
  readonly name?: string;
  readonly durationNs?: bigint;
  readonly shardDurationNs?: bigint;
  readonly replication?: number;
  readonly isDefault?: boolean;
}

/** Deletes rows by tags and time; `drop_series` accepts no time condition. */
export interface DeleteRows {
  readonly kind: 'delete' | 'drop_series';
  /** `DELETE FIELD`: deletes only the values of these fields. */
  readonly fields?: readonly string[];
  readonly sources: readonly Measurement[];
  readonly condition?: Expr;
}

/** Clauses common to the SHOW statements for the schema. */
export interface ShowClauses {
  /** `ON database`; `*` means all databases. */
  readonly database?: string;
  readonly policy?: string;
  readonly sources: readonly Measurement[];
  readonly condition?: Expr;
  readonly limit?: number;
  readonly offset?: number;
}

export interface ShowMeasurements extends ShowClauses {
  readonly kind: 'show_measurements';
  /** `WITH MEASUREMENT = name` or `=~ /re/`. */
  readonly filter?: Measurement;
}

export interface ShowTagKeys extends ShowClauses {
  readonly kind: 'show_tag_keys';
}

export interface ShowFieldKeys extends ShowClauses {
  readonly kind: 'show_field_keys';
}

export type TagKeyFilter =
  | { readonly op: '=' | '!='; readonly key: string }
  | { readonly op: '=~' | '!~'; readonly regex: RegexLiteral }
  | { readonly op: 'IN'; readonly keys: readonly string[] };

export interface ShowTagValues extends ShowClauses {
  readonly kind: 'show_tag_values';
  readonly keys: TagKeyFilter;
}

export interface ShowSeries extends ShowClauses {
  readonly kind: 'show_series';
}

export type CardinalityOf = 'series' | 'measurement' | 'tag_key' | 'tag_values' | 'field_key';

/** `SHOW ... [EXACT] CARDINALITY`. */
export interface ShowCardinality extends ShowClauses {
  readonly kind: 'show_cardinality';
  readonly of: CardinalityOf;
  readonly exact: boolean;
  readonly keys?: TagKeyFilter;
  readonly dimensions: readonly Dimension[];
}

/** `SHOW STATS` or `SHOW DIAGNOSTICS`. */
export interface ShowServer {
  readonly kind: 'show_server';
  readonly what: 'STATS' | 'DIAGNOSTICS';
  /** `FOR 'group'`. */
  readonly group?: string;
}

/** A list that is always empty. It exists because some tools request it unconditionally. */
export interface ShowNothing {
  readonly kind: 'show_nothing';
  readonly what: 'SUBSCRIPTIONS';
}

export interface CreateContinuousQuery {
  readonly kind: 'create_continuous_query';
  readonly name: string;
  readonly database: string;
  /** `RESAMPLE EVERY` and `FOR`. */
  readonly everyNs?: bigint;
  readonly forNs?: bigint;
  /** The SELECT statement to run; it has a target and a time interval. */
  readonly select: SelectStatement;
}

export type ContinuousQueryStatement =
  | CreateContinuousQuery
  | { readonly kind: 'drop_continuous_query'; readonly name: string; readonly database: string }
  | { readonly kind: 'show_continuous_queries' };

export type UserStatement =
  | {
      readonly kind: 'create_user';
      readonly user: string;
      readonly password: string;
      readonly isAdministrator: boolean;
    }
  | { readonly kind: 'set_password'; readonly user: string; readonly password: string }
  | {
      readonly kind: 'grant' | 'revoke';
      readonly actions: readonly Action[];
      readonly database: string;
      readonly user: string;
    }
  /** `GRANT ALL PRIVILEGES TO user`, `REVOKE ALL PRIVILEGES FROM user`. */
  | {
      readonly kind: 'set_administrator';
      readonly user: string;
      readonly isAdministrator: boolean;
    }
  | { readonly kind: 'drop_user' | 'show_grants'; readonly user: string }
  | { readonly kind: 'show_users' };

export type SchemaStatement =
  | { readonly kind: 'create_database'; readonly name: string; readonly policy: PolicyOptions }
  | { readonly kind: 'drop_database'; readonly name: string }
  | {
      readonly kind: 'create_retention_policy' | 'alter_retention_policy';
      readonly name: string;
      readonly database: string;
      readonly options: PolicyOptions;
    }
  | { readonly kind: 'drop_retention_policy'; readonly name: string; readonly database: string }
  | { readonly kind: 'drop_measurement'; readonly name: string }
  | DeleteRows
  | { readonly kind: 'kill_query'; readonly id: bigint };

export type ShowStatement =
  | { readonly kind: 'show_databases' }
  | { readonly kind: 'show_retention_policies'; readonly database?: string }
  | ShowMeasurements
  | ShowTagKeys
  | ShowFieldKeys
  | ShowTagValues
  | ShowSeries
  | ShowCardinality
  | { readonly kind: 'show_queries' }
  | ShowServer
  | { readonly kind: 'show_shards'; readonly isGrouped: boolean }
  | ShowNothing;

export type Statement =
  | SelectStatement
  | ExplainStatement
  | ShowStatement
  | SchemaStatement
  | UserStatement
  | ContinuousQueryStatement
  /** A 1.x statement whose feature exists here in another form. */
  | {
      readonly kind: 'unsupported';
      /** The statement, for example `CREATE CONTINUOUS QUERY`. */
      readonly what: string;
    };
