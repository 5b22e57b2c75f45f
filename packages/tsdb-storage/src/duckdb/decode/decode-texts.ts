import type { DuckDBValue, DuckDBVector } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import { isValid } from '@plinth/tsdb-model/columns/row-batch.js';
import {
  CELL_BYTES,
  MAX_CELL_TEXT_BYTES,
  TextCells,
} from '@plinth/tsdb-model/columns/text-cells.js';
import { TextSpans } from '@plinth/tsdb-model/columns/text-spans.js';
import type { MemoryDrain } from '@plinth/tsdb-model/memory/memory-drain.js';

/** Number of strings cached within one chunk; a power of two. */
const SLOT_COUNT = 512;

/**
 * DuckDB's string cell. It contains the length, then the string itself if it has up to 12 bytes,
 * otherwise 4 bytes of it and an address.
 */
const CELL_WORDS = CELL_BYTES / 4;
const ADDRESS_WORD = 2;
const WORD_VALUES = 2 ** 32;

/**
 * Smaller copies are left to the garbage collection, because freeing one costs as much as copying
 * this many bytes.
 */
const MIN_FREED_BYTES = 4096;

const slotWords = new Int32Array(SLOT_COUNT * CELL_WORDS);
const slotTexts: (string | undefined)[] = new Array(SLOT_COUNT);

/** Decodes a string column: as cells if all strings fit into them, otherwise as copied bytes. */
export function decodeTextColumn(
  vector: DuckDBVector<DuckDBValue>,
  rowCount: number,
  validity: Uint8Array | undefined,
  drain: MemoryDrain,
): TextCells | TextSpans {
  // The class of VARCHAR vectors. Its data has 16 bytes per row, copied by the binding into
  // separate memory.
  const { dataView } = vector as unknown as { readonly dataView: DataView<ArrayBuffer> };
  const cells = alignedCells(dataView, rowCount);
  const words = new Int32Array(cells.buffer, cells.byteOffset, rowCount * CELL_WORDS);
  if (hasLongText(words, rowCount, validity)) return copyTexts(cells, words, validity, drain);
  return new TextCells({ cells, validity, decode: () => decodeTexts(cells, words, validity) });
}

function alignedCells(
  { buffer, byteOffset }: DataView<ArrayBuffer>,
  rowCount: number,
): Uint8Array<ArrayBuffer> {
  const cells = new Uint8Array(buffer, byteOffset, rowCount * CELL_BYTES);
  return byteOffset % 4 === 0 ? cells : cells.slice();
}

function hasLongText(
  words: Int32Array,
  rowCount: number,
  validity: Uint8Array | undefined,
): boolean {
  for (let row = 0; row < rowCount; row++) {
    // The cell of a NULL is undefined.
    if (isLong(words[row * CELL_WORDS] as number) && isValid(validity, row)) return true;
  }
  return false;
}

/** DuckDB's lengths are unsigned. */
const isLong = (length: number): boolean => length >>> 0 > MAX_CELL_TEXT_BYTES;

/**
 * Copies the strings of a chunk before it is freed. DuckDB stores them contiguously in a few
 * blocks, so adjacent strings are copied together. A call of the binding costs as much as copying a
 * kilobyte.
 */
function copyTexts(
  cells: Uint8Array<ArrayBuffer>,
  words: Int32Array<ArrayBuffer>,
  validity: Uint8Array | undefined,
  drain: MemoryDrain,
): TextSpans {
  const rowCount = words.length / CELL_WORDS;
  const starts = new Uint32Array(rowCount);
  const sizes = new Uint32Array(rowCount);
  const runs: Uint8Array<ArrayBuffer>[] = [];
  let sizeBytes = 0;
  let [runRow, runSize, runEnd] = [0, 0, 0];
  const endRun = (): void => {
    if (runSize > 0) runs.push(bytesBehind(cells, runRow, runSize));
    sizeBytes += runSize;
    runSize = 0;
  };
  let hasShort = false;
  for (let row = 0; row < rowCount; row++) {
    if (!isValid(validity, row)) continue;
    const size = (words[row * CELL_WORDS] as number) >>> 0;
    sizes[row] = size;
    if (size <= MAX_CELL_TEXT_BYTES) {
      hasShort = true;
      continue;
    }
    const address = addressIn(words, row);
    if (runSize === 0 || address !== runEnd) {
      endRun();
      runRow = row;
      runEnd = address;
    }
    starts[row] = sizeBytes + runSize;
    runSize += size;
    runEnd += size;
  }
  endRun();
  const copied = runs.flatMap(({ buffer, byteLength }) =>
    byteLength >= MIN_FREED_BYTES && byteLength === buffer.byteLength ? [buffer] : [],
  );
  if (hasShort) {
    // Short strings stay in their cells, after the long ones.
    runs.push(cells);
    for (let row = 0; row < rowCount; row++) {
      if ((sizes[row] as number) <= MAX_CELL_TEXT_BYTES)
        starts[row] = sizeBytes + row * CELL_BYTES + 4;
    }
  }
  const bytes = joined(runs);
  drain.free(...copied);
  return new TextSpans({ bytes, starts, sizes, validity });
}

/** Returns `sizeBytes` bytes at the address in a row's cell. */
function bytesBehind(
  cells: Uint8Array<ArrayBuffer>,
  row: number,
  sizeBytes: number,
): Uint8Array<ArrayBuffer> {
  const at = cells.byteOffset + row * CELL_BYTES + ADDRESS_WORD * 4;
  return duckdb.get_data_from_pointer(cells.buffer, at, sizeBytes) as Uint8Array<ArrayBuffer>;
}

/** Memory addresses have 48 bits. */
const addressIn = (words: Int32Array, row: number): number =>
  ((words[row * CELL_WORDS + ADDRESS_WORD] as number) >>> 0) +
  (words[row * CELL_WORDS + ADDRESS_WORD + 1] as number) * WORD_VALUES;

/** Concatenates in separate memory that can be freed. */
function joined(runs: readonly Uint8Array[]): Buffer<ArrayBuffer> {
  const sizeBytes = runs.reduce((sum, { length }) => sum + length, 0);
  const bytes = Buffer.allocUnsafeSlow(sizeBytes);
  let end = 0;
  for (const run of runs) {
    bytes.set(run, end);
    end += run.length;
  }
  return bytes;
}

/**
 * Decodes the strings of cells. Most string columns are tags, which repeat. A cell's 16 bytes
 * identify its string, so each distinct one is decoded once per chunk.
 */
function decodeTexts(
  cells: Uint8Array<ArrayBuffer>,
  words: Int32Array,
  validity: Uint8Array | undefined,
): readonly string[] {
  const rowCount = words.length / CELL_WORDS;
  const bytes = Buffer.from(cells.buffer, cells.byteOffset, cells.byteLength);
  slotTexts.fill(undefined);
  const decoded = new Array<string>(rowCount);
  for (let row = 0; row < rowCount; row++) {
    if (!isValid(validity, row)) {
      decoded[row] = '';
      continue;
    }
    const at = row * CELL_WORDS;
    const a = words[at] as number;
    const b = words[at + 1] as number;
    const c = words[at + 2] as number;
    const d = words[at + 3] as number;
    const mixed = Math.imul(a ^ Math.imul(b, 31) ^ Math.imul(c, 0x9e3779b1) ^ d, 0x85ebca6b);
    const slot = (mixed ^ (mixed >>> 15)) & (SLOT_COUNT - 1);
    const slotAt = slot * CELL_WORDS;
    const known = slotTexts[slot];
    if (
      known !== undefined &&
      slotWords[slotAt] === a &&
      slotWords[slotAt + 1] === b &&
      slotWords[slotAt + 2] === c &&
      slotWords[slotAt + 3] === d
    ) {
      decoded[row] = known;
      continue;
    }
    const text = bytes.toString('utf8', row * CELL_BYTES + 4, row * CELL_BYTES + 4 + a);
    slotWords[slotAt] = a;
    slotWords[slotAt + 1] = b;
    slotWords[slotAt + 2] = c;
    slotWords[slotAt + 3] = d;
    slotTexts[slot] = text;
    decoded[row] = text;
  }
  return decoded;
}
