import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import { FORMAT_VERSION, publishedColumns, type Tree } from './iceberg/table-schema.js';
import { nameFault } from './namespaces.js';
import type { OpenTables } from './open-tables.js';
import type { PublishState } from './publish/published-table.js';

/** A table under one of its namespaces. */
export interface ListedTable {
  readonly database: string;
  readonly table: string;
  readonly namespace: string;
  readonly tree: Tree;
  readonly formatVersion: number;
  readonly state: PublishState['kind'] | 'unpublishable';
  /** Reason why the newest rows are not published. */
  readonly reason: string | undefined;
  readonly location: string;
  /** Columns that readers cannot read, by name. */
  readonly absentColumns: readonly string[];
  /** The newest version; absent if none is readable. */
  readonly newest:
    | {
        readonly version: number;
        readonly publishedMs: number;
        /** RFC 3339: all rows acknowledged earlier are visible. */
        readonly freshThrough: string;
        /** Sequence number up to which later writes of points are visible. */
        readonly mergedThrough: string;
        readonly fileCount: number;
        readonly rowCount: number;
        readonly sizeBytes: number;
      }
    | undefined;
}

/** Returns the tables of a published database, once for each namespace. */
export function listPublished(
  openTables: OpenTables,
  database: DatabaseSchema,
): readonly ListedTable[] {
  const namespaces = openTables
    .namespaces()
    .filter((namespace) => namespace.database === database.name);
  return [...database.tables.values()].flatMap((table) =>
    namespaces.map(({ name, tree }) => ({
      database: database.name,
      table: table.name,
      namespace: name,
      ...{ tree, formatVersion: FORMAT_VERSION[tree] },
      location: openTables.locationOf(table, tree),
      absentColumns: publishedColumns(table.columns.values(), tree).absent.map(
        ({ column }) => column,
      ),
      ...stateOf(openTables, table),
    })),
  );
}

function stateOf(
  openTables: OpenTables,
  table: TableSchema,
): Pick<ListedTable, 'state' | 'reason' | 'newest'> {
  const fault = nameFault(table);
  if (fault !== undefined) return { state: 'unpublishable', reason: fault, newest: undefined };
  const published = openTables.find(table.id);
  const state: PublishState = published?.state ?? { kind: 'empty' };
  const snapshot = published?.history?.snapshots.at(-1);
  const newest = published?.history &&
    snapshot && {
      version: published.version,
      publishedMs: published.history.metadata.at(-1)?.timestampMs ?? snapshot.timestampMs,
      freshThrough: published.history.freshThrough,
      mergedThrough: published.history.mergedThrough,
      fileCount: snapshot.fileCount,
      rowCount: snapshot.rowCount,
      sizeBytes: snapshot.sizeBytes,
    };
  return {
    state: state.kind,
    reason: 'reason' in state ? state.reason : undefined,
    newest: newest ?? undefined,
  };
}
