/** Where the columns of a body that was read are copied to. */
export interface ColumnMemory {
  /** Called once before the columns of a body, with about as many bytes as they need. */
  begin(sizeBytes: number): void;
  numbers(source: Uint32Array<ArrayBuffer>, count: number): Uint32Array;
  longs(source: BigInt64Array<ArrayBuffer>, count: number): BigInt64Array;
  doubles(source: Float64Array<ArrayBuffer>, count: number): Float64Array;
}

/** Each column gets memory of its own, for the runtime to collect. */
export const OWN_MEMORY: ColumnMemory = {
  begin() {},
  numbers: (source, count) => source.slice(0, count),
  longs: (source, count) => source.slice(0, count),
  doubles: (source, count) => source.slice(0, count),
};
