import { characterBorder } from '../utf8.js';
import { LineRefused } from './line-refused.js';

const SPACE = 32;
const MINUS = 45;
const MAX_CONTEXT = 10;

/** A position in one line, with the elementary operations of the slow path. */
export class LineCursor {
  readonly bytes: Buffer;
  readonly end: number;
  at: number;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.bytes = asBuffer(bytes);
    this.at = start;
    this.end = end;
  }

  get isAtEnd(): boolean {
    return this.at >= this.end;
  }

  /** Returns the byte at the cursor; -1 at the end. */
  get byte(): number {
    return this.at < this.end ? (this.bytes[this.at] as number) : -1;
  }

  take(byte: number): boolean {
    if (this.byte !== byte) return false;
    this.at++;
    return true;
  }

  /** Consumes the first of `words` that matches at the cursor. */
  takeWord(words: readonly string[]): string | undefined {
    for (const word of words) {
      const end = this.at + word.length;
      if (end <= this.end && this.text(this.at, end) === word) {
        this.at = end;
        return word;
      }
    }
    return undefined;
  }

  takeDigits(): string | undefined {
    const start = this.at;
    while (this.byte >= 48 && this.byte <= 57) this.at++;
    return this.at > start ? this.text(start, this.at) : undefined;
  }

  takeInteger(): string | undefined {
    const start = this.at;
    const sign = this.take(MINUS) ? '-' : '';
    const digits = this.takeDigits();
    if (digits !== undefined) return sign + digits;
    this.at = start;
    return undefined;
  }

  skipSpaces(): void {
    while (this.byte === SPACE) this.at++;
  }

  expectSpaces(): void {
    if (this.byte !== SPACE) {
      throw new LineRefused(() => `Expected at least one space character, got ${this.got()}`);
    }
    this.skipSpaces();
  }

  got(): string {
    return this.isAtEnd ? 'end of input' : `\`${this.context()}\``;
  }

  /** Returns the following content, for a message: cut to 10 characters if longer than 10 bytes. */
  context(from = this.at): string {
    if (this.end - from <= MAX_CONTEXT) return this.text(from, this.end);
    const far = characterBorder(this.bytes, Math.min(this.end, from + 4 * MAX_CONTEXT));
    return `${[...this.text(from, far)].slice(0, MAX_CONTEXT).join('')}...`;
  }

  text(start: number, end: number): string {
    return this.bytes.toString('utf8', start, end);
  }

  /** Returns the string `[start, end)` without the bytes at `dropped` (ascending). */
  textWithout(dropped: readonly number[], start: number, end: number): string {
    if (dropped.length === 0) return this.text(start, end);
    return Buffer.from(this.bytesWithout(dropped, start, end)).toString();
  }

  bytesWithout(dropped: readonly number[], start: number, end: number): Uint8Array {
    const remaining = new Uint8Array(end - start - dropped.length);
    let from = start;
    let size = 0;
    for (const index of [...dropped, end]) {
      remaining.set(this.bytes.subarray(from, index), size);
      size += index - from;
      from = index + 1;
    }
    return remaining;
  }
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
