import type { FileHandle } from '../fs/file-system.js';
import { crc32c } from './crc32c.js';
import {
  decodeFileHeader,
  decodeRecordHeader,
  FILE_HEADER_SIZE,
  type FileHeader,
  RECORD_HEADER_SIZE,
  RECORD_MAGIC,
} from './log-format.js';

const WINDOW_SIZE = 1024 * 1024;

export interface StoredRecord {
  readonly offset: number;
  readonly endOffset: number;
  readonly sequence: number;
  readonly batchOffset: number;
  readonly payload: Uint8Array;
}

/** Reads one file of the log from front to back, a window at a time. */
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

  async header(): Promise<FileHeader | undefined> {
    return decodeFileHeader(await this.#bytes(0, FILE_HEADER_SIZE));
  }

  /** The record at `offset`, or `undefined` when there is no intact one. Its payload stays the caller's. */
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
   * Tells damage from a torn write: is there a record behind `offset` whose write began behind it, too? Then what
   * stands at `offset` had been synced before that write. (In one unsynced write, any sector may have got lost.)
   */
  async hasLaterBatch(offset: number, seed: number): Promise<boolean> {
    for (let at = offset + 1; at + RECORD_HEADER_SIZE <= this.sizeBytes; ) {
      const window = await this.#bytes(at, Math.min(WINDOW_SIZE, this.sizeBytes - at));
      const found = Buffer.from(window.buffer, window.byteOffset, window.byteLength).indexOf(
        RECORD_MAGIC,
      );
      if (found < 0) {
        at += Math.max(1, window.byteLength - RECORD_MAGIC.length + 1);
        continue;
      }
      at += found;
      const record = await this.recordAt(at, seed);
      if (record !== undefined && record.batchOffset > offset) return true;
      at += 1;
    }
    return false;
  }

  /** Where the last byte behind `from` that is not zero ends; `from` when there is none. */
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

  /** Fewer bytes than asked for only at the end of the file. */
  async #bytes(at: number, sizeBytes: number): Promise<Uint8Array> {
    const wanted = Math.max(0, Math.min(sizeBytes, this.sizeBytes - at));
    const from = at - this.#windowAt;
    if (from < 0 || from + wanted > this.#window.byteLength) {
      // A new window each time: payloads that were handed out are views of the old one.
      const window = new Uint8Array(Math.min(Math.max(WINDOW_SIZE, wanted), this.sizeBytes - at));
      const count = await this.#handle.read(window, at);
      this.#window = window.subarray(0, count);
      this.#windowAt = at;
      return this.#window.subarray(0, wanted);
    }
    return this.#window.subarray(from, from + wanted);
  }
}
