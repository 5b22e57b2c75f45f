import type { MessageFormat, ParsedBody, ParsedTable } from '@plinth/tsdb-model/parsed-body.js';
import type { ParseOptions } from '../line-protocol-parser.js';
import type { ParserLimits } from '../parser-dictionary.js';

/** Worker data of a parser thread. */
export interface ParserWorkerSettings {
  readonly limits: ParserLimits;
  readonly hashSeed: number;
}

export interface ParseJobOptions extends ParseOptions {
  readonly encoding: 'identity' | 'gzip' | 'snappy';
  /** Absent for line protocol. */
  readonly format?: MessageFormat;
  /** Maximum size of a decoded body. */
  readonly maxSizeBytes: number;
}

export interface ParseJob {
  readonly body: Uint8Array;
  /** Memory of earlier replies, for reuse. */
  readonly slabs: readonly ArrayBuffer[];
  readonly options: ParseJobOptions;
}

/** Message to a parser thread: a job, or a request to clear all tables, fields and series. */
export type ParserMessage = ParseJob | 'forget';

/** Reply to a job; replies are sent in job order. */
export type ParserReply =
  /** `body` is absent if the original is shared memory and needed no decoding. */
  | {
      readonly kind: 'parsed';
      readonly parsed: ParsedBody;
      readonly body: Uint8Array | undefined;
      /** Memory of the columns in `parsed`, to be returned with a later job. */
      readonly slab: ArrayBuffer | undefined;
    }
  | { readonly kind: 'body_not_utf8'; readonly index: number; readonly sizeBytes: number }
  | { readonly kind: 'body_too_large'; readonly limitBytes: number }
  | { readonly kind: 'snappy_corrupt'; readonly why: string; readonly index: number }
  | { readonly kind: 'gzip_corrupt'; readonly cause: Error };

/** Below this size, copying an array is cheaper than transferring its memory. */
const MIN_TRANSFER_BYTES = 2048;

/** Returns the buffers of a reply that are transferred instead of copied. */
export function transferList(reply: ParserReply): ArrayBuffer[] {
  if (reply.kind !== 'parsed') return [];
  const arrays = reply.parsed.tables.flatMap(arraysOf);
  if (reply.body !== undefined) arrays.push(reply.body);
  const transferred = arrays.flatMap((array) =>
    array.byteLength >= MIN_TRANSFER_BYTES && coversBuffer(array) && array.buffer !== reply.slab
      ? [array.buffer]
      : [],
  );
  if (reply.slab !== undefined) transferred.push(reply.slab);
  return transferred;
}

/**
 * Whether an array covers its complete buffer, so that nothing else uses the rest. False for empty
 * arrays: all requests without a body share one empty buffer, and a transfer would detach it for
 * all of them.
 */
export function coversBuffer(array: ArrayBufferView): array is ArrayBufferView<ArrayBuffer> {
  const { buffer, byteLength } = array;
  return buffer instanceof ArrayBuffer && byteLength > 0 && byteLength === buffer.byteLength;
}

/** Whether other threads can read the array without a copy. */
export function isShared(array: ArrayBufferView): boolean {
  return array.buffer instanceof SharedArrayBuffer;
}

function arraysOf(table: ParsedTable): ArrayBufferView[] {
  const { times, seriesNumbers: series, newSeries, lineStarts, lineEnds, lineNumbers } = table;
  const arrays: ArrayBufferView[] = [times, series, lineStarts, lineEnds, lineNumbers];
  if (newSeries !== undefined) arrays.push(newSeries.tagKeySetOf, newSeries.ends, newSeries.bytes);
  for (const { data, validity } of table.fields) {
    if (validity !== undefined) arrays.push(validity);
    if (data.type === 'utf8') arrays.push(data.offsets, data.bytes);
    else arrays.push(data.values);
  }
  return arrays;
}
