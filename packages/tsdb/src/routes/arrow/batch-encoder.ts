import { setImmediate } from 'node:timers/promises';
import { Buffer as ArrowBuffer } from 'apache-arrow/fb/buffer';
import { FieldNode } from 'apache-arrow/fb/field-node';
import { Message } from 'apache-arrow/fb/message';
import { MessageHeader } from 'apache-arrow/fb/message-header';
import { MetadataVersion } from 'apache-arrow/fb/metadata-version';
import { RecordBatch } from 'apache-arrow/fb/record-batch';
import { Builder } from 'flatbuffers';
import { DictionaryVector } from '../../model/columns/dictionary-vector.js';
import type { ColumnVector, ResultChunk } from '../../model/columns/result.js';
import { MAX_CELL_TEXT_BYTES, TextCells } from '../../model/columns/text-cells.js';
import { TextSpans } from '../../model/columns/text-spans.js';
import { type Steps, TimeSlicedTask } from '../../model/time-sliced-task.js';
import type { ArrowType } from './arrow-field.js';
import { BatchBodies, type PooledBytes } from './batch-bodies.js';
import type { BatchParts, ColumnBuilder } from './column-builder.js';
import { fixedSizeOf, makeColumn } from './make-column.js';
import { appendEach } from './nested-columns.js';

/** A message of an Arrow stream: its header, and the columns' bytes. */
export interface ArrowMessage {
  readonly header: Uint8Array;
  readonly body: Uint8Array;
  /** Lets the bytes of the body be used again. */
  release?(): void;
}

/**
 * A batch is finished when it has so many bytes. Small enough that hundreds of slow readers fit into memory and that no
 * message comes near the 4 MiB that clients take, large enough that its frame costs nothing.
 */
const TARGET_BYTES = 192 * 1024;

/**
 * EventLoopYielder chunks of columns into record batches without a row in between.
 * Source: Arrow columnar format, "RecordBatch message".
 */
export class BatchEncoder {
  readonly #columns: readonly ColumnBuilder[];
  readonly #fixedSize: number;
  /** Places of the columns whose size depends on the value, with what it depends on. */
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

  /** Rows that no batch has yet. */
  get pendingRowCount(): number {
    return this.#rowCount;
  }

  /** All rows as batches: the first comes with the first chunk that has any, and others get their turn between two. */
  async *batchesOf(
    chunks: AsyncIterable<ResultChunk>,
  ): AsyncGenerator<ArrowMessage, void, undefined> {
    let isFirst = true;
    for await (const chunk of chunks) {
      try {
        const runner = new TimeSlicedTask();
        for (const message of this.add(chunk)) {
          if (message === undefined) {
            if (runner.isSliceOver) await runner.take();
            continue;
          }
          yield message;
          await setImmediate();
        }
      } finally {
        // Also when the client has gone.
        chunk.release?.();
      }
      if (isFirst && this.#rowCount > 0) {
        isFirst = false;
        yield this.take();
      }
    }
    if (this.#rowCount > 0) yield this.take();
  }

  /** Takes a chunk and hands out the batches that it completes; `undefined` is the end of a step of nested values. */
  *add(chunk: ResultChunk): Generator<ArrowMessage | undefined, void, undefined> {
    for (let from = 0; from < chunk.rowCount; ) {
      const to = yield* this.#fitting(chunk, from);
      for (const [index, vector] of chunk.columns.entries()) {
        const column = this.#columns[index] as ColumnBuilder; // one a vector
        if (column.cellInSteps === undefined) column.append(vector, from, to);
        else yield* appendEach(column, vector, from, to);
      }
      this.#rowCount += to - from;
      from = to;
      if (this.#sizeBytes >= TARGET_BYTES) yield this.take();
    }
  }

  /** A batch of the pending rows; one without rows is a sign of life. */
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
    // The builder's bytes are used again for the next header.
    return { header: builder.asUint8Array().slice(), body, release: pooled.release };
  }

  /** The row behind the last one that still goes into this batch; always takes one. */
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

/** Longer texts are counted one by one: few of them may be as long. */
const MAX_EVEN_LENGTH = 64;

/** About as many bytes as no text of the column goes beyond; `undefined` where they differ too much, or nobody knows. */
function maxTextSize(vector: ColumnVector | undefined): number | undefined {
  if (vector instanceof TextCells) return 4 + MAX_CELL_TEXT_BYTES;
  const { maxLength } = (vector instanceof DictionaryVector && vector.facts) || {};
  return maxLength !== undefined && maxLength <= MAX_EVEN_LENGTH ? 4 + maxLength : undefined;
}

/** About as many bytes as a value takes; text is taken for ASCII. */
function sizeOfCell(vector: ColumnVector, row: number, type: ArrowType): number | Steps<number> {
  if (vector instanceof DictionaryVector) {
    return 4 + (vector.texts[vector.codes[row] as number]?.length ?? 0);
  }
  // At most so many, and asking for more would make texts of all of them.
  if (vector instanceof TextCells) return 4 + MAX_CELL_TEXT_BYTES;
  if (vector instanceof TextSpans) return 4 + (vector.sizes[row] as number);
  const cell = vector.values[row];
  if (typeof cell === 'string' || cell instanceof Uint8Array) return 4 + cell.length;
  return type.kind === 'utf8' || type.kind === 'tag' ? 4 : sizeOfNested(cell);
}

/** Values that are counted without a pause. */
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

/** Of most values in lists: `undefined` where there are others within them. */
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

/** The buffers one behind the other, each at a multiple of 8 bytes. */
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
    const { offset, size } = places[index] as (typeof places)[number]; // one place per buffer
    body.set(bytes, offset);
    body.fill(0, offset + size, (offset + size + 7) & ~7);
  });
  return { pooled, places };
}
