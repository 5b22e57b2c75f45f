import { invariant } from '@plinth/kernel';
import type { FieldType } from '@plinth/tsdb-model/columns/column.js';
import { batchSizeBytes, type RowBatch } from '@plinth/tsdb-model/columns/row-batch.js';
import type { FieldValues } from '@plinth/tsdb-model/parsed-body.js';
import { ByteWriter } from './byte-writer.js';

/** Series definitions in the format of a record. */
export interface PackedDefinitions {
  readonly count: number;
  readonly bytes: Uint8Array;
}

/** A tag set that later rows in the same log file refer to by `ordinal`. */
export interface SeriesDefinition {
  readonly ordinal: number;
  readonly tagKeys: readonly string[];
  readonly tagValues: readonly string[];
}

/**
 * The rows of one request for one table. Its series ordinals are defined in `seriesDefinitions` or
 * earlier in the log file.
 */
export interface RecordTable {
  readonly tableId: number;
  readonly seriesDefinitions: PackedDefinitions;
  readonly batch: RowBatch;
}

export interface WriteRecord {
  /**
   * Nanoseconds since 1970 when the request was accepted, or the previous value plus one if the clock
   * has not advanced: later writes have greater values.
   */
  readonly seq: bigint;
  readonly tables: readonly RecordTable[];
}

/** A stored field. The column is stored by id; its other properties are in the catalog. */
export interface StoredField {
  readonly columnId: number;
  readonly data: FieldValues;
  readonly validity: Uint8Array | undefined;
}

export interface StoredTable {
  readonly tableId: number;
  readonly seriesDefinitions: readonly SeriesDefinition[];
  readonly rowCount: number;
  /** Ordinals in the process that wrote the record; `seriesDefinitions` defines them. */
  readonly seriesOrdinals: Uint32Array;
  readonly times: BigInt64Array;
  readonly fields: readonly StoredField[];
}

export interface StoredRecord {
  readonly seq: bigint;
  readonly tables: readonly StoredTable[];
}

const RECORD_VERSION = 1;
const KIND_ROWS = 1;

const TYPE_CODE: Readonly<Record<FieldType, number>> = {
  float64: 1,
  int64: 2,
  uint64: 3,
  bool: 4,
  utf8: 5,
};
const TYPE_OF_CODE = new Map(
  Object.entries(TYPE_CODE).map(([type, code]) => [code, type as FieldType]),
);

const RECORD_HEAD_SIZE = 16;
const TABLE_HEAD_SIZE = 16;
const FIELD_HEAD_SIZE = 10;

/** Smaller records are copied to one buffer, because many small parts cost more. */
const COPY_BELOW_BYTES = 65536;

/**
 * Encodes a record as parts to be written in order. Number arrays of large records are not copied.
 * Layout: docs/formats/write-record.md.
 */
export function encodeWriteRecord(record: WriteRecord): readonly Uint8Array[] {
  let size = RECORD_HEAD_SIZE;
  for (const { seriesDefinitions, batch } of record.tables) {
    size +=
      TABLE_HEAD_SIZE +
      seriesDefinitions.bytes.length +
      batch.fields.length * FIELD_HEAD_SIZE +
      batchSizeBytes(batch);
  }
  const isCopied = size < COPY_BELOW_BYTES;
  const writer = new ByteWriter(isCopied ? size : RECORD_HEAD_SIZE, isCopied);
  writer.u8(RECORD_VERSION);
  writer.u8(KIND_ROWS);
  writer.u16(record.tables.length);
  writer.u32(0);
  writer.i64(record.seq);
  for (const table of record.tables) {
    putTableHead(writer, table);
    putRows(writer, table.batch);
  }
  return writer.parts();
}

function putRows(writer: ByteWriter, batch: RowBatch): void {
  writer.numbers(batch.seriesOrdinals);
  writer.numbers(batch.times);
  for (const { data, validity } of batch.fields) {
    if (validity !== undefined) writer.raw(validity.subarray(0, (batch.rowCount + 7) >> 3));
    if (data.type === 'utf8') {
      writer.numbers(data.offsets);
      writer.raw(data.bytes.subarray(0, data.offsets[batch.rowCount]));
    } else if (data.type === 'bool') writer.raw(data.values);
    else writer.numbers(data.values);
  }
}

function putTableHead(head: ByteWriter, table: RecordTable): void {
  const { batch } = table;
  head.u32(table.tableId);
  head.u32(batch.rowCount);
  head.u32(table.seriesDefinitions.count);
  head.u16(batch.fields.length);
  head.u16(0);
  if (table.seriesDefinitions.count > 0) head.raw(table.seriesDefinitions.bytes);
  for (const field of batch.fields) {
    head.u32(field.column.id);
    head.u8(TYPE_CODE[field.data.type]);
    head.u8(field.validity === undefined ? 0 : 1);
    head.u32(field.data.type === 'utf8' ? (field.data.offsets[batch.rowCount] as number) : 0);
  }
}

/**
 * Decodes a record of `encodeWriteRecord`. The log has verified the bytes, so a contradiction is a
 * bug or a version of another release.
 */
export function decodeWriteRecord(payload: Uint8Array): StoredRecord {
  const reader = new ByteReader(payload);
  const version = reader.u8();
  invariant(
    version === RECORD_VERSION,
    `unsupported write record version ${version}; the record was written by another release`,
  );
  const kind = reader.u8();
  invariant(
    kind === KIND_ROWS,
    `unsupported write record kind ${kind}; the record was written by another release`,
  );
  const tableCount = reader.u16();
  reader.u32();
  const seq = reader.i64();
  const tables: StoredTable[] = [];
  for (let i = 0; i < tableCount; i++) tables.push(readTable(reader));
  return { seq, tables };
}

/** Decodes the tables of a record that may be corrupt, up to the first table that cannot be read. */
export function* decodeTables(payload: Uint8Array): Generator<StoredTable> {
  if (payload.byteLength < RECORD_HEAD_SIZE) return;
  const reader = new ByteReader(payload);
  const tableCount = new DataView(payload.buffer, payload.byteOffset).getUint16(2, true);
  reader.skip(RECORD_HEAD_SIZE);
  for (let i = 0; i < tableCount; i++) {
    const table = orUndefined(() => readTable(reader));
    if (table === undefined) return;
    yield table;
  }
}

/** Returns `undefined` if the read fails. A size in a corrupt record may exceed the record. */
function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Returns when the request of a record was accepted, in milliseconds since 1970. */
export function writtenMsOf(payload: Uint8Array): number | undefined {
  if (payload.byteLength < RECORD_HEAD_SIZE) return undefined;
  const head = new DataView(payload.buffer, payload.byteOffset, RECORD_HEAD_SIZE);
  if (head.getUint8(0) !== RECORD_VERSION) return undefined;
  return Number(head.getBigInt64(8, true) / 1_000_000n);
}

function readTable(reader: ByteReader): StoredTable {
  const tableId = reader.u32();
  const rowCount = reader.u32();
  const seriesCount = reader.u32();
  const fieldCount = reader.u16();
  reader.u16();
  const seriesDefinitions = Array.from({ length: seriesCount }, () => readSeries(reader));
  const heads = Array.from({ length: fieldCount }, () => ({
    columnId: reader.u32(),
    typeCode: reader.u8(),
    hasValidity: reader.u8() === 1,
    textSize: reader.u32(),
  }));
  const seriesOrdinals = new Uint32Array(reader.copy(rowCount * 4));
  const times = new BigInt64Array(reader.copy(rowCount * 8));
  const fields = heads.map((head) => {
    const validity = head.hasValidity
      ? new Uint8Array(reader.copy((rowCount + 7) >> 3))
      : undefined;
    const type = TYPE_OF_CODE.get(head.typeCode);
    invariant(
      type !== undefined,
      `unsupported field type code ${head.typeCode}; the record was written by another release`,
    );
    return {
      columnId: head.columnId,
      validity,
      data: readValues(reader, type, rowCount, head.textSize),
    };
  });
  return { tableId, seriesDefinitions, rowCount, seriesOrdinals, times, fields };
}

function readSeries(reader: ByteReader): SeriesDefinition {
  const ordinal = reader.u32();
  const tagCount = reader.u16();
  const tagKeys: string[] = [];
  const tagValues: string[] = [];
  for (let i = 0; i < tagCount; i++) {
    tagKeys.push(reader.text());
    tagValues.push(reader.text());
  }
  return { ordinal, tagKeys, tagValues };
}

function readValues(
  reader: ByteReader,
  type: FieldType,
  rows: number,
  textSize: number,
): FieldValues {
  switch (type) {
    case 'float64':
      return { type, values: new Float64Array(reader.copy(rows * 8)) };
    case 'int64':
      return { type, values: new BigInt64Array(reader.copy(rows * 8)) };
    case 'uint64':
      return { type, values: new BigUint64Array(reader.copy(rows * 8)) };
    case 'bool':
      return { type, values: new Uint8Array(reader.copy(rows)) };
    case 'utf8': {
      const offsets = new Uint32Array(reader.copy((rows + 1) * 4));
      return { type, offsets, bytes: new Uint8Array(reader.copy(textSize)) };
    }
  }
}

class ByteReader {
  readonly #buffer: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  u8(): number {
    return this.#buffer.readUInt8(this.skip(1));
  }

  u16(): number {
    return this.#buffer.readUInt16LE(this.skip(2));
  }

  u32(): number {
    return this.#buffer.readUInt32LE(this.skip(4));
  }

  i64(): bigint {
    return this.#buffer.readBigInt64LE(this.skip(8));
  }

  text(): string {
    const size = this.u32();
    const at = this.skip(size);
    return this.#buffer.toString('utf8', at, at + size);
  }

  /** Copies the next bytes to a separate buffer, so that any number array can view them. */
  copy(sizeBytes: number): ArrayBuffer {
    const at = this.skip(sizeBytes);
    const target = new ArrayBuffer(sizeBytes);
    new Uint8Array(target).set(this.#buffer.subarray(at, at + sizeBytes));
    return target;
  }

  /** Returns the offset of the skipped bytes. */
  skip(sizeBytes: number): number {
    const at = this.#at;
    invariant(at + sizeBytes <= this.#buffer.length, 'the write record is truncated');
    this.#at += sizeBytes;
    return at;
  }
}
