import { invariant } from '@plinth/kernel';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { type BatchField, isValid, type RowBatch } from '@plinth/tsdb-model/columns/row-batch.js';
import type { FieldValues } from '@plinth/tsdb-model/parsed-body.js';
import type { BlockMemory } from './block-memory.js';

/**
 * Values of one field in a block, to which rows are added. Rows without the field have a cleared
 * bit.
 */
export interface BlockField {
  readonly column: Column;
  readonly values: BlockNumbers | BlockTexts;
  readonly validity: Uint8Array;
  validCount: number;
}

export type BlockNumbers =
  | Float64Array<ArrayBuffer>
  | BigInt64Array<ArrayBuffer>
  | BigUint64Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>;

/** Strings of a block: the bytes of each row with a value, as views of a column of a parsed body. */
export interface BlockTexts {
  readonly texts: (Uint8Array | undefined)[];
}

/**
 * Up to `capacity` rows of one table, by column, that wait to be moved to DuckDB. Rows are only
 * appended. A moved block is never written again.
 */
export class RowBlock {
  readonly capacity: number;
  count = 0;
  readonly seriesOrdinals: Uint32Array<ArrayBuffer>;
  readonly seqs: BigInt64Array<ArrayBuffer>;
  readonly times: BigInt64Array<ArrayBuffer>;
  readonly fields = new Map<number, BlockField>();
  /** If true, queries may read the rows at any time, so the memory must not be reused. */
  mayBeRead = false;
  readonly #memory: BlockMemory;

  constructor(capacity: number, memory: BlockMemory) {
    invariant(capacity % 8 === 0, 'the capacity of a block must be a multiple of 8');
    this.capacity = capacity;
    this.#memory = memory;
    this.seriesOrdinals = new Uint32Array(memory.take(capacity * 4));
    this.seqs = new BigInt64Array(memory.take(capacity * 8));
    this.times = new BigInt64Array(memory.take(capacity * 8));
  }

  /** Releases the memory of a moved block to later blocks, unless queries may still read it. */
  releaseMemory(): void {
    if (this.mayBeRead) return;
    for (const array of [this.seriesOrdinals, this.seqs, this.times])
      this.#memory.release(array.buffer);
    for (const { values } of this.fields.values()) {
      if (!('texts' in values)) this.#memory.release(values.buffer);
    }
  }

  /**
   * Drops strings, which keep complete string columns of parsed bodies in memory. Queries of moved rows do not read
   * them here.
   */
  dropTexts(): void {
    for (const { values } of this.fields.values()) if ('texts' in values) values.texts.length = 0;
  }

  /** Bytes of its arrays. */
  get sizeBytes(): number {
    let sum = this.capacity * 20;
    for (const { values, validity } of this.fields.values())
      sum += validity.byteLength + ('texts' in values ? 0 : values.byteLength);
    return sum;
  }

  get free(): number {
    return this.capacity - this.count;
  }

  /** Appends rows `[from, to)` of `batch`. The caller ensures that they fit. */
  append(batch: RowBatch, from: number, to: number, seq: bigint): void {
    const at = this.count;
    const rows = to - from;
    if (rows === 1) {
      this.seriesOrdinals[at] = batch.seriesOrdinals[from] as number;
      this.times[at] = batch.times[from] as bigint;
      this.seqs[at] = seq;
    } else {
      this.seriesOrdinals.set(batch.seriesOrdinals.subarray(from, to), at);
      this.times.set(batch.times.subarray(from, to), at);
      this.seqs.fill(seq, at, at + rows);
    }
    for (const field of batch.fields) this.#appendField(field, from, to, at);
    this.count = at + rows;
  }

  #appendField(field: BatchField, from: number, to: number, at: number): void {
    let own = this.fields.get(field.column.id);
    if (own === undefined) {
      own = {
        column: field.column,
        values: makeValues(field.data.type, this.capacity, this.#memory),
        validity: new Uint8Array(this.capacity >> 3),
        validCount: 0,
      };
      this.fields.set(field.column.id, own);
    }
    copyValues(field.data, own.values, from, to, at);
    if (field.validity === undefined) {
      setBits(own.validity, at, at + to - from);
      own.validCount += to - from;
      return;
    }
    for (let row = from; row < to; row++) {
      if (!isValid(field.validity, row)) continue;
      const target = at + row - from;
      own.validity[target >> 3] = (own.validity[target >> 3] as number) | (1 << (target & 7));
      own.validCount++;
    }
  }
}

function makeValues(
  type: FieldValues['type'],
  capacity: number,
  memory: BlockMemory,
): BlockField['values'] {
  switch (type) {
    case 'float64':
      return new Float64Array(memory.take(capacity * 8));
    case 'int64':
      return new BigInt64Array(memory.take(capacity * 8));
    case 'uint64':
      return new BigUint64Array(memory.take(capacity * 8));
    case 'bool':
      return new Uint8Array(memory.take(capacity));
    case 'utf8':
      return { texts: new Array<Uint8Array | undefined>(capacity) };
  }
}

function copyValues(
  data: FieldValues,
  target: BlockField['values'],
  from: number,
  to: number,
  at: number,
): void {
  if (data.type === 'utf8') {
    const { texts } = target as BlockTexts; // makeValues chose this form from the same column type
    for (let row = from; row < to; row++) {
      texts[at + row - from] = data.bytes.subarray(data.offsets[row], data.offsets[row + 1]);
    }
    return;
  }
  // makeValues ensures that both arrays have the same class, so one class can represent all.
  const values = target as Float64Array;
  const source = data.values as Float64Array;
  if (to - from === 1) values[at] = source[from] as number;
  else values.set(source.subarray(from, to), at);
}

function setBits(bitmap: Uint8Array, from: number, to: number): void {
  let bit = from;
  for (; bit < to && (bit & 7) !== 0; bit++)
    bitmap[bit >> 3] = (bitmap[bit >> 3] as number) | (1 << (bit & 7));
  for (; bit + 8 <= to; bit += 8) bitmap[bit >> 3] = 0xff;
  for (; bit < to; bit++) bitmap[bit >> 3] = (bitmap[bit >> 3] as number) | (1 << (bit & 7));
}
