import type { ByteRange, ObjectStore } from '@plinth/kernel';
import {
  type ColumnValues,
  type Decompress,
  readColumnChunk,
  readRuns,
  type ValueRuns,
} from './column-chunk.js';
import {
  type FileIndex,
  footerSizeOf,
  type IndexedColumn,
  type PhysicalType,
  readFileIndex,
  UnknownLayout,
} from './file-index.js';

/** First read at the end of a file; most footers fit into it. */
const FOOTER_GUESS_BYTES = 128 * 1024;
/** Footers are parsed in one step and cached, so files with hundreds of columns are left to DuckDB. */
const MAX_FOOTER_BYTES = 512 * 1024;
/** Maximum size of a gap that is read with its neighbors, because a separate read costs more. */
const MAX_GAP_BYTES = 64 * 1024;

export interface SegmentObject {
  readonly objectName: string;
  readonly sizeBytes: number;
}

/**
 * Reads row groups of segments without DuckDB. It supports only layouts that DuckDB writes for this
 * server.
 */
export class SegmentReader {
  readonly #objects: Pick<ObjectStore, 'get' | 'getRanges'>;
  #decompress: Promise<Decompress> | undefined;
  /** Number of running reads, for callers that limit them. */
  underWay = 0;

  constructor(objects: Pick<ObjectStore, 'get' | 'getRanges'>) {
    this.#objects = objects;
  }

  /** Throws `UnknownLayout`. */
  async indexOf({ objectName, sizeBytes }: SegmentObject): Promise<FileIndex> {
    const read = async (size: number): Promise<Uint8Array> => {
      const start = Math.max(0, sizeBytes - size);
      return await this.#objects.get(objectName, { start, end: sizeBytes });
    };
    const tail = await read(FOOTER_GUESS_BYTES);
    const size = footerSizeOf(tail);
    if (size > MAX_FOOTER_BYTES)
      throw new UnknownLayout(`the footer has ${size} bytes; the limit is ${MAX_FOOTER_BYTES}`);
    return readFileIndex((size > tail.length ? await read(size) : tail).subarray(-size));
  }

  /**
   * Reads the pages of some columns, in the order of `names`, for each of some row groups. Throws
   * `UnknownLayout`.
   */
  async read(
    { objectName }: SegmentObject,
    index: FileIndex,
    groups: readonly number[],
    names: readonly string[],
  ): Promise<readonly (readonly ColumnPages[])[]> {
    const decompress = await this.#whenReady();
    const columns = names.map((name) => {
      const column = index.columns.get(name);
      if (column === undefined) throw new UnknownLayout(`column ${name} is not supported`);
      return column;
    });
    const places = groups.map((group) =>
      columns.map(({ places }) => ({
        start: places[group * 2] as number,
        end: places[group * 2 + 1] as number,
      })),
    );
    const ranges = joined(places.flat());
    const pieces = await this.#objects.getRanges(objectName, ranges);
    const bytesOf = ({ start, end }: ByteRange): Uint8Array => {
      const at = ranges.findIndex((range) => range.start <= start && range.end >= end);
      const from = start - (ranges[at] as ByteRange).start; // Each range is part of one joined range.
      return (pieces[at] as Uint8Array).subarray(from, from + end - start);
    };
    return places.map((ofGroup) =>
      ofGroup.map((place, i) => {
        const { type } = columns[i] as IndexedColumn;
        return new ColumnPages(bytesOf(place), type, decompress);
      }),
    );
  }

  /** Compiles the decompressor on first use. */
  #whenReady(): Promise<Decompress> {
    this.#decompress ??= import('zstddec').then(async ({ ZSTDDecoder }) => {
      const decoder = new ZSTDDecoder();
      await decoder.init();
      return (bytes, sizeBytes) => decoder.decode(bytes, sizeBytes);
    });
    return this.#decompress;
  }
}

/** Pages of a column in one row group. Reading them throws `UnknownLayout` or `RangeError`. */
export class ColumnPages {
  readonly #bytes: Uint8Array;
  readonly #type: PhysicalType;
  readonly #decompress: Decompress;

  constructor(bytes: Uint8Array, type: PhysicalType, decompress: Decompress) {
    this.#bytes = bytes;
    this.#type = type;
    this.#decompress = decompress;
  }

  values(rows: { readonly from: number; readonly to: number }): ColumnValues {
    return readColumnChunk(this.#bytes, this.#type, rows, this.#decompress);
  }

  runs(rowCount: number): ValueRuns {
    return readRuns(this.#bytes, rowCount, this.#decompress);
  }
}

/** Merges ranges that are close together. */
function joined(ranges: readonly ByteRange[]): readonly ByteRange[] {
  const result: { start: number; end: number }[] = [];
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last !== undefined && start - last.end <= MAX_GAP_BYTES) last.end = Math.max(last.end, end);
    else result.push({ start, end });
  }
  return result;
}
