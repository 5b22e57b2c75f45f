import type { FieldValues } from '../parsed-body.js';
import type { Column } from './column.js';

/** Values of one field in the rows of a batch. Bit `i & 7` of `validity[i >> 3]` is set when row i has the field. */
export interface BatchField {
  readonly column: Column;
  readonly data: FieldValues;
  /** `undefined` if every row has the field. */
  readonly validity: Uint8Array | undefined;
}

/** Rows of one table, in the order in which they were written, without their series. */
export interface TimesAndFields {
  readonly rowCount: number;
  /** Nanoseconds since 1970-01-01 UTC. */
  readonly times: BigInt64Array;
  readonly fields: readonly BatchField[];
}

/** Accepted rows of one table. */
export interface RowBatch extends TimesAndFields {
  /** Ordinal of each row's series in the table's series index, valid in this process. */
  readonly seriesOrdinals: Uint32Array;
}

/** Accepted rows of one table, with the parser's series numbers before they are translated. */
export interface ParsedBatch extends TimesAndFields {
  /** The parser's number of each row's series. */
  readonly seriesNumbers: Uint32Array;
}

export function isValid(validity: Uint8Array | undefined, row: number): boolean {
  // Reading past the end gives undefined, which the bit operation turns into 0 (absent).
  return validity === undefined || ((validity[row >> 3] as number) & (1 << (row & 7))) !== 0;
}

/** Copies the given rows of a batch. `rows` must be ascending. */
export function takeRows(batch: RowBatch, rows: ArrayLike<number>): RowBatch {
  const seriesOrdinals = takeNumbers(batch.seriesOrdinals, rows);
  return { seriesOrdinals, ...takeTimesAndFields(batch, rows) };
}

/** Copies the given rows of a parsed batch. `rows` must be ascending. */
export function takeParsedRows(batch: ParsedBatch, rows: ArrayLike<number>): ParsedBatch {
  const seriesNumbers = takeNumbers(batch.seriesNumbers, rows);
  return { seriesNumbers, ...takeTimesAndFields(batch, rows) };
}

function takeNumbers(numbers: Uint32Array, rows: ArrayLike<number>): Uint32Array {
  const taken = new Uint32Array(rows.length);
  for (let i = 0; i < taken.length; i++) taken[i] = numbers[rows[i] as number] as number;
  return taken;
}

function takeTimesAndFields(batch: TimesAndFields, rows: ArrayLike<number>): TimesAndFields {
  const rowCount = rows.length;
  const times = new BigInt64Array(rowCount);
  for (let i = 0; i < rowCount; i++) times[i] = batch.times[rows[i] as number] as bigint;
  const fields: BatchField[] = [];
  for (const field of batch.fields) {
    const validity = takeValidity(field.validity, rows);
    if (validity?.every((byte) => byte === 0)) continue;
    fields.push({ column: field.column, data: takeValues(field.data, rows), validity });
  }
  return { rowCount, times, fields };
}

/**
 * Returns the rows `[from, to)` of a batch and the fields present in them. Shares the memory of
 * `batch`, except for the offsets of strings.
 * @param from a multiple of 8.
 */
export function sliceRows(batch: ParsedBatch, from: number, to: number): ParsedBatch {
  const fields: BatchField[] = [];
  for (const { column, data, validity } of batch.fields) {
    const bits = validity?.subarray(from >> 3, (to + 7) >> 3);
    if (bits?.every((byte) => byte === 0)) continue;
    fields.push({ column, data: sliceValues(data, from, to), validity: bits });
  }
  return {
    rowCount: to - from,
    seriesNumbers: batch.seriesNumbers.subarray(from, to),
    times: batch.times.subarray(from, to),
    fields,
  };
}

function sliceValues(data: FieldValues, from: number, to: number): FieldValues {
  switch (data.type) {
    case 'float64':
      return { type: 'float64', values: data.values.subarray(from, to) };
    case 'int64':
      return { type: 'int64', values: data.values.subarray(from, to) };
    case 'uint64':
      return { type: 'uint64', values: data.values.subarray(from, to) };
    case 'bool':
      return { type: 'bool', values: data.values.subarray(from, to) };
    case 'utf8': {
      const start = data.offsets[from] as number;
      const offsets = data.offsets.subarray(from, to + 1).map((offset) => offset - start);
      return { type: 'utf8', offsets, bytes: data.bytes.subarray(start, data.offsets[to]) };
    }
  }
}

function takeValidity(
  validity: Uint8Array | undefined,
  rows: ArrayLike<number>,
): Uint8Array | undefined {
  if (validity === undefined) return undefined;
  const taken = new Uint8Array((rows.length + 7) >> 3);
  for (let i = 0; i < rows.length; i++) {
    if (isValid(validity, rows[i] as number)) {
      taken[i >> 3] = (taken[i >> 3] as number) | (1 << (i & 7));
    }
  }
  return taken;
}

function takeValues(data: FieldValues, rows: ArrayLike<number>): FieldValues {
  const count = rows.length;
  switch (data.type) {
    case 'float64': {
      const values = new Float64Array(count);
      for (let i = 0; i < count; i++) values[i] = data.values[rows[i] as number] as number;
      return { type: 'float64', values };
    }
    case 'int64': {
      const values = new BigInt64Array(count);
      for (let i = 0; i < count; i++) values[i] = data.values[rows[i] as number] as bigint;
      return { type: 'int64', values };
    }
    case 'uint64': {
      const values = new BigUint64Array(count);
      for (let i = 0; i < count; i++) values[i] = data.values[rows[i] as number] as bigint;
      return { type: 'uint64', values };
    }
    case 'bool': {
      const values = new Uint8Array(count);
      for (let i = 0; i < count; i++) values[i] = data.values[rows[i] as number] as number;
      return { type: 'bool', values };
    }
    case 'utf8':
      return takeTexts(data, rows);
  }
}

function takeTexts(
  data: Extract<FieldValues, { type: 'utf8' }>,
  rows: ArrayLike<number>,
): FieldValues {
  const offsets = new Uint32Array(rows.length + 1);
  let sizeBytes = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as number;
    sizeBytes += (data.offsets[row + 1] as number) - (data.offsets[row] as number);
    offsets[i + 1] = sizeBytes;
  }
  const bytes = new Uint8Array(sizeBytes);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as number;
    bytes.set(data.bytes.subarray(data.offsets[row], data.offsets[row + 1]), offsets[i]);
  }
  return { type: 'utf8', offsets, bytes };
}

/** Returns the approximate bytes of the rows in memory, for the buffer limit. */
export function batchSizeBytes(batch: RowBatch): number {
  let size = batch.rowCount * 12;
  for (const { data, validity } of batch.fields) {
    size +=
      data.type === 'utf8'
        ? data.bytes.byteLength + data.offsets.byteLength
        : data.values.byteLength;
    if (validity !== undefined) size += validity.byteLength;
  }
  return size;
}
