import type { Column } from '../columns/column.js';
import type { TagCondition } from '../scan.js';
import type { TableSchema } from '../schema.js';

/**
 * A query of one table that the server can compute from columns in memory (`ColumnCache`) without DuckDB, independent
 * of the query language. All conditions must hold and are exact, so no additional filter is needed.
 */
export interface ColumnQuery {
  readonly table: TableSchema;
  /** Inclusive bounds of `time`, nanoseconds. */
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  readonly tagConditions: readonly TagCondition[];
  /** A row whose field is NULL meets none of these conditions. */
  readonly fieldConditions: readonly FieldCondition[];
  readonly computation: GroupsComputation | RowsComputation | LastRowsComputation;
}

export interface FieldCondition {
  /** An `int64`, `uint64` or `float64` field. */
  readonly column: Column;
  readonly op: '=' | '<>' | '<' | '<=' | '>' | '>=';
  /** A finite number. */
  readonly value: number;
}

/**
 * `GROUP BY time bucket, tags`. Groups without rows are omitted. Without a key, there is always
 * exactly one group.
 */
export interface GroupsComputation {
  readonly kind: 'groups';
  /** Buckets start at `originNs` plus a multiple of `widthNs`. */
  readonly bucket: { readonly widthNs: bigint; readonly originNs: bigint } | undefined;
  readonly tags: readonly string[];
  readonly outputs: readonly GroupOutput[];
  /** Each key appears at most once. Rows that are equal in all keys have no defined order. */
  readonly order: readonly GroupKeyOrder[];
  readonly limit: number | undefined;
  readonly offset: number;
}

export type GroupOutput =
  | { readonly kind: 'bucket' }
  | { readonly kind: 'tag'; readonly tag: string }
  /** Without a column, it counts rows. */
  | { readonly kind: 'count'; readonly column: Column | undefined }
  /**
   * Over values that are not NULL; NULL if there are none. `mean` divides the sum of doubles by the
   * count.
   */
  | { readonly kind: 'min' | 'max' | 'sum' | 'mean'; readonly column: Column };

export interface GroupKeyOrder {
  readonly key: { readonly kind: 'bucket' } | { readonly kind: 'tag'; readonly tag: string };
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** Rows ordered by time. */
export interface RowsComputation {
  readonly kind: 'rows';
  /**
   * Rows with the same timestamp are ordered by the values of these tags; absent tags sort as empty strings. If the
   * list is empty, their order is undefined.
   */
  readonly tieBreakers: readonly string[];
  readonly columns: readonly Column[];
  readonly descending: boolean;
  readonly limit: number | undefined;
  readonly offset: number;
}

/**
 * The latest row of every combination of the tags `by`, in their order. Field conditions are not
 * supported.
 */
export interface LastRowsComputation {
  readonly kind: 'last';
  readonly columns: readonly Column[];
  readonly by: readonly GroupKeyOrder[];
}
