import { isAscii } from 'node:buffer';

const FIRST_COUNT = 64;
const FIRST_SIZE_BYTES = 1024;
/**
 * Number of values that are decoded together: a runtime call per string would take most of the
 * time.
 */
const TEXTS_AT_ONCE = 256;

/**
 * Distinct values of one tag, numbered from 1 in order of appearance; 0 means "absent". They are
 * stored as contiguous UTF-8. Strings are created on demand, because most values of short-lived
 * series are never read.
 */
export class TagValues {
  /**
   * An odd number. It is secret if clients are untrusted, so that they cannot choose values that
   * collide.
   */
  readonly #multiplier: number;
  #count = 1;
  #bytes = Buffer.alloc(FIRST_SIZE_BYTES);
  /** End of each value's bytes, by code. They start at the end of the previous value. */
  #ends = new Uint32Array(FIRST_COUNT);
  #hashes = new Int32Array(FIRST_COUNT);
  /** Open addressing over the hashes; 0 means free, because it is not the code of a value. */
  #slots = new Int32Array(2 * FIRST_COUNT);
  /** Strings by code; contains only those that were created. */
  readonly #texts: (string | undefined)[] = [undefined];
  /** All codes below this one have their string. */
  #madeCount = 1;

  constructor(multiplier: number) {
    this.#multiplier = multiplier | 1;
  }

  /** The number of values plus one. */
  get count(): number {
    return this.#count;
  }

  /** All values by code. Always the same array, which only grows. */
  get texts(): readonly (string | undefined)[] {
    while (this.#madeCount < this.#count) this.#makeTexts();
    return this.#texts;
  }

  text(code: number): string | undefined {
    if (code < this.#madeCount) return this.#texts[code];
    while (this.#texts.length <= code) this.#texts.push(undefined);
    const known = this.#texts[code];
    if (known !== undefined) return known;
    const text = this.#bytes.toString('utf8', this.#startOf(code), this.#ends[code]);
    this.#texts[code] = text;
    return text;
  }

  /** Returns the code of the value `bytes[from .. to)`; 0 if no series has it. */
  find(bytes: Uint8Array, from: number, to: number): number {
    return this.#find(this.#hash(bytes, from, to), bytes, from, to);
  }

  /** Like `find`, but assigns the next code to a new value. */
  findOrAdd(bytes: Uint8Array, from: number, to: number): number {
    const hash = this.#hash(bytes, from, to);
    const known = this.#find(hash, bytes, from, to);
    return known !== 0 ? known : this.#add(hash, bytes, from, to);
  }

  isAt(code: number, bytes: Uint8Array, from: number, to: number): boolean {
    const own = this.#bytes;
    let at = this.#startOf(code);
    if ((this.#ends[code] as number) - at !== to - from) return false;
    for (let i = from; i < to; i++) if (own[at++] !== bytes[i]) return false;
    return true;
  }

  sizeOf(code: number): number {
    return (this.#ends[code] as number) - this.#startOf(code);
  }

  /** Writes the bytes of a value from `at`. @returns the end position. */
  put(code: number, target: Uint8Array, at: number): number {
    const own = this.#bytes;
    const end = this.#ends[code] as number;
    let to = at;
    for (let i = this.#startOf(code); i < end; i++) target[to++] = own[i] as number;
    return to;
  }

  #startOf(code: number): number {
    return this.#ends[code - 1] as number; // codes begin at 1, and `#ends[0]` is 0
  }

  #find(hash: number, bytes: Uint8Array, from: number, to: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const code = this.#slots[slot] as number;
      if (code === 0) return 0;
      if (this.#hashes[code] === hash && this.isAt(code, bytes, from, to)) return code;
    }
  }

  #add(hash: number, bytes: Uint8Array, from: number, to: number): number {
    const code = this.#count;
    if (code === this.#ends.length) this.#growCodes();
    const start = this.#startOf(code);
    const end = start + to - from;
    if (end > this.#bytes.length) this.#growBytes(end);
    const own = this.#bytes;
    for (let i = from, at = start; i < to; i++) own[at++] = bytes[i] as number;
    this.#ends[code] = end;
    this.#hashes[code] = hash;
    this.#count++;
    this.#place(code);
    return code;
  }

  #hash(bytes: Uint8Array, from: number, to: number): number {
    let hash = to - from;
    for (let i = from; i < to; i++) {
      hash = Math.imul(hash ^ (bytes[i] as number), this.#multiplier);
      hash ^= hash >>> 15;
    }
    hash = Math.imul(hash, 0x85ebca6b);
    return hash ^ (hash >>> 16);
  }

  #place(code: number): void {
    const mask = this.#slots.length - 1;
    let slot = (this.#hashes[code] as number) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = code;
  }

  #growCodes(): void {
    const capacity = 2 * this.#ends.length;
    const ends = new Uint32Array(capacity);
    ends.set(this.#ends);
    this.#ends = ends;
    const hashes = new Int32Array(capacity);
    hashes.set(this.#hashes);
    this.#hashes = hashes;
    this.#slots = new Int32Array(2 * capacity);
    for (let code = 1; code < this.#count; code++) this.#place(code);
  }

  #growBytes(sizeBytes: number): void {
    const bytes = Buffer.alloc(Math.max(2 * this.#bytes.length, sizeBytes));
    bytes.set(this.#bytes);
    this.#bytes = bytes;
  }

  #makeTexts(): void {
    const first = this.#madeCount;
    const end = Math.min(first + TEXTS_AT_ONCE, this.#count);
    const start = this.#startOf(first);
    const bytes = this.#bytes.subarray(start, this.#ends[end - 1]);
    while (this.#texts.length < end) this.#texts.push(undefined);
    const together = isAscii(bytes) ? bytes.toString('latin1') : undefined;
    for (let code = first; code < end; code++) {
      this.#texts[code] ??=
        together === undefined
          ? this.text(code)
          : together.slice(this.#startOf(code) - start, (this.#ends[code] as number) - start);
    }
    this.#madeCount = end;
  }
}
