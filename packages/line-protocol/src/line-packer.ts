/** A piece of a file that ends where a line of line protocol ends. */
export interface Chunk {
  readonly bytes: Uint8Array;
  /** Lines that carry a point: neither blank nor comment. */
  readonly pointCount: number;
  /** Line of the file for a line (from 1) of this chunk. */
  readonly fileLineOf: (bodyLine: number) => number;
  /** Points of rows with fewer values than there are columns. */
  readonly shortCount?: number;
}

export interface CsvChunk extends Chunk {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly shortCount: number;
}

const encoder = new TextEncoder();

/** Puts lines together to chunks, and knows which line of the file each of them came from. */
export class LinePacker {
  readonly #maxSizeBytes: number;
  #bytes: Uint8Array<ArrayBuffer>;
  #sizeBytes = 0;
  #pointCount = 0;
  #shortCount = 0;
  #fileLines: number[] = [];

  constructor(maxSizeBytes: number) {
    this.#maxSizeBytes = maxSizeBytes;
    this.#bytes = new Uint8Array(maxSizeBytes);
  }

  get isEmpty(): boolean {
    return this.#pointCount === 0;
  }

  /**
   * Takes a point, which ends with a newline, or is `false` where there is no room left. An empty one has room for one line of any
   * length.
   */
  add(point: string, fileLine: number, isShort: boolean): boolean {
    const { read, written } = encoder.encodeInto(point, this.#bytes.subarray(this.#sizeBytes));
    if (read === point.length) this.#sizeBytes += written;
    else if (!this.isEmpty) return false;
    else {
      this.#bytes = encoder.encode(point);
      this.#sizeBytes = this.#bytes.length;
    }
    this.#pointCount += 1;
    if (isShort) this.#shortCount += 1;
    // A quoted newline makes one row several body lines; all of them are this row.
    for (let at = point.indexOf('\n'); at >= 0; at = point.indexOf('\n', at + 1)) {
      this.#fileLines.push(fileLine);
    }
    return true;
  }

  /** What was added since the last time. */
  take(): CsvChunk {
    const bytes = this.#bytes.subarray(0, this.#sizeBytes);
    const pointCount = this.#pointCount;
    const shortCount = this.#shortCount;
    const known = this.#fileLines;
    this.#bytes = new Uint8Array(this.#maxSizeBytes);
    this.#sizeBytes = 0;
    this.#pointCount = 0;
    this.#shortCount = 0;
    this.#fileLines = [];
    const fileLineOf = (bodyLine: number) => known[bodyLine - 1] ?? 0;
    return { bytes, pointCount, shortCount, fileLineOf };
  }
}
