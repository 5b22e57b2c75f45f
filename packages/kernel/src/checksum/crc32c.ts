const POLYNOMIAL = 0x82f63b78; // Castagnoli, bits reversed
const SLICE_COUNT = 16;

/** `TABLES[k * 256 + b]`: the effect of byte `b` on the checksum when `k` bytes follow it ("slicing by 16"). */
const TABLES = makeTables();

/**
 * Returns the CRC-32C of all parts in order, as an unsigned 32-bit number.
 * @param seed the checksum of the preceding bytes, to continue it.
 * Source: RFC 3720, appendix B.4 (test values); polynomial 0x1EDC6F41.
 */
export function crc32c(parts: readonly Uint8Array[], seed = 0): number {
  let sum = ~seed;
  for (const part of parts) {
    sum =
      IS_LITTLE_ENDIAN && part.byteLength >= MIN_WORDS_BYTES
        ? addWords(sum, part)
        : addBytes(sum, part);
  }
  return ~sum >>> 0;
}

/** For shorter parts, a view as 32-bit words costs more than it saves. */
const MIN_WORDS_BYTES = 512;
const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Processes 16 bytes per step, read as four 32-bit words. */
function addWords(start: number, bytes: Uint8Array): number {
  const t = TABLES;
  const unalignedCount = -bytes.byteOffset & 3;
  const wordCount = ((bytes.byteLength - unalignedCount) >>> 4) * 4;
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + unalignedCount, wordCount);
  let sum = addBytes(start, bytes.subarray(0, unalignedCount));
  // As below: all reads are in bounds, so each `as number` is safe.
  for (let at = 0; at < wordCount; at += 4) {
    const a = sum ^ (words[at] as number);
    const b = words[at + 1] as number;
    const c = words[at + 2] as number;
    const d = words[at + 3] as number;
    sum =
      (t[3840 + (a & 255)] as number) ^
      (t[3584 + ((a >>> 8) & 255)] as number) ^
      (t[3328 + ((a >>> 16) & 255)] as number) ^
      (t[3072 + (a >>> 24)] as number) ^
      (t[2816 + (b & 255)] as number) ^
      (t[2560 + ((b >>> 8) & 255)] as number) ^
      (t[2304 + ((b >>> 16) & 255)] as number) ^
      (t[2048 + (b >>> 24)] as number) ^
      (t[1792 + (c & 255)] as number) ^
      (t[1536 + ((c >>> 8) & 255)] as number) ^
      (t[1280 + ((c >>> 16) & 255)] as number) ^
      (t[1024 + (c >>> 24)] as number) ^
      (t[768 + (d & 255)] as number) ^
      (t[512 + ((d >>> 8) & 255)] as number) ^
      (t[256 + ((d >>> 16) & 255)] as number) ^
      (t[d >>> 24] as number);
  }
  return addBytes(sum, bytes.subarray(unalignedCount + wordCount * 4));
}

function addBytes(start: number, bytes: Uint8Array): number {
  const t = TABLES;
  const end = bytes.byteLength;
  let sum = start;
  let at = 0;
  // The tables are indexed by bytes and all reads are in bounds, so each `as number` is safe.
  for (; at + 8 <= end; at += 8) {
    const low =
      sum ^
      ((bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24));
    sum =
      (t[1792 + (low & 255)] as number) ^
      (t[1536 + ((low >>> 8) & 255)] as number) ^
      (t[1280 + ((low >>> 16) & 255)] as number) ^
      (t[1024 + (low >>> 24)] as number) ^
      (t[768 + (bytes[at + 4] as number)] as number) ^
      (t[512 + (bytes[at + 5] as number)] as number) ^
      (t[256 + (bytes[at + 6] as number)] as number) ^
      (t[bytes[at + 7] as number] as number);
  }
  for (; at < end; at += 1) {
    sum = (t[(sum ^ (bytes[at] as number)) & 255] as number) ^ (sum >>> 8);
  }
  return sum;
}

function makeTables(): Int32Array {
  const tables = new Int32Array(256 * SLICE_COUNT);
  for (let byte = 0; byte < 256; byte += 1) {
    let sum = byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? POLYNOMIAL : 0);
    tables[byte] = sum;
  }
  for (let index = 256; index < tables.length; index += 1) {
    const before = tables[index - 256] as number;
    tables[index] = (before >>> 8) ^ (tables[before & 255] as number);
  }
  return tables;
}
