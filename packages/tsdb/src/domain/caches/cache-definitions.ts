import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';

interface Definition {
  /** Sequential number, starting at 0, among all caches of the same kind. */
  readonly id: number;
  readonly tableId: number;
  readonly name: string;
}

export interface LastCacheDefinition extends Definition {
  readonly kind: 'last';
  readonly keyColumnIds: readonly number[];
  /** `undefined` selects all columns that are not keys, including columns added later. */
  readonly valueColumnIds: readonly number[] | undefined;
  readonly count: number;
  readonly ttlSec: number;
}

export interface DistinctCacheDefinition extends Definition {
  readonly kind: 'distinct';
  readonly columnIds: readonly number[];
  readonly maxCardinality: number;
  readonly maxAgeSec: number;
}

export type CacheDefinition = LastCacheDefinition | DistinctCacheDefinition;

/** Returns the columns with these ids, in this order. Unknown ids are skipped. */
export function columnsOf(table: TableSchema, ids: readonly number[]): readonly Column[] {
  const byId = new Map([...table.columns.values()].map((column) => [column.id, column]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/**
 * Returns the name of a cache that was created without a name.
 * Source: tsdb-http, "Distinct value cache" and "Last value cache", field `name`.
 */
export function defaultName(
  table: string,
  columns: readonly string[],
  kind: CacheDefinition['kind'],
): string {
  return [table, ...columns, kind, 'cache'].join('_');
}
