import { type AvroBlocks, type AvroSchema, avroFile, avroSchema } from './avro-file.js';

export { encodeRecords } from './avro-file.js';

/** A Parquet file with its bounds of `time`. */
export interface DataFile {
  readonly path: string;
  readonly rowCount: number;
  readonly sizeBytes: number;
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
}

const field = (name: string, id: number, type: unknown): object => ({
  name,
  type,
  'field-id': id,
});
const optional = (name: string, id: number, type: unknown): object => ({
  name,
  type: ['null', type],
  default: null,
  'field-id': id,
});

/** Returns the type of a map with integer keys, which Avro represents as a list of pairs. */
const boundsType = (key: number, value: number): object => ({
  type: 'array',
  logicalType: 'map',
  items: {
    type: 'record',
    name: `k${key}_v${value}`,
    fields: [field('key', key, 'int'), field('value', value, 'bytes')],
  },
});

/** Source: Apache Iceberg specification, "Manifests". */
export const MANIFEST: AvroSchema = avroSchema({
  type: 'record',
  name: 'manifest_entry',
  fields: [
    field('status', 0, 'int'),
    optional('snapshot_id', 1, 'long'),
    optional('sequence_number', 3, 'long'),
    optional('file_sequence_number', 4, 'long'),
    field('data_file', 2, {
      type: 'record',
      name: 'r2',
      fields: [
        field('content', 134, 'int'),
        field('file_path', 100, 'string'),
        field('file_format', 101, 'string'),
        field('partition', 102, { type: 'record', name: 'r102', fields: [] }),
        field('record_count', 103, 'long'),
        field('file_size_in_bytes', 104, 'long'),
        optional('lower_bounds', 125, boundsType(126, 127)),
        optional('upper_bounds', 128, boundsType(129, 130)),
      ],
    }),
  ],
});

const STATUS_ADDED = 1;
const CONTENT_DATA = 0;
const TIME_ID = 1;

/**
 * Returns the manifest entry of a file. The file counts as added by the snapshot that wrote the
 * manifest, so readers take the sequence number from the manifest list.
 */
export function manifestEntry(file: DataFile, snapshotId: number): object {
  const { path: file_path, rowCount: record_count, sizeBytes: file_size_in_bytes } = file;
  return {
    status: STATUS_ADDED,
    snapshot_id: snapshotId,
    sequence_number: null,
    file_sequence_number: null,
    data_file: {
      content: CONTENT_DATA,
      ...{ file_path, file_format: 'PARQUET', partition: {}, record_count, file_size_in_bytes },
      lower_bounds: [{ key: TIME_ID, value: littleEndian(file.minTimeNs) }],
      upper_bounds: [{ key: TIME_ID, value: littleEndian(file.maxTimeNs) }],
    },
  };
}

/** Source: Apache Iceberg specification, "Binary single-value serialization". */
function littleEndian(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(value);
  return bytes;
}

/** Returns the parts of a manifest without partitions. */
export function manifestFile(
  table: { readonly formatVersion: number; readonly schema: object; readonly schemaId: number },
  entries: AvroBlocks,
): readonly Uint8Array[] {
  const metadata = {
    schema: JSON.stringify(table.schema),
    'schema-id': String(table.schemaId),
    'partition-spec': '[]',
    'partition-spec-id': '0',
    'format-version': String(table.formatVersion),
    content: 'data',
  };
  return avroFile(MANIFEST, metadata, entries);
}

/** A manifest as a manifest list describes it. */
export interface ListedManifest {
  readonly path: string;
  readonly sizeBytes: number;
  /** Version of the snapshot that wrote it; also its sequence number. */
  readonly added: number;
  readonly fileCount: number;
  readonly rowCount: number;
  /** Row id of its first row; only in format version 3. */
  readonly firstRowId: number;
}

const LIST_FIELDS = [
  field('manifest_path', 500, 'string'),
  field('manifest_length', 501, 'long'),
  field('partition_spec_id', 502, 'int'),
  field('content', 517, 'int'),
  field('sequence_number', 515, 'long'),
  field('min_sequence_number', 516, 'long'),
  field('added_snapshot_id', 503, 'long'),
  field('added_files_count', 504, 'int'),
  field('existing_files_count', 505, 'int'),
  field('deleted_files_count', 506, 'int'),
  field('added_rows_count', 512, 'long'),
  field('existing_rows_count', 513, 'long'),
  field('deleted_rows_count', 514, 'long'),
];
const listSchema = (fields: readonly object[]): AvroSchema =>
  avroSchema({ type: 'record', name: 'manifest_file', fields });

/** By format version. Source: Apache Iceberg specification, "Manifest Lists". */
export const MANIFEST_LIST: Readonly<Record<2 | 3, AvroSchema>> = {
  2: listSchema(LIST_FIELDS),
  3: listSchema([...LIST_FIELDS, optional('first_row_id', 520, 'long')]),
};

export function listEntry(manifest: ListedManifest): object {
  const { added } = manifest;
  return {
    manifest_path: manifest.path,
    manifest_length: manifest.sizeBytes,
    partition_spec_id: 0,
    content: CONTENT_DATA,
    sequence_number: added,
    min_sequence_number: added,
    added_snapshot_id: added,
    added_files_count: manifest.fileCount,
    existing_files_count: 0,
    deleted_files_count: 0,
    added_rows_count: manifest.rowCount,
    existing_rows_count: 0,
    deleted_rows_count: 0,
    first_row_id: manifest.firstRowId,
  };
}

export function manifestListFile(
  { version, parent, formatVersion }: { version: number; parent?: number; formatVersion: 2 | 3 },
  entries: AvroBlocks,
): readonly Uint8Array[] {
  const metadata = {
    'snapshot-id': String(version),
    'parent-snapshot-id': parent === undefined ? 'null' : String(parent),
    'sequence-number': String(version),
    'format-version': String(formatVersion),
  };
  return avroFile(MANIFEST_LIST[formatVersion], metadata, entries);
}
