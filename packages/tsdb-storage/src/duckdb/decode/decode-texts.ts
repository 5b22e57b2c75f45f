import type { DuckDBValue, DuckDBVector } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import {
  InlinedTexts,
  MAX_INLINED_BYTES,
  STRING_T_BYTES,
} from '@plinth/tsdb-model/columns/inlined-texts.js';
import { isValid } from '@plinth/tsdb-model/columns/row-batch.js';
import { TextSpans } from '@plinth/tsdb-model/columns/text-spans.js';
import type { MemoryDrain } from '@plinth/tsdb-model/memory/memory-drain.js';

/** Number of strings cached within one chunk; a power of two. */
const SLOT_COUNT = 512;

/**
 * DuckDB's `string_t`. It contains the length, then the string itself if it has up to 12 bytes,
 * otherwise 4 bytes of it and an address.
 */
const STRING_T_WORDS = STRING_T_BYTES / 4;
const ADDRESS_WORD = 2;
const WORD_VALUES = 2 ** 32;

/**
 * Minimum size of a copy that is freed explicitly. Smaller copies are left to the garbage
 * collector, because freeing one costs as much as copying this many bytes.
 */
const MIN_FREED_BYTES = 4096;

const slotWords = new Int32Array(SLOT_COUNT * STRING_T_WORDS);
const slotTexts: (string | undefined)[] = new Array(SLOT_COUNT);

/** Decodes a string column: as inlined strings if all are short, otherwise as copied bytes. */
export function decodeTextColumn(
  vector: DuckDBVector<DuckDBValue>,
  rowCount: number,
  validity: Uint8Array | undefined,
  drain: MemoryDrain,
): InlinedTexts | TextSpans {
  // The class of VARCHAR vectors. Its data has 16 bytes per row, copied by the binding into
  // separate memory.
  const { dataView } = vector as unknown as { readonly dataView: DataView<ArrayBuffer> };
  const strings = alignedStrings(dataView, rowCount);
  const words = new Int32Array(strings.buffer, strings.byteOffset, rowCount * STRING_T_WORDS);
  if (hasLongText(words, rowCount, validity)) return copyTexts(strings, words, validity, drain);
  return new InlinedTexts({
    strings,
    validity,
    decode: () => decodeTexts(strings, words, validity),
  });
}

function alignedStrings(
  { buffer, byteOffset }: DataView<ArrayBuffer>,
  rowCount: number,
): Uint8Array<ArrayBuffer> {
  const strings = new Uint8Array(buffer, byteOffset, rowCount * STRING_T_BYTES);
  return byteOffset % 4 === 0 ? strings : strings.slice();
}

function hasLongText(
  words: Int32Array,
  rowCount: number,
  validity: Uint8Array | undefined,
): boolean {
  for (let row = 0; row < rowCount; row++) {
    // The `string_t` of a NULL is undefined.
    if (isLong(words[row * STRING_T_WORDS] as number) && isValid(validity, row)) return true;
  }
  return false;
}

/** DuckDB's lengths are unsigned. */
const isLong = (length: number): boolean => length >>> 0 > MAX_INLINED_BYTES;

/**
 * Copies the strings of a chunk before it is freed. DuckDB stores them contiguously in a few
 * blocks, so adjacent strings are copied together. A call of the binding costs as much as copying a
 * kilobyte.
 */
function copyTexts(
  strings: Uint8Array<ArrayBuffer>,
  words: Int32Array<ArrayBuffer>,
  validity: Uint8Array | undefined,
  drain: MemoryDrain,
): TextSpans {
  const rowCount = words.length / STRING_T_WORDS;
  const starts = new Uint32Array(rowCount);
  const sizes = new Uint32Array(rowCount);
  const runs: Uint8Array<ArrayBuffer>[] = [];
  let sizeBytes = 0;
  let [runRow, runSize, runEnd] = [0, 0, 0];
  const endRun = (): void => {
    if (runSize > 0) runs.push(bytesBehind(strings, runRow, runSize));
    sizeBytes += runSize;
    runSize = 0;
  };
  let hasShort = false;
  for (let row = 0; row < rowCount; row++) {
    if (!isValid(validity, row)) continue;
    const size = (words[row * STRING_T_WORDS] as number) >>> 0;
    sizes[row] = size;
    if (size <= MAX_INLINED_BYTES) {
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
    // Inlined strings stay in their `string_t`, after the long ones.
    runs.push(strings);
    for (let row = 0; row < rowCount; row++) {
      if ((sizes[row] as number) <= MAX_INLINED_BYTES)
        starts[row] = sizeBytes + row * STRING_T_BYTES + 4;
    }
  }
  const bytes = joined(runs);
  drain.free(...copied);
  return new TextSpans({ bytes, starts, sizes, validity });
}

/** Returns `sizeBytes` bytes at the address in a row's `string_t`. */
function bytesBehind(
  strings: Uint8Array<ArrayBuffer>,
  row: number,
  sizeBytes: number,
): Uint8Array<ArrayBuffer> {
  const at = strings.byteOffset + row * STRING_T_BYTES + ADDRESS_WORD * 4;
  return duckdb.get_data_from_pointer(strings.buffer, at, sizeBytes) as Uint8Array<ArrayBuffer>;
}

/** Memory addresses have 48 bits. */
const addressIn = (words: Int32Array, row: number): number =>
  ((words[row * STRING_T_WORDS + ADDRESS_WORD] as number) >>> 0) +
  (words[row * STRING_T_WORDS + ADDRESS_WORD + 1] as number) * WORD_VALUES;

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
 * Decodes inlined strings. Most string columns are tags, which repeat. The 16 bytes of a `string_t`
 * identify its string, so each distinct one is decoded once per chunk.
 */
function decodeTexts(
  strings: Uint8Array<ArrayBuffer>,
  words: Int32Array,
  validity: Uint8Array | undefined,
): readonly string[] {
  const rowCount = words.length / STRING_T_WORDS;
  const bytes = Buffer.from(strings.buffer, strings.byteOffset, strings.byteLength);
  slotTexts.fill(undefined);
  const decoded = new Array<string>(rowCount);
  for (let row = 0; row < rowCount; row++) {
    if (!isValid(validity, row)) {
      decoded[row] = '';
      continue;
    }
    const at = row * STRING_T_WORDS;
    const a = words[at] as number;
    const b = words[at + 1] as number;
    const c = words[at + 2] as number;
    const d = words[at + 3] as number;
    const mixed = Math.imul(a ^ Math.imul(b, 31) ^ Math.imul(c, 0x9e3779b1) ^ d, 0x85ebca6b);
    const slot = (mixed ^ (mixed >>> 15)) & (SLOT_COUNT - 1);
    const slotAt = slot * STRING_T_WORDS;
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
    const text = bytes.toString('utf8', row * STRING_T_BYTES + 4, row * STRING_T_BYTES + 4 + a);
    slotWords[slotAt] = a;
    slotWords[slotAt + 1] = b;
    slotWords[slotAt + 2] = c;
    slotWords[slotAt + 3] = d;
    slotTexts[slot] = text;
    decoded[row] = text;
  }
  return decoded;
}
