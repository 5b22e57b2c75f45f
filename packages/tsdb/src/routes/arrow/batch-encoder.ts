import { setImmediate } from 'node:timers/promises';
import { DictionaryVector } from '@plinth/tsdb-model/columns/dictionary-vector.js';
import { InlinedTexts, MAX_INLINED_BYTES } from '@plinth/tsdb-model/columns/inlined-texts.js';
import type { ColumnVector, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import { TextSpans } from '@plinth/tsdb-model/columns/text-spans.js';
import { type Steps, TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import { Buffer as ArrowBuffer } from 'apache-arrow/fb/buffer';
import { FieldNode } from 'apache-arrow/fb/field-node';
import { Message } from 'apache-arrow/fb/message';
import { MessageHeader } from 'apache-arrow/fb/message-header';
import { MetadataVersion } from 'apache-arrow/fb/metadata-version';
import { RecordBatch } from 'apache-arrow/fb/record-batch';
import { Builder } from 'flatbuffers';
import type { ArrowType } from './arrow-field.js';
import { BatchBodies, type PooledBytes } from './batch-bodies.js';
import type { BatchParts, ColumnBuilder } from './column-builder.js';
import { fixedSizeOf, makeColumn } from './make-column.js';
import { appendEach } from './nested-columns.js';

/** A message of an Arrow stream: its header and the bytes of the columns. */
export interface ArrowMessage {
  readonly header: Uint8Array;
  readonly body: Uint8Array;
  /** Releases the bytes of the body for reuse. */
  release?(): void;
}

/**
 * A batch is finished at this size. It is small enough for hundreds of slow readers and far below
 * the clients' 4 MiB message limit, and large enough to make framing costs negligible.
 */
const TARGET_BYTES = 192 * 1024;

/**
 * Encodes chunks of columns as record batches.
 * Source: Arrow columnar format, "RecordBatch message".
 */
export class BatchEncoder {
  readonly #columns: readonly ColumnBuilder[];
  readonly #fixedSize: number;
  /** Indexes and types of the columns whose cell size depends on the value. */
  readonly #varying: readonly { readonly index: number; readonly type: ArrowType }[];
  readonly #builder = new Builder(1024);
  readonly #pool = new BatchBodies();
  #rowCount = 0;
  #sizeBytes = 0;

  constructor(types: readonly ArrowType[]) {
    this.#columns = types.map(makeColumn);
    const sizes = types.map(fixedSizeOf);
    this.#fixedSize = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
    this.#varying = types.flatMap((type, index) =>
      sizes[index] === undefined ? [{ index, type }] : [],
    );
  }

  /** Rows that are not part of a batch yet. */
  get pendingRowCount(): number {
    return this.#rowCount;
  }

  /**
   * Encodes all rows as batches. The first batch is sent with the first rows; other work runs
   * between batches.
   */
  async *batchesOf(
    chunks: AsyncIterable<ResultChunk>,
  ): AsyncGenerator<ArrowMessage, void, undefined> {
    let isFirst = true;
    for await (const chunk of chunks) {
      try {
        const task = new TimeSlicedTask();
        for (const message of this.add(chunk)) {
          if (message === undefined) {
            if (task.isYieldDue) await task.yieldIfDue();
            continue;
          }
          yield message;
          await setImmediate();
        }
      } finally {
        // Runs even if the client has disconnected.
        chunk.release?.();
      }
      if (isFirst && this.#rowCount > 0) {
        isFirst = false;
        yield this.take();
      }
    }
    if (this.#rowCount > 0) yield this.take();
  }

  /**
   * Adds a chunk and yields the batches that it completes. Yields `undefined` after each step over
   * nested values.
   */
  *add(chunk: ResultChunk): Generator<ArrowMessage | undefined, void, undefined> {
    for (let from = 0; from < chunk.rowCount; ) {
      const to = yield* this.#fitting(chunk, from);
      for (const [index, vector] of chunk.columns.entries()) {
        const column = this.#columns[index] as ColumnBuilder; // one column per vector
        if (column.cellInSteps === undefined) column.append(vector, from, to);
        else yield* appendEach(column, vector, from, to);
      }
      this.#rowCount += to - from;
      from = to;
      if (this.#sizeBytes >= TARGET_BYTES) yield this.take();
    }
  }

  /** Returns the pending rows as a batch. A batch without rows serves as a keep-alive. */
  take(): ArrowMessage {
    const parts: BatchParts = { nodes: [], buffers: [] };
    for (const column of this.#columns) column.take(parts);
    const { pooled, places } = layOut(parts.buffers, this.#pool);
    const body = pooled.bytes;
    const builder = this.#builder;
    builder.clear();
    RecordBatch.startNodesVector(builder, parts.nodes.length);
    for (const { rowCount, nullCount } of parts.nodes.toReversed()) {
      FieldNode.createFieldNode(builder, BigInt(rowCount), BigInt(nullCount));
    }
    const nodes = builder.endVector();
    RecordBatch.startBuffersVector(builder, places.length);
    for (const { offset, size } of places.toReversed()) {
      ArrowBuffer.createBuffer(builder, BigInt(offset), BigInt(size));
    }
    const buffers = builder.endVector();
    RecordBatch.startRecordBatch(builder);
    RecordBatch.addLength(builder, BigInt(this.#rowCount));
    RecordBatch.addNodes(builder, nodes);
    RecordBatch.addBuffers(builder, buffers);
    const batch = RecordBatch.endRecordBatch(builder);
    const version = MetadataVersion.V5;
    const bodySize = BigInt(body.length);
    builder.finish(
      Message.createMessage(builder, version, MessageHeader.RecordBatch, batch, bodySize, 0),
    );
    this.#rowCount = 0;
    this.#sizeBytes = 0;
    // The next header reuses the builder's bytes.
    return { header: builder.asUint8Array().slice(), body, release: pooled.release };
  }

  /** Returns the index after the last row that fits into the current batch. At least one row is taken. */
  *#fitting(chunk: ResultChunk, from: number): Steps<number> {
    const room = TARGET_BYTES - this.#sizeBytes;
    const sizes = this.#varying.map(({ index }) => maxTextSize(chunk.columns[index]));
    if (!sizes.includes(undefined)) {
      const rowSize = sizes.reduce<number>((sum, size) => sum + (size ?? 0), this.#fixedSize);
      const count = Math.max(1, Math.ceil(room / Math.max(1, rowSize)));
      const to = Math.min(chunk.rowCount, from + count);
      this.#sizeBytes += (to - from) * rowSize;
      return to;
    }
    let size = 0;
    let to = from;
    while (to < chunk.rowCount && (to === from || size < room)) {
      size += this.#fixedSize;
      for (const { index, type } of this.#varying) {
        const cellSize = sizeOfCell(chunk.columns[index] as ColumnVector, to, type);
        size += typeof cellSize === 'number' ? cellSize : yield* cellSize;
      }
      to++;
    }
    this.#sizeBytes += size;
    return to;
  }
}

/** Above this length, strings are measured individually, because only few of them may be that long. */
const MAX_EVEN_LENGTH = 64;

/**
 * Returns an upper estimate of the bytes per string; `undefined` if lengths vary too much or are
 * unknown.
 */
function maxTextSize(vector: ColumnVector | undefined): number | undefined {
  if (vector instanceof InlinedTexts) return 4 + MAX_INLINED_BYTES;
  const { maxLength } = (vector instanceof DictionaryVector && vector.facts) || {};
  return maxLength !== undefined && maxLength <= MAX_EVEN_LENGTH ? 4 + maxLength : undefined;
}

/** Estimates the bytes of a value, treating text as ASCII. */
function sizeOfCell(vector: ColumnVector, row: number, type: ArrowType): number | Steps<number> {
  if (vector instanceof DictionaryVector) {
    return 4 + (vector.texts[vector.codes[row] as number]?.length ?? 0);
  }
  // An upper bound, because exact sizes would require decoding all strings.
  if (vector instanceof InlinedTexts) return 4 + MAX_INLINED_BYTES;
  if (vector instanceof TextSpans) return 4 + (vector.sizes[row] as number);
  const cell = vector.values[row];
  if (typeof cell === 'string' || cell instanceof Uint8Array) return 4 + cell.length;
  return type.kind === 'utf8' || type.kind === 'tag' ? 4 : sizeOfNested(cell);
}

/** Number of values measured before yielding. */
const STEP_VALUES = 256;

function* sizeOfNested(cell: unknown): Steps<number> {
  if (cell === null || typeof cell !== 'object') return sizeOfPlain(cell);
  const items: readonly unknown[] = Array.isArray(cell) ? cell : Object.values(cell);
  let size = 4;
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    if (i % STEP_VALUES === STEP_VALUES - 1) yield;
    size +=
      typeof item === 'object'
        ? (sizeOfFlat(item) ?? (yield* sizeOfNested(item)))
        : sizeOfPlain(item);
  }
  return size;
}

/** Measures a list item; `undefined` if it contains nested values. */
function sizeOfFlat(cell: object | null): number | undefined {
  if (cell === null || cell instanceof Uint8Array) return sizeOfPlain(cell);
  if (Array.isArray(cell)) return undefined;
  let size = 4;
  for (const member of Object.values(cell)) {
    if (typeof member === 'object' && member !== null) return undefined;
    size += sizeOfPlain(member);
  }
  return size;
}

const sizeOfPlain = (cell: unknown): number =>
  typeof cell === 'string' || cell instanceof Uint8Array ? 4 + cell.length : 8;

/** Concatenates the buffers, each aligned to 8 bytes. */
function layOut(
  buffers: readonly Uint8Array[],
  pool: BatchBodies,
): {
  readonly pooled: PooledBytes;
  readonly places: readonly { readonly offset: number; readonly size: number }[];
} {
  let end = 0;
  const places = buffers.map(({ length: size }) => {
    const offset = end;
    end = (end + size + 7) & ~7;
    return { offset, size };
  });
  const pooled = pool.take(end);
  const { bytes: body } = pooled;
  buffers.forEach((bytes, index) => {
    const { offset, size } = places[index] as (typeof places)[number]; // one position per buffer
    body.set(bytes, offset);
    body.fill(0, offset + size, (offset + size + 7) & ~7);
  });
  return { pooled, places };
}
