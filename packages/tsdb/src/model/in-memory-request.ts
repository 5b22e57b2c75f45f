import type { Column } from './columns/column.js';
import type { TagCondition } from './scan.js';
import type { TableSchema } from './schema.js';

/**
 * A query of one table in a shape that rows in memory can answer without the engine, in no language's own words. All its
 * conditions hold together and are exact: nothing else is left to apply.
 */
export interface InMemoryRequest {
  readonly table: TableSchema;
  /** Inclusive bounds of `time`, nanoseconds. */
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  readonly tagConditions: readonly TagCondition[];
  /** A row whose field is NULL meets none. */
  readonly fieldConditions: readonly FieldCondition[];
  readonly answer: InMemoryGroups | InMemoryRows | InMemoryLastRows;
}

export interface FieldCondition {
  /** An `int64`, `uint64` or `float64` field. */
  readonly column: Column;
  readonly op: '=' | '<>' | '<' | '<=' | '>' | '>=';
  /** Finite. */
  readonly value: number;
}

/** `GROUP BY bucket of time, tags`. Groups without rows do not appear; without any key there is always one group. */
export interface InMemoryGroups {
  readonly kind: 'groups';
  /** Buckets start at `originNs` plus a multiple of `widthNs`. */
  readonly bucket: { readonly widthNs: bigint; readonly originNs: bigint } | undefined;
  readonly tags: readonly string[];
  readonly outputs: readonly GroupOutput[];
  /** Each key at most once; what follows the last is in no order. */
  readonly order: readonly InMemoryOrder[];
  readonly limit: number | undefined;
  readonly offset: number;
}

export type GroupOutput =
  | { readonly kind: 'bucket' }
  | { readonly kind: 'tag'; readonly tag: string }
  /** Without a column: of the rows. */
  | { readonly kind: 'count'; readonly column: Column | undefined }
  /** Of values that are not NULL; NULL when there are none. `mean` divides the sum of doubles by the count. */
  | { readonly kind: 'min' | 'max' | 'sum' | 'mean'; readonly column: Column };

export interface InMemoryOrder {
  readonly key: { readonly kind: 'bucket' } | { readonly kind: 'tag'; readonly tag: string };
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** Rows in the order of their times. */
export interface InMemoryRows {
  readonly kind: 'rows';
  /** Rows of one time are in the order of the values of these tags, absent ones as empty; none: in no certain order. */
  readonly tieBreakers: readonly string[];
  readonly columns: readonly Column[];
  readonly descending: boolean;
  readonly limit: number | undefined;
  readonly offset: number;
}

/** The latest row of every combination of the tags `by`, in their order. There are no field conditions. */
export interface InMemoryLastRows {
  readonly kind: 'last';
  readonly columns: readonly Column[];
  readonly by: readonly InMemoryOrder[];
}
