/** Part of a file that ends with a complete line of line protocol. */
export interface Chunk {
  readonly bytes: Uint8Array;
  /** Lines with a point, neither blank nor comments. */
  readonly pointCount: number;
  /** Maps a line of this chunk (from 1) to its line in the file. */
  readonly fileLineOf: (bodyLine: number) => number;
  /** Points from rows with fewer values than there are columns. */
  readonly shortCount?: number;
}

export interface CsvChunk extends Chunk {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly shortCount: number;
}

const encoder = new TextEncoder();

/** Collects lines into chunks and maps each line to its line in the file. */
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
   * Adds a point, which ends with a newline. Returns `false` if the chunk is full. An empty packer
   * accepts one line of any length.
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
    // A quoted newline splits one row into several body lines; all of them map to this row.
    for (let at = point.indexOf('\n'); at >= 0; at = point.indexOf('\n', at + 1)) {
      this.#fileLines.push(fileLine);
    }
    return true;
  }

  /** Returns the points added since the last call. */
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
