import { BitRuns } from './bit-runs.js';
import { readDifferences } from './differences.js';
import { type PhysicalType, UnknownLayout } from './file-index.js';
import { ThriftReader } from './thrift.js';

/** Values of one column over some rows. */
export interface ColumnValues {
  /** By row; missing values are undefined. Booleans are 0 and 1. */
  readonly values: Int8Array | Float64Array | BigInt64Array;
  /** One bit per row, lowest bit first; `undefined` if all values are present. */
  readonly isPresent: Uint8Array | undefined;
}

/** Decompresses to `sizeBytes` bytes. */
export type Decompress = (compressed: Uint8Array, sizeBytes: number) => Uint8Array;

/** Source: parquet-format, parquet.thrift, `PageType` and `Encoding`. */
const PageType = { data: 0, dictionary: 2 };
const Encoding = { plain: 0, deltaBinaryPacked: 5, rleDictionary: 8, byteStreamSplit: 9 };

/** Length field before the definition levels, which mark rows with a value. */
const LENGTH_BYTES = 4;
/** Zero bytes after a page, because complete words are read. */
const PADDING_BYTES = 8;
/**
 * Maximum size of a page. A page with all 40,960 values of a row group in an older file has 320 kB.
 */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;

interface PageHead {
  readonly type: number;
  readonly sizeBytes: number;
  readonly storedBytes: number;
  readonly valueCount: number;
  readonly encoding: number;
}

/** Runs of equal 64-bit numbers. */
export interface ValueRuns {
  /** The numbers as pairs of words, low word first. */
  readonly words: Int32Array;
  /** The row after the end of each run. */
  readonly ends: Uint32Array;
}

/**
 * Reads a column of 64-bit integers without NULLs that consists of long runs.
 * @param bytes all pages of the column chunk.
 */
export function readRuns(bytes: Uint8Array, rowCount: number, decompress: Decompress): ValueRuns {
  const { page, head, dictionary } = dataPageOf(bytes, 'int64', rowCount, decompress);
  if (dictionary === undefined || head.encoding !== Encoding.rleDictionary) {
    const all = { type: 'int64', from: 0, to: rowCount, dictionary } as const;
    const { values, isPresent } = readPage(page, head, all);
    if (isPresent !== undefined) throw new UnknownLayout('a row has no series');
    const ends = endsOf(new BigInt64Array(values.buffer));
    return {
      words: wordsOf(
        values,
        ends.map((end) => end - 1),
      ),
      ends,
    };
  }
  if (!levelsOf(page).isAllOnes(rowCount)) throw new UnknownLayout('a row has no series');
  // Compare dictionary indexes, so that no value is looked up per row.
  const numbers: number[] = [];
  const ends: number[] = [];
  let end = 0;
  dictionaryIndexes(valuesOf(page)).readRuns(rowCount, (number, length) => {
    if (number >= dictionary.length) throw new UnknownLayout(OUT_OF_RANGE);
    end += length;
    if (number === numbers.at(-1)) ends.pop();
    else numbers.push(number);
    ends.push(end);
  });
  return { words: wordsOf(dictionary, numbers), ends: Uint32Array.from(ends) };
}

function endsOf(values: BigInt64Array): Uint32Array {
  const ends: number[] = [];
  for (let row = 1; row < values.length; row++) if (values[row] !== values[row - 1]) ends.push(row);
  return Uint32Array.from([...ends, values.length]);
}

function wordsOf(values: Dense, places: Iterable<number>): Int32Array {
  const words = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  return Int32Array.from(
    Array.from(places).flatMap((at) => [words[at * 2] as number, words[at * 2 + 1] as number]),
  );
}

/**
 * Reads the rows `[from, to)` of a column in a row group. @param bytes all pages of the column
 * chunk.
 */
export function readColumnChunk(
  bytes: Uint8Array,
  type: PhysicalType,
  { from, to }: { readonly from: number; readonly to: number },
  decompress: Decompress,
): ColumnValues {
  const { page, head, dictionary } = dataPageOf(bytes, type, to, decompress);
  return readPage(page, head, { type, from, to, dictionary });
}

/** Returns the data page of a row group, with its dictionary. */
function dataPageOf(
  bytes: Uint8Array,
  type: PhysicalType,
  rowCount: number,
  decompress: Decompress,
): { readonly page: Uint8Array; readonly head: PageHead; readonly dictionary: Dense | undefined } {
  let dictionary: Dense | undefined;
  for (let at = 0; ; ) {
    const thrift = new ThriftReader(bytes, at);
    const head = readPageHead(thrift);
    at = thrift.at + head.storedBytes;
    if (at > bytes.length) throw new UnknownLayout('a page is truncated');
    const page = decompressed(head, bytes.subarray(thrift.at, at), decompress);
    if (head.type === PageType.dictionary) dictionary = plain(page, type, 0, head.valueCount);
    else if (head.valueCount < rowCount) throw new UnknownLayout('a row group has several pages');
    else return { page, head, dictionary };
  }
}

type Dense = Int8Array | Float64Array | BigInt64Array;

/** Decompresses a page and appends `PADDING_BYTES` zeros. */
function decompressed(head: PageHead, stored: Uint8Array, decompress: Decompress): Uint8Array {
  if (head.sizeBytes > MAX_PAGE_BYTES)
    throw new UnknownLayout(`a page has ${head.sizeBytes} bytes; the limit is ${MAX_PAGE_BYTES}`);
  const bytes = new Uint8Array(head.sizeBytes + PADDING_BYTES);
  const whole = decompress(stored, head.sizeBytes);
  // Corrupt data decompresses to fewer bytes.
  if (whole.length !== head.sizeBytes) throw new UnknownLayout('a page cannot be decompressed');
  bytes.set(whole);
  return bytes;
}

function readPage(
  page: Uint8Array,
  { valueCount, encoding }: PageHead,
  { type, from, to, dictionary }: PageRows,
): ColumnValues {
  const bytes = valuesOf(page);
  const count = to - from;
  if (levelsOf(page).isAllOnes(valueCount)) {
    const values = decode(bytes, encoding, { type, skip: from, count, dictionary });
    return { values, isPresent: undefined };
  }
  const present = new Uint8Array(to);
  levelsOf(page).read(0, present);
  const skip = sumOf(present.subarray(0, from));
  const selected = present.subarray(from);
  const dense = decode(bytes, encoding, { type, skip, count: sumOf(selected), dictionary });
  return spread(dense, selected, emptyOf(type, count));
}

/** Returns the definition levels: one bit per row, set if the row has a value. */
const levelsOf = (page: Uint8Array): BitRuns => new BitRuns(page, LENGTH_BYTES, 1);

function valuesOf(page: Uint8Array): Uint8Array {
  const levelBytes = new DataView(page.buffer, page.byteOffset).getUint32(0, true);
  return page.subarray(LENGTH_BYTES + levelBytes);
}

interface PageRows {
  readonly type: PhysicalType;
  readonly from: number;
  readonly to: number;
  readonly dictionary: Dense | undefined;
}

/** Distributes dense values to the rows that have one. */
function spread(dense: Dense, present: Uint8Array, values: Dense): ColumnValues {
  const isPresent = new Uint8Array((present.length + 7) >> 3);
  const [source, target] = [dense as Float64Array, values as Float64Array]; // both arrays have the type of the column
  let next = 0;
  for (let row = 0; row < present.length; row++) {
    if (present[row] === 0) continue;
    target[row] = source[next++] as number;
    isPresent[row >> 3] = (isPresent[row >> 3] as number) | (1 << (row & 7));
  }
  return { values, isPresent };
}

function decode(
  bytes: Uint8Array,
  encoding: number,
  {
    type,
    skip,
    count,
    dictionary,
  }: {
    readonly type: PhysicalType;
    readonly skip: number;
    readonly count: number;
    readonly dictionary: Dense | undefined;
  },
): Dense {
  if (count === 0) return emptyOf(type, 0);
  switch (encoding) {
    case Encoding.plain:
      return plain(bytes, type, skip, count);
    case Encoding.rleDictionary:
      return dictionaryValues(bytes, skip, count, dictionary);
    case Encoding.deltaBinaryPacked: {
      const values = new BigInt64Array(count);
      const words = new Int32Array(values.buffer);
      readDifferences(bytes, { skip, words, paddingBytes: PADDING_BYTES });
      return values;
    }
    case Encoding.byteStreamSplit:
      return joined(bytes, skip, count);
    default:
      throw new UnknownLayout(`encoding ${encoding} is not supported`);
  }
}

/** Reads values in plain encoding. */
function plain(bytes: Uint8Array, type: PhysicalType, skip: number, count: number): Dense {
  if (type === 'boolean') {
    const bits = new Int8Array(count);
    for (let i = 0; i < count; i++) {
      const at = skip + i;
      bits[i] = ((bytes[at >> 3] as number) >> (at & 7)) & 1;
    }
    return bits;
  }
  const out = emptyOf(type, count);
  const source = bytes.subarray(skip * 8, (skip + count) * 8);
  if ((skip + count) * 8 > bytes.length - PADDING_BYTES)
    throw new UnknownLayout('the values are truncated');
  new Uint8Array(out.buffer).set(source);
  return out;
}

const OUT_OF_RANGE = 'a dictionary index is out of range';
const dictionaryIndexes = (bytes: Uint8Array): BitRuns => new BitRuns(bytes, 1, bytes[0] as number);

/** Reads indexes into the dictionary. */
function numbersOf(
  bytes: Uint8Array,
  { skip, count, most }: { readonly skip: number; readonly count: number; readonly most: number },
): Uint32Array {
  const numbers = new Uint32Array(count);
  dictionaryIndexes(bytes).read(skip, numbers);
  for (const number of numbers) if (number >= most) throw new UnknownLayout(OUT_OF_RANGE);
  return numbers;
}

/** Reads values by their dictionary indexes. */
function dictionaryValues(
  bytes: Uint8Array,
  skip: number,
  count: number,
  dictionary: Dense | undefined,
): Dense {
  if (dictionary === undefined) throw new UnknownLayout('a page has no dictionary');
  const numbers = numbersOf(bytes, { skip, count, most: dictionary.length });
  if (dictionary instanceof BigInt64Array) {
    // Copy 32-bit halves to avoid bigints.
    const out = new BigInt64Array(count);
    const from = new Int32Array(dictionary.buffer);
    const to = new Int32Array(out.buffer);
    for (let i = 0; i < count; i++) {
      const number = numbers[i] as number;
      to[i * 2] = from[number * 2] as number;
      to[i * 2 + 1] = from[number * 2 + 1] as number;
    }
    return out;
  }
  const out = dictionary instanceof Int8Array ? new Int8Array(count) : new Float64Array(count);
  for (let i = 0; i < count; i++) out[i] = dictionary[numbers[i] as number] as number;
  return out;
}

/**
 * Reads byte-stream-split doubles: first the first bytes of all values, then the second bytes, and
 * so on.
 */
function joined(bytes: Uint8Array, skip: number, count: number): Float64Array {
  const total = Math.floor((bytes.length - PADDING_BYTES) / 8);
  if (skip + count > total) throw new UnknownLayout('the values are truncated');
  const out = new Float64Array(count);
  const target = new Uint8Array(out.buffer);
  for (let byte = 0; byte < 8; byte++) {
    let from = byte * total + skip;
    for (let at = byte; at < target.length; at += 8) target[at] = bytes[from++] as number;
  }
  return out;
}

function emptyOf(type: PhysicalType, count: number): Dense {
  if (type === 'boolean') return new Int8Array(count);
  return type === 'double' ? new Float64Array(count) : new BigInt64Array(count);
}

function sumOf(bits: Uint8Array): number {
  let sum = 0;
  for (const bit of bits) sum += bit;
  return sum;
}

/** Source: parquet-format, parquet.thrift, `PageHeader`. */
function readPageHead(thrift: ThriftReader): PageHead {
  let type = -1;
  let sizeBytes = 0;
  let storedBytes = 0;
  let valueCount = 0;
  let encoding = -1;
  thrift.struct((id) => {
    if (id === 1) type = thrift.int();
    else if (id === 2) sizeBytes = thrift.int();
    else if (id === 3) storedBytes = thrift.int();
    else if (id === 5 || id === 7) {
      thrift.struct((part) => {
        if (part === 1) valueCount = thrift.int();
        else if (part === 2) encoding = thrift.int();
        else return false;
        return true;
      });
    } else return false;
    return true;
  });
  if (type !== PageType.data && type !== PageType.dictionary)
    throw new UnknownLayout(`pages of type ${type} are not supported`);
  if (sizeBytes < 0 || storedBytes < 0 || valueCount < 0)
    throw new UnknownLayout('a page has no size or no value count');
  return { type, sizeBytes, storedBytes, valueCount, encoding };
}
