import { MAX_INT64, MIN_INT64 } from '@plinth/tsdb-model/columns/int64.js';
import { ThriftReader } from './thrift.js';

/** Physical types of columns. Source: parquet-format, parquet.thrift, `Type`. */
export type PhysicalType = 'boolean' | 'int64' | 'double';
const PHYSICAL_TYPES: Readonly<Record<number, PhysicalType>> = {
  0: 'boolean',
  2: 'int64',
  5: 'double',
};
/** Source: the same, `CompressionCodec`. */
const ZSTD = 6;

const FOOTER_TAIL_BYTES = 8;
const MAGIC = 'PAR1';

/** One column of a file. */
export interface IndexedColumn {
  readonly type: PhysicalType;
  /** By row group, start and end of its bytes. */
  readonly places: Float64Array;
}

/**
 * Row groups of a Parquet file: locations of the supported columns, and bounds of series and time.
 */
export interface FileIndex {
  /** First row of each row group, followed by the row count of the file. */
  readonly starts: Uint32Array;
  readonly columns: ReadonlyMap<string, IndexedColumn>;
  /** Minimum and maximum by row group. */
  readonly series: BigInt64Array;
  readonly times: BigInt64Array;
}

/** The file has a layout that this reader does not support; DuckDB may still read it. */
export class UnknownLayout extends Error {
  override readonly name = 'UnknownLayout';
}

/** Returns the size of the footer. @param tail at least the last eight bytes of the file. */
export function footerSizeOf(tail: Uint8Array): number {
  const at = tail.length - FOOTER_TAIL_BYTES;
  const view = new DataView(tail.buffer, tail.byteOffset, tail.byteLength);
  const magic = String.fromCharCode(...tail.subarray(at + 4));
  if (at < 0 || magic !== MAGIC)
    throw new UnknownLayout('the file does not end with the Parquet magic bytes');
  return view.getUint32(at, true) + FOOTER_TAIL_BYTES;
}

interface Chunk {
  readonly name: string;
  readonly type: PhysicalType | undefined;
  readonly isZstd: boolean;
  readonly start: number;
  readonly end: number;
  /** Minimum and maximum of 64-bit values. */
  readonly bounds: readonly [bigint, bigint];
}

/**
 * Parses the footer. @param footer the footer from its first byte. Source: parquet-format,
 * parquet.thrift, `FileMetaData`.
 */
export function readFileIndex(footer: Uint8Array): FileIndex {
  const starts = [0];
  const chunksByName = new Map<string, Chunk[]>();
  const thrift = new ThriftReader(footer);
  const readGroup = (): void => {
    let rowCount = 0;
    thrift.struct((id) => {
      if (id === 1) {
        thrift.list(() => {
          const chunk = readChunk(thrift);
          const chunks = chunksByName.get(chunk.name);
          if (chunks === undefined) chunksByName.set(chunk.name, [chunk]);
          else chunks.push(chunk);
        });
      } else if (id === 3) rowCount = thrift.int();
      else return false;
      return true;
    });
    starts.push((starts.at(-1) ?? 0) + rowCount);
  };
  thrift.struct((id) => {
    if (id !== 4) return false;
    thrift.list(readGroup);
    return true;
  });
  const groupCount = starts.length - 1;
  const columns = new Map<string, IndexedColumn>();
  for (const [name, chunks] of chunksByName) {
    const type = chunks[0]?.type;
    if (type === undefined || chunks.length !== groupCount) continue;
    if (chunks.some((chunk) => !chunk.isZstd)) continue;
    columns.set(name, { type, places: Float64Array.from(chunks.flatMap((c) => [c.start, c.end])) });
  }
  if (!columns.has('_series') || !columns.has('time'))
    throw new UnknownLayout('the file has no series or time column');
  const boundsOf = (name: string): BigInt64Array =>
    BigInt64Array.from((chunksByName.get(name) ?? []).flatMap(({ bounds }) => bounds));
  const [series, times] = [boundsOf('_series'), boundsOf('time')];
  return { starts: Uint32Array.from(starts), columns, series, times };
}

/** Bounds of a column without statistics. */
const UNBOUNDED = [MIN_INT64, MAX_INT64] as const;

function readChunk(thrift: ThriftReader): Chunk {
  let chunk: Chunk | undefined;
  thrift.struct((id) => {
    if (id !== 3) return false;
    chunk = readColumnMetadata(thrift);
    return true;
  });
  if (chunk === undefined) throw new UnknownLayout('a column has no metadata');
  return chunk;
}

/** Source: the same, `ColumnMetaData`. */
function readColumnMetadata(thrift: ThriftReader): Chunk {
  let type = -1;
  let codec = -1;
  let sizeBytes = 0;
  let dataAt = 0;
  let dictionaryAt: number | undefined;
  let bounds: Chunk['bounds'] = UNBOUNDED;
  const path: string[] = [];
  thrift.struct((id) => {
    if (id === 1) type = thrift.int();
    else if (id === 3) thrift.list(() => path.push(Buffer.from(thrift.binary()).toString()));
    else if (id === 4) codec = thrift.int();
    else if (id === 7) sizeBytes = thrift.int();
    else if (id === 9) dataAt = thrift.int();
    else if (id === 11) dictionaryAt = thrift.int();
    else if (id === 12) bounds = readBounds(thrift);
    else return false;
    return true;
  });
  const start = Math.min(dataAt, dictionaryAt ?? dataAt);
  return {
    name: path.join('.'),
    type: PHYSICAL_TYPES[type],
    isZstd: codec === ZSTD,
    start,
    end: start + sizeBytes,
    bounds,
  };
}

/** Reads bounds of 64-bit integers. Source: the same, `Statistics`. */
function readBounds(thrift: ThriftReader): Chunk['bounds'] {
  let [min, max]: [bigint, bigint] = [...UNBOUNDED];
  const int64 = (or: bigint): bigint => {
    const bytes = thrift.binary();
    if (bytes.length !== 8) return or;
    return new DataView(bytes.buffer, bytes.byteOffset, 8).getBigInt64(0, true);
  };
  thrift.struct((id) => {
    if (id === 5) max = int64(max);
    else if (id === 6) min = int64(min);
    else return false;
    return true;
  });
  return [min, max];
}
