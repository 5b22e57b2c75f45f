import { crc32c } from '../checksum/crc32c.js';
import type { FileHandle } from '../fs/file-system.js';
import {
  decodeFileHeader,
  decodeRecordHeader,
  END_MARK_SIZE,
  encodeEndMark,
  encodeSyncMark,
  FILE_HEADER_SIZE,
  type FileHeader,
  RECORD_HEADER_SIZE,
  RECORD_MAGIC,
  type RecordHeader,
} from './log-format.js';

const WINDOW_SIZE = 1024 * 1024;
/** A disk writes these units completely or not at all. */
const SECTOR_SIZE = 512;
/**
 * Minimum number of nonzero bytes in a record: its magic, and at least one byte of its size, its number and each of
 * its two checksums. The payload of a write contains at least as many: its version, kind, sequence number, tables and
 * timestamps.
 */
const LEAST_RECORD_BYTES = 8;

export interface StoredRecord {
  readonly offset: number;
  readonly endOffset: number;
  readonly sequence: number;
  readonly batchOffset: number;
  readonly payload: Uint8Array;
}

/** Reads one log file from start to end, one window at a time. */
export class LogFileReader {
  readonly sizeBytes: number;
  readonly #handle: FileHandle;
  #window: Uint8Array = new Uint8Array(0);
  #windowAt = 0;

  private constructor(handle: FileHandle, sizeBytes: number) {
    this.#handle = handle;
    this.sizeBytes = sizeBytes;
  }

  static async over(handle: FileHandle): Promise<LogFileReader> {
    return new LogFileReader(handle, await handle.sizeBytes());
  }

  /** Returns the bytes of the file header, even if it is damaged; fewer when the file is shorter. */
  async headerBytes(): Promise<Uint8Array> {
    return await this.#bytes(0, FILE_HEADER_SIZE);
  }

  async header(): Promise<FileHeader | undefined> {
    return decodeFileHeader(await this.#bytes(0, FILE_HEADER_SIZE));
  }

  /** Returns the record at `offset`, or `undefined` when no intact record is there. The payload stays valid for the caller. */
  async recordAt(offset: number, seed: number): Promise<StoredRecord | undefined> {
    const header = decodeRecordHeader(await this.#bytes(offset, RECORD_HEADER_SIZE), seed);
    if (header === undefined) return undefined;
    const payloadAt = offset + RECORD_HEADER_SIZE;
    const endOffset = payloadAt + header.payloadSize;
    if (endOffset > this.sizeBytes) return undefined;
    const payload = await this.#bytes(payloadAt, header.payloadSize);
    if (crc32c([payload]) !== header.payloadCrc) return undefined;
    const batchOffset = offset - header.batchDistance;
    return { offset, endOffset, sequence: header.sequence, batchOffset, payload };
  }

  /**
   * Returns the header of the record at `offset`, even if the payload is corrupt; `undefined` if the header is
   * corrupt or the record exceeds the file.
   */
  async recordHeaderAt(offset: number, seed: number): Promise<RecordHeader | undefined> {
    const header = decodeRecordHeader(await this.#bytes(offset, RECORD_HEADER_SIZE), seed);
    if (header === undefined) return undefined;
    const endOffset = offset + RECORD_HEADER_SIZE + header.payloadSize;
    return endOffset > this.sizeBytes ? undefined : header;
  }

  /** Returns the payload of the record at `offset`, even if it is corrupt; `undefined` if the header is. */
  async payloadAt(offset: number, seed: number): Promise<Uint8Array | undefined> {
    const header = await this.recordHeaderAt(offset, seed);
    return header && (await this.#bytes(offset + RECORD_HEADER_SIZE, header.payloadSize));
  }

  /**
   * Whether every sector of the record at `offset` was written. Then a wrong checksum of its payload is corruption.
   * The missing sectors of an incomplete write contain zeros, and so does the end of a write that was cut.
   */
  async isWrittenCompletely(offset: number, seed: number): Promise<boolean> {
    const payload = await this.payloadAt(offset, seed);
    if (payload === undefined || payload.at(-1) === 0) return false;
    const payloadAt = offset + RECORD_HEADER_SIZE;
    for (let from = 0; from < payload.byteLength; ) {
      const end = from + SECTOR_SIZE - ((payloadAt + from) % SECTOR_SIZE);
      if (payload.subarray(from, end).every((byte) => byte === 0)) return false;
      from = end;
    }
    return true;
  }

  /**
   * Distinguishes damage from a torn write: returns whether a record after `offset` belongs to a write that started after it.
   * If so, the bytes at `offset` had been synced before that write. (One unsynced write can lose any of its sectors.)
   */
  async hasLaterBatch(offset: number, seed: number): Promise<boolean> {
    for await (const record of this.recordsAfter(offset, seed)) {
      if (record.batchOffset > offset) return true;
    }
    return false;
  }

  /** Yields intact records after `offset`, at any position, even within other records. */
  async *recordsAfter(offset: number, seed: number): AsyncGenerator<StoredRecord> {
    for (let at = offset + 1; at + RECORD_HEADER_SIZE <= this.sizeBytes; ) {
      const window = await this.#bytes(at, Math.min(WINDOW_SIZE, this.sizeBytes - at));
      if (window.byteLength < RECORD_HEADER_SIZE) return;
      const bytes = Buffer.from(window.buffer, window.byteOffset, window.byteLength);
      // Headers are read within the window: payloads may contain many byte sequences that look like a header.
      for (let next = 0; ; next += 1) {
        next = bytes.indexOf(RECORD_MAGIC, next);
        if (next < 0 || next + RECORD_HEADER_SIZE > bytes.length) break;
        if (decodeRecordHeader(bytes.subarray(next), seed) === undefined) continue;
        const record = await this.recordAt(at + next, seed);
        if (record !== undefined) yield record;
      }
      at += bytes.length - RECORD_HEADER_SIZE + 1;
    }
  }

  /** Returns the end of the last nonzero byte after `from`; `from` when there is none. */
  async dataEnd(from: number): Promise<number> {
    let end = from;
    for (let at = from; at < this.sizeBytes; ) {
      const window = await this.#bytes(at, Math.min(WINDOW_SIZE, this.sizeBytes - at));
      if (window.byteLength === 0) break;
      let last = window.byteLength;
      while (last > 0 && window[last - 1] === 0) last -= 1;
      if (last > 0) end = at + last;
      at += window.byteLength;
    }
    return end;
  }

  /** Whether a clean shutdown marked `offset` as the end of the records. */
  async hasEndMark(offset: number, seed: number): Promise<boolean> {
    if (offset < FILE_HEADER_SIZE) return false;
    const bytes = await this.#bytes(offset, END_MARK_SIZE);
    return encodeEndMark(seed, offset).equals(bytes);
  }

  /** Whether the log was idle at `offset`: all bytes before it were synced, and no later write was completed. */
  async hasSyncMark(offset: number, seed: number): Promise<boolean> {
    const bytes = await this.#bytes(offset, END_MARK_SIZE);
    return encodeSyncMark(seed, offset).equals(bytes);
  }

  /**
   * Whether nearly all bytes from `offset` on are zero. Then the range cannot contain a record, not even one with a
   * zeroed header. The other bytes are corruption within the preallocated zeros.
   */
  async isRemnant(offset: number): Promise<boolean> {
    let count = 0;
    for (let at = offset; at < this.sizeBytes; ) {
      const window = await this.#bytes(at, Math.min(WINDOW_SIZE, this.sizeBytes - at));
      if (window.byteLength === 0) break;
      for (const byte of window) if (byte !== 0) count += 1;
      if (count >= LEAST_RECORD_BYTES) return false;
      at += window.byteLength;
    }
    return true;
  }

  /** Returns fewer bytes than requested only at the end of the file. */
  async #bytes(at: number, sizeBytes: number): Promise<Uint8Array> {
    const readSize = Math.max(0, Math.min(sizeBytes, this.sizeBytes - at));
    const from = at - this.#windowAt;
    if (from < 0 || from + readSize > this.#window.byteLength) {
      // A new window each time: returned payloads are views of the old one.
      const window = new Uint8Array(Math.min(Math.max(WINDOW_SIZE, readSize), this.sizeBytes - at));
      const count = await this.#handle.read(window, at);
      this.#window = window.subarray(0, count);
      this.#windowAt = at;
      return this.#window.subarray(0, readSize);
    }
    return this.#window.subarray(from, from + readSize);
  }
}
