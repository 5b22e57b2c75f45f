import type { ParsedBody, ParsedTable } from '../../../model/parsed-body.js';
import type { ParseOptions } from '../line-protocol-parser.js';
import type { ParserLimits } from '../parser-memory.js';

/** Start value of a lane's thread. */
export interface ParserWorkerSettings {
  readonly limits: ParserLimits;
  readonly hashSeed: number;
}

export interface ParseJobOptions extends ParseOptions {
  readonly encoding: 'identity' | 'gzip';
  /** Largest decoded body. */
  readonly maxSizeBytes: number;
}

export interface ParseJob {
  readonly body: Uint8Array;
  /** Of earlier replies, for this one and later ones. */
  readonly slabs: readonly ArrayBuffer[];
  readonly options: ParseJobOptions;
}

/** What a lane is sent: a job, or the wish that its parser starts over. */
export type ParserMessage = ParseJob | 'forget';

/** One per job, in the order of the jobs. */
export type ParserReply =
  /** `body` is absent when the one that was sent is shared and needed no decoding. */
  | {
      readonly kind: 'parsed';
      readonly parsed: ParsedBody;
      readonly body: Uint8Array | undefined;
      /** Memory that columns of `parsed` lie in, to be sent back with a later job. */
      readonly slab: ArrayBuffer | undefined;
    }
  | { readonly kind: 'body_not_utf8'; readonly index: number; readonly sizeBytes: number }
  | { readonly kind: 'body_too_large'; readonly limitBytes: number }
  | { readonly kind: 'gzip_corrupt'; readonly cause: Error };

/** Below this size copying an array is cheaper than handing over its memory. */
const MIN_TRANSFER_BYTES = 2048;

/** Memory of a reply that changes hands instead of being copied. */
export function transferList(reply: ParserReply): ArrayBuffer[] {
  if (reply.kind !== 'parsed') return [];
  const arrays = reply.parsed.tables.flatMap(arraysOf);
  if (reply.body !== undefined) arrays.push(reply.body);
  const changing = arrays.flatMap((array) =>
    array.byteLength >= MIN_TRANSFER_BYTES && isWhole(array) && array.buffer !== reply.slab
      ? [array.buffer]
      : [],
  );
  if (reply.slab !== undefined) changing.push(reply.slab);
  return changing;
}

/**
 * Whether an array is all of its memory, so that nobody else can be using the rest of it. An empty one never is: the
 * same empty memory stands for every request without a body, and all of them would lose it.
 */
export function isWhole(array: ArrayBufferView): array is ArrayBufferView<ArrayBuffer> {
  const { buffer, byteLength } = array;
  return buffer instanceof ArrayBuffer && byteLength > 0 && byteLength === buffer.byteLength;
}

/** Whether other threads read the array where it lies. */
export function isShared(array: ArrayBufferView): boolean {
  return array.buffer instanceof SharedArrayBuffer;
}

function arraysOf(table: ParsedTable): ArrayBufferView[] {
  const { times, series, newSeries, lineStarts, lineEnds, lineNumbers } = table;
  const arrays: ArrayBufferView[] = [times, series, lineStarts, lineEnds, lineNumbers];
  if (newSeries !== undefined) arrays.push(newSeries.shapeOf, newSeries.ends, newSeries.bytes);
  for (const { data, validity } of table.fields) {
    if (validity !== undefined) arrays.push(validity);
    if (data.type === 'utf8') arrays.push(data.offsets, data.bytes);
    else arrays.push(data.values);
  }
  return arrays;
}
