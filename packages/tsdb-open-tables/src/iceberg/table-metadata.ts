import { createHash } from 'node:crypto';
import type { PublishedHistory, SnapshotRecord } from '../publish/history.js';
import { FORMAT_VERSION, type PublishedColumns, type Tree } from './table-schema.js';

const MAIN = 'main';

/** Names of the objects of one metadata tree. */
export class MetadataNames {
  readonly folder: string;

  constructor(tableUuid: string, tree: Tree) {
    this.folder = `open-tables/${tableUuid}${tree === 'jvm' ? '-jvm' : ''}`;
  }

  metadata(version: number): string {
    return `${this.folder}/metadata/v${version}.metadata.json`;
  }

  manifestList(version: number): string {
    return `${this.folder}/metadata/snap-${version}.avro`;
  }

  manifest(id: string): string {
    return `${this.folder}/metadata/m-${id}.avro`;
  }
}

/** Returns the table id of a tree: for Iceberg, the two trees are two tables. */
function tableUuidOf(uuid: string, tree: Tree): string {
  if (tree === 'plain') return uuid;
  const hex = createHash('sha256').update(`${uuid}-jvm`).digest('hex');
  // Version 8: an id in an application-specific format. Source: RFC 9562, section 5.8.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * Returns the content of `v<version>.metadata.json`.
 * Source: Apache Iceberg specification, "Table Metadata Fields".
 */
export function tableMetadata(
  history: PublishedHistory,
  table: {
    readonly uuid: string;
    readonly tree: Tree;
    readonly columns: PublishedColumns;
    /** Prefix of all object names in metadata. */
    readonly root: string;
    readonly nowMs: number;
  },
): object {
  const { tree, columns, root } = table;
  const formatVersion = FORMAT_VERSION[tree];
  const names = new MetadataNames(table.uuid, tree);
  const current = history.snapshots.at(-1);
  const refs = current && { [MAIN]: { 'snapshot-id': current.version, type: 'branch' } };
  return {
    'format-version': formatVersion,
    'table-uuid': tableUuidOf(table.uuid, tree),
    location: `${root}/${names.folder}`,
    'last-sequence-number': current?.version ?? 0,
    'last-updated-ms': table.nowMs,
    'last-column-id': columns.lastColumnId,
    'current-schema-id': history.schemas.at(-1)?.id ?? 0,
    schemas: history.schemas.map(({ id, fields }) => ({
      type: 'struct',
      'schema-id': id,
      fields: fields[tree],
    })),
    'default-spec-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'last-partition-id': 999,
    'default-sort-order-id': 0,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    properties: propertiesOf(history, table),
    'current-snapshot-id': current?.version ?? -1,
    refs: refs ?? {},
    snapshots: history.snapshots.map((snapshot, index) => ({
      ...snapshotJson(snapshot, `${root}/${names.manifestList(snapshot.version)}`),
      ...(index > 0 && { 'parent-snapshot-id': history.snapshots[index - 1]?.version }),
      ...(formatVersion === 3 && {
        'first-row-id': snapshot.firstRowId,
        'added-rows': snapshot.addedRowCount,
      }),
    })),
    'snapshot-log': history.snapshots.map(({ version, timestampMs }) => ({
      'timestamp-ms': timestampMs,
      'snapshot-id': version,
    })),
    'metadata-log': [],
    ...(formatVersion === 3 && { 'next-row-id': history.nextRowId }),
  };
}

function snapshotJson(snapshot: SnapshotRecord, list: string): object {
  return {
    'snapshot-id': snapshot.version,
    'sequence-number': snapshot.version,
    'timestamp-ms': snapshot.timestampMs,
    'manifest-list': list,
    'schema-id': snapshot.schemaId,
    summary: {
      operation: snapshot.isFirst ? 'append' : 'overwrite',
      'total-data-files': String(snapshot.fileCount),
      'total-records': String(snapshot.rowCount),
      'total-files-size': String(snapshot.sizeBytes),
    },
  };
}

function propertiesOf(
  history: PublishedHistory,
  { tree, columns }: { readonly tree: Tree; readonly columns: PublishedColumns },
): Readonly<Record<string, string>> {
  return {
    'schema.name-mapping.default': JSON.stringify(columns.nameMapping),
    ...(tree === 'jvm' && { 'read.parquet.vectorization.enabled': 'false' }),
    'plinth.absent': JSON.stringify(columns.absent),
    'plinth.fresh-through': history.freshThrough,
    'plinth.merged-through': history.mergedThrough,
  };
}
