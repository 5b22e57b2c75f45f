import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteString } from '@plinth/tsdb-model/text/quote.js';

/**
 * Size of the first read. Page headers are small, but may contain the minimum and maximum of a
 * page.
 */
const HEAD_BYTES = 4096;
const MAX_HEAD_BYTES = 16 << 20;
/** Maximum nesting depth of a page header. */
const MAX_DEPTH = 8;
const DICTIONARY_PAGE = 2;

/**
 * Checks all pages of a file. Each column must have as many values as the footer states. Each page
 * must match the checksum in its header, if there is one. DuckDB checks neither.
 * @returns the problem, or `undefined`. Source: `parquet.thrift` of Apache Parquet, PageHeader, and
 * the compact protocol of Apache Thrift.
 */
export async function findPageFault(
  connection: DuckDBConnection,
  path: string,
): Promise<string | undefined> {
  const chunks = await connection.runAndReadAll(
    'SELECT path_in_schema, num_values, dictionary_page_offset, data_page_offset, total_compressed_size ' +
      `FROM parquet_metadata(${quoteString(path)})`,
  );
  const file = await open(path);
  try {
    for (const [name, count, dictionary, data, size] of chunks.getRows()) {
      const start =
        Number(dictionary) > 0 ? Math.min(Number(dictionary), Number(data)) : Number(data);
      const fault = await faultOf(file, { start, end: start + Number(size) }, Number(count));
      if (fault !== undefined) return `column ${String(name)}: ${fault}`;
    }
    return undefined;
  } finally {
    await file.close();
  }
}

async function faultOf(
  file: FileHandle,
  { start, end }: { readonly start: number; readonly end: number },
  expectedCount: number,
): Promise<string | undefined> {
  let count = 0;
  for (let at = start; at < end; ) {
    const head = await readHead(file, at);
    const sizeBytes = head?.fields.get(3);
    if (head === undefined || typeof sizeBytes !== 'number' || sizeBytes < 0)
      return `the page at byte ${at} has no readable header`;
    const from = at + head.sizeBytes;
    at = from + sizeBytes;
    if (at > end) return `the page at byte ${from} is longer than its column`;
    const sum = head.fields.get(4);
    if (typeof sum === 'number') {
      const bytes = Buffer.alloc(sizeBytes);
      const { bytesRead } = await file.read(bytes, 0, sizeBytes, from);
      if (bytesRead < sizeBytes || (crc32(bytes) | 0) !== (sum | 0))
        return `the page at byte ${from} does not match its checksum`;
    }
    if (head.fields.get(1) === DICTIONARY_PAGE) continue;
    const data = head.fields.get(5) ?? head.fields.get(8);
    const valueCount = data instanceof Map ? data.get(1) : undefined;
    if (typeof valueCount === 'number') count += valueCount;
  }
  return count === expectedCount
    ? undefined
    : `its pages have ${count} values, but the footer states ${expectedCount}`;
}

type Fields = Map<number, number | Fields>;

async function readHead(
  file: FileHandle,
  at: number,
): Promise<{ readonly fields: Fields; readonly sizeBytes: number } | undefined> {
  for (let size = HEAD_BYTES; size <= MAX_HEAD_BYTES; size *= 16) {
    const bytes = Buffer.alloc(size);
    const { bytesRead } = await file.read(bytes, 0, size, at);
    const reader = new CompactReader(bytes.subarray(0, bytesRead));
    const fields = reader.struct(0);
    if (fields !== undefined) return { fields, sizeBytes: reader.at };
    if (bytesRead < size) break;
  }
  return undefined;
}

/** Reads the numbers of a struct by field id. */
class CompactReader {
  at = 0;
  readonly #bytes: Buffer;
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** @returns `undefined` if the bytes are truncated or invalid. */
  struct(depth: number): Fields | undefined {
    const fields: Fields = new Map();
    let id = 0;
    while (this.at < this.#bytes.length && depth < MAX_DEPTH) {
      const byte = this.#bytes[this.at++] ?? 0;
      if ((byte & 0xf) === 0) return fields;
      id = byte >> 4 > 0 ? id + (byte >> 4) : this.#zigzag();
      const value = this.#value(byte & 0xf, depth);
      if (value === undefined) return undefined;
      fields.set(id, value);
    }
    return undefined;
  }

  #value(type: number, depth: number): number | Fields | undefined {
    if (type === 1 || type === 2) return type === 1 ? 1 : 0;
    if (type === 3) return this.#bytes[this.at++];
    if (type >= 4 && type <= 6) return this.#zigzag();
    if (type === 7) this.at += 8;
    else if (type === 8) {
      const size = this.#varint();
      this.at += size;
    } else if (type === 9 || type === 10) return this.#list(depth);
    else return type === 12 ? this.struct(depth + 1) : undefined;
    return this.at <= this.#bytes.length ? 0 : undefined;
  }

  #list(depth: number): number | undefined {
    const byte = this.#bytes[this.at++] ?? 0;
    const count = byte >> 4 === 15 ? this.#varint() : byte >> 4;
    for (let i = 0; i < count; i++)
      if (this.at >= this.#bytes.length || this.#value(byte & 0xf, depth + 1) === undefined)
        return undefined;
    return 0;
  }

  #varint(): number {
    let value = 0;
    for (let scale = 1; this.at < this.#bytes.length; scale *= 128) {
      const byte = this.#bytes[this.at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
    }
    return value;
  }

  #zigzag(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}
