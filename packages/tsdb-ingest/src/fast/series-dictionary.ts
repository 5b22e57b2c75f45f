const FIRST_SLOTS = 256;
const FIRST_ARENA_BYTES = 16_384;
const NONE = -1;

/**
 * Maps the series strings of one database to series numbers. A series string is the raw bytes from
 * the line's start, including the table, to its first unescaped space. Entries are numbered from 0
 * and are never removed.
 * The strings are in one arena, aligned to 4 bytes and padded with zeros, so that they are compared
 * word by word. Words are little-endian, as on every platform that Node supports.
 */
export class SeriesDictionary {
  readonly hashSeed: number;
  /** For each entry, the number of its table and of its series within the table. */
  tables = new Uint32Array(FIRST_SLOTS);
  series = new Uint32Array(FIRST_SLOTS);
  /**
   * For each entry, the one that followed it in earlier lines, or -1: a guess that avoids hashing.
   */
  followers = new Int32Array(FIRST_SLOTS).fill(NONE);
  #sizes = new Uint32Array(FIRST_SLOTS);
  #words = new Int32Array(FIRST_ARENA_BYTES / 4);
  #firstWords = new Uint32Array(FIRST_SLOTS);
  #hashes = new Int32Array(FIRST_SLOTS);
  #slots = new Int32Array(2 * FIRST_SLOTS).fill(NONE);
  #count = 0;
  #wordCount = 0;

  /** @param hashSeed see `hashSeries`. */
  constructor(hashSeed: number) {
    this.hashSeed = hashSeed;
  }

  get count(): number {
    return this.#count;
  }

  get sizeBytes(): number {
    return this.#words.byteLength + this.#hashes.length * 24 + this.#slots.byteLength;
  }

  sizeOf(entry: number): number {
    return this.#sizes[entry] as number; // entry numbers come only from this class
  }

  /**
   * Whether the bytes from `start` on equal the string of `entry`; at least `sizeOf(entry)` bytes
   * must follow.
   */
  isAt(entry: number, view: DataView, start: number): boolean {
    const size = this.#sizes[entry] as number;
    const words = this.#words;
    let word = this.#firstWords[entry] as number;
    let at = start;
    for (const wholeEnd = start + (size & ~3); at < wholeEnd; at += 4) {
      if (view.getInt32(at, true) !== words[word++]) return false;
    }
    return (size & 3) === 0 || tailWord(view, at, size & 3) === words[word];
  }

  find(hash: number, view: DataView, start: number, size: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#slots[slot] as number;
      if (entry === NONE) return NONE;
      if (this.#hashes[entry] !== hash || this.#sizes[entry] !== size) continue;
      if (this.isAt(entry, view, start)) return entry;
    }
  }

  /** Adds a string that `find` did not find, with its hash. */
  add(hash: number, text: Uint8Array, table: number, series: number): number {
    if (this.#count === this.#hashes.length) this.#growEntries();
    const wordCount = (text.length + 3) >> 2;
    if (this.#wordCount + wordCount > this.#words.length) this.#growArena(wordCount);
    const entry = this.#count++;
    new Uint8Array(this.#words.buffer).set(text, 4 * this.#wordCount);
    this.#firstWords[entry] = this.#wordCount;
    this.#wordCount += wordCount;
    this.#sizes[entry] = text.length;
    this.#hashes[entry] = hash;
    this.tables[entry] = table;
    this.series[entry] = series;
    this.#place(entry);
    return entry;
  }

  #place(entry: number): void {
    const mask = this.#slots.length - 1;
    let slot = (this.#hashes[entry] as number) & mask;
    while (this.#slots[slot] !== NONE) slot = (slot + 1) & mask;
    this.#slots[slot] = entry;
  }

  #growEntries(): void {
    const capacity = 2 * this.#hashes.length;
    this.tables = grownUint32(this.tables, capacity);
    this.series = grownUint32(this.series, capacity);
    this.#sizes = grownUint32(this.#sizes, capacity);
    this.#firstWords = grownUint32(this.#firstWords, capacity);
    this.followers = grownInt32(this.followers, capacity).fill(NONE, this.#count);
    this.#hashes = grownInt32(this.#hashes, capacity);
    this.#slots = new Int32Array(2 * capacity).fill(NONE);
    for (let entry = 0; entry < this.#count; entry++) this.#place(entry);
  }

  #growArena(wordCount: number): void {
    this.#words = grownInt32(
      this.#words,
      Math.max(2 * this.#words.length, this.#wordCount + wordCount),
    );
  }
}

/**
 * Mixes 4 bytes per step; the hash does not depend on the alignment of the string.
 * @param seed a secret of the process: clients must not be able to choose strings that collide.
 */
export function hashSeries(view: DataView, start: number, size: number, seed: number): number {
  let hash = seed ^ size;
  let at = start;
  for (const wholeEnd = start + (size & ~3); at < wholeEnd; at += 4) {
    hash = Math.imul(hash ^ view.getInt32(at, true), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  if ((size & 3) !== 0) hash = Math.imul(hash ^ tailWord(view, at, size & 3), 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 13), 0x85ebca6b);
  return hash ^ (hash >>> 16);
}

/** Returns the last 1 to 3 bytes of a string as a word padded with zeros, as in the arena. */
function tailWord(view: DataView, at: number, size: number): number {
  let word = view.getUint8(at);
  if (size > 1) word |= view.getUint8(at + 1) << 8;
  if (size > 2) word |= view.getUint8(at + 2) << 16;
  return word;
}

function grownUint32(array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(length);
  grown.set(array);
  return grown;
}

function grownInt32(array: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  const grown = new Int32Array(length);
  grown.set(array);
  return grown;
}
