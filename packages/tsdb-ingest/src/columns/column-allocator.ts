/** Destination of a parsed body's columns. */
export interface ColumnAllocator {
  /** Called once before the columns of a body, with their approximate size in bytes. */
  begin(sizeBytes: number): void;
  numbers(source: Uint32Array<ArrayBuffer>, count: number): Uint32Array;
  longs(source: BigInt64Array<ArrayBuffer>, count: number): BigInt64Array;
  doubles(source: Float64Array<ArrayBuffer>, count: number): Float64Array;
}

/** Allocates separate garbage-collected memory for each column. */
export const HEAP_ALLOCATOR: ColumnAllocator = {
  begin() {},
  numbers: (source, count) => source.slice(0, count),
  longs: (source, count) => source.slice(0, count),
  doubles: (source, count) => source.slice(0, count),
};
