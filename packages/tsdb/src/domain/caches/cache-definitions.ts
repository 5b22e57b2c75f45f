import type { Column } from '../../model/columns/column.js';
import type { TableSchema } from '../../model/schema.js';

interface Definition {
  /** Dense number among the caches of its kind. */
  readonly id: number;
  readonly tableId: number;
  readonly name: string;
}

export interface LastCacheDefinition extends Definition {
  readonly kind: 'last';
  readonly keyColumnIds: readonly number[];
  /** `undefined`: all columns that are no key, new ones as they appear. */
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

/** Columns by their ids, in that order. */
export function columnsOf(table: TableSchema, ids: readonly number[]): readonly Column[] {
  const byId = new Map([...table.columns.values()].map((column) => [column.id, column]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Source: tsdb-http, "Distinct value cache" and "Last value cache", field `name`. */
export function defaultName(
  table: string,
  columns: readonly string[],
  kind: CacheDefinition['kind'],
): string {
  return [table, ...columns, kind, 'cache'].join('_');
}
