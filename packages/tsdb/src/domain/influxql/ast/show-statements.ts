import type { Dimension } from './dimension.js';
import type { Expr } from './expr.js';
import type { Measurement } from './measurement.js';
import type { RegexLiteral } from './regex-literal.js';
import type { Source } from './select-statement.js';

/** What the statements about the schema have in common. */
export interface ShowClauses {
  /** `ON database`; `*` stands for all. */
  readonly database?: string;
  readonly policy?: string;
  readonly sources: readonly Measurement[];
  readonly condition?: Expr;
  readonly limit?: number;
  readonly offset?: number;
}

export interface ShowDatabases {
  readonly kind: 'show_databases';
}

export interface ShowRetentionPolicies {
  readonly kind: 'show_retention_policies';
  readonly database?: string;
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

export interface ShowQueries {
  readonly kind: 'show_queries';
}

/** What the server tells of itself. */
export interface ShowServer {
  readonly kind: 'show_server';
  readonly what: 'STATS' | 'DIAGNOSTICS';
  /** `FOR 'group'`. */
  readonly group?: string;
}

export interface ShowShards {
  readonly kind: 'show_shards';
  readonly isGrouped: boolean;
}

/** A list that is always empty: tools ask for it whether or not they need it. */
export interface ShowNothing {
  readonly kind: 'show_nothing';
  readonly what: 'CONTINUOUS QUERIES' | 'SUBSCRIPTIONS' | 'USERS';
}

export type { Source };
