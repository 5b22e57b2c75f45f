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

/**
 * Returns the definition for a table that replaces its table; `undefined` if one of its columns
 * has another type there.
 */
export function definitionFor(
  definition: CacheDefinition,
  { before, after }: { readonly before: TableSchema; readonly after: TableSchema },
): CacheDefinition | undefined {
  const idsOf = (ids: readonly number[]): number[] =>
    columnsOf(before, ids).flatMap(({ name, kind }) => {
      const column = after.columns.get(name);
      return column?.kind === kind ? [column.id] : [];
    });
  const isComplete = (ids: readonly number[]): boolean => idsOf(ids).length === ids.length;
  const tableId = after.id;
  if (definition.kind === 'distinct') {
    const { columnIds } = definition;
    return isComplete(columnIds)
      ? { ...definition, tableId, columnIds: idsOf(columnIds) }
      : undefined;
  }
  const { keyColumnIds, valueColumnIds } = definition;
  if (!isComplete(keyColumnIds) || !isComplete(valueColumnIds ?? [])) return undefined;
  return {
    ...{ ...definition, tableId, keyColumnIds: idsOf(keyColumnIds) },
    valueColumnIds: valueColumnIds && idsOf(valueColumnIds),
  };
}
