import { databaseOfPolicy } from '@plinth/tsdb-model/database/names.js';
import type { DatabaseSchema, IntegerFields, TableSchema } from '@plinth/tsdb-model/schema.js';
import type { Segment, TimeSpan } from '@plinth/tsdb-model/segment.js';
import type { DeletedResources } from './deletion/deleted-resources.js';

/**
 * The segments of a table, and the time spans of its rows that are not in segments yet.
 */
export interface TableStorage {
  readonly segments: readonly Segment[];
  readonly buffered: readonly TimeSpan[];
}

export interface TableFacts {
  readonly storageOf: (table: TableSchema) => TableStorage;
  /** Number of series, if known. */
  readonly seriesCountOf: (table: TableSchema) => number;
}

/** Row count, size and time range of some tables; duplicates and hidden rows count as stored. */
export interface Extent {
  readonly row_count: number;
  readonly size_bytes: number;
  readonly segment_count: number;
  readonly buffered_row_count: number;
  /** Nanoseconds since 1970 as a string; null if the table has no rows. */
  readonly min_time: string | null;
  readonly max_time: string | null;
}

export function extentOf(storages: readonly TableStorage[]): Extent {
  const segments = storages.flatMap((each) => each.segments);
  const buffered = storages.flatMap((each) => each.buffered);
  const all = [...segments, ...buffered];
  const sum = (counts: readonly number[]): number => counts.reduce((total, n) => total + n, 0);
  const bufferedCount = sum(buffered.map(({ rowCount }) => rowCount));
  let min: bigint | undefined;
  let max: bigint | undefined;
  for (const { minTime, maxTime } of all) {
    if (min === undefined || minTime < min) min = minTime;
    if (max === undefined || maxTime > max) max = maxTime;
  }
  return {
    row_count: sum(segments.map(({ rowCount }) => rowCount)) + bufferedCount,
    size_bytes: sum(segments.map(({ sizeBytes }) => sizeBytes)),
    segment_count: segments.length,
    buffered_row_count: bufferedCount,
    min_time: min?.toString() ?? null,
    max_time: max?.toString() ?? null,
  };
}

const iso = (ms: number | undefined): string | null =>
  ms === undefined ? null : new Date(ms).toISOString();

/** Databases, active ones first, each group sorted by name. */
export function databasesOverview(
  catalog: { databases(): readonly DatabaseSchema[]; readonly deleted: DeletedResources },
  facts: TableFacts,
  filter: { readonly find: string; readonly withDeleted: boolean },
): readonly object[] {
  const matches = ({ name }: { readonly name: string }): boolean =>
    name.toLowerCase().includes(filter.find.toLowerCase());
  // A retention policy uses the option of its database.
  const byName = new Map(catalog.databases().map((schema) => [schema.name, schema]));
  const integerFieldsOf = (schema: DatabaseSchema): IntegerFields =>
    (byName.get(databaseOfPolicy(schema.name) ?? '') ?? schema).integerFields ?? 'integer';
  const active = catalog
    .databases()
    .filter(matches)
    .map((schema) => ({
      name: schema.name,
      retention_ns: schema.retentionNs?.toString() ?? null,
      integer_fields: integerFieldsOf(schema),
      table_count: schema.tables.size,
      ...extentOf([...schema.tables.values()].map(facts.storageOf)),
      deleted_at: null,
      hard_delete_at: null,
    }));
  if (!filter.withDeleted) return active;
  const deleted = catalog.deleted
    .databases()
    .filter(({ schema, purgedMs }) => purgedMs === undefined && matches(schema))
    .map(({ schema, deletedMs, hardDeleteMs }) => ({
      name: schema.name,
      retention_ns: schema.retentionNs?.toString() ?? null,
      integer_fields: integerFieldsOf(schema),
      table_count: catalog.deleted.tablesOf(schema.id).length,
      ...extentOf([]),
      deleted_at: iso(deletedMs),
      hard_delete_at: iso(hardDeleteMs),
    }));
  return [...active, ...deleted];
}

export const tableOverview = (table: TableSchema, facts: TableFacts): object => ({
  name: table.name,
  series_key: table.seriesKey,
  columns: [...table.columns.values()].map(({ name, kind }) => ({ name, kind })),
  retention_ns: table.retentionNs?.toString() ?? null,
  series_count: facts.seriesCountOf(table),
  ...extentOf([facts.storageOf(table)]),
});
