import { MAX_TEXT_BYTES } from '@plinth/tsdb-model/database/limits.js';
import { type NewTags, TagKeySet } from '../new-tags.js';

/** More tags use the slow path, which finds repeated keys with a set. */
const MAX_TAGS = 64;
const NUL = 0;
const COMMA = 44;
const EQUALS = 61;
const BACKSLASH = 92;
const NO_BYTES = new Uint8Array(0);

/**
 * Splits plain series, without escapes or errors. Series of a table usually have the same keys in
 * the same order, so table and keys of the previous one are compared first. Only the positions of
 * values are stored.
 */
export class FastSeries implements NewTags {
  /** Parts of the series that was parsed last. */
  table = '';
  keySet = new TagKeySet([]);
  bytes: Uint8Array = NO_BYTES;
  readonly valueStarts: number[] = [];
  readonly valueEnds: number[] = [];
  #spelledTable: Uint8Array = NO_BYTES;
  /** Each key as written in a line: `,key=`. */
  #spelledKeys: readonly Uint8Array[] = [];

  /**
   * @param bytes UTF-8, without unescaped spaces from `start` to `end`.
   * @returns false if the slow path must parse the line.
   */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    if (end - start > MAX_TEXT_BYTES / 4) return false;
    this.bytes = bytes;
    const tagsFrom = endOfPart(bytes, start, end);
    if (tagsFrom <= start) return false;
    const size = tagsFrom - start;
    if (size !== this.#spelledTable.length || !isAt(this.#spelledTable, bytes, start)) {
      this.#spelledTable = bytes.slice(start, tagsFrom);
      this.table = textOf(bytes, start, tagsFrom);
    }
    return (
      this.#findValues(tagsFrom, end) ||
      (this.#learnKeys(tagsFrom, end) && this.#findValues(tagsFrom, end))
    );
  }

  #findValues(tagsFrom: number, end: number): boolean {
    const { bytes } = this;
    let at = tagsFrom;
    for (let i = 0; i < this.#spelledKeys.length; i++) {
      const key = this.#spelledKeys[i] as Uint8Array; // `i` is below the length
      if (at + key.length > end || !isAt(key, bytes, at)) return false;
      const from = at + key.length;
      at = endOfPart(bytes, from, end);
      if (at <= from) return false;
      this.valueStarts[i] = from;
      this.valueEnds[i] = at;
    }
    return at === end;
  }

  /** Returns false if the tags are not plain pairs with distinct keys. */
  #learnKeys(tagsFrom: number, end: number): boolean {
    const { bytes } = this;
    const keys: string[] = [];
    const spelled: Uint8Array[] = [];
    for (let at = tagsFrom; at < end; ) {
      let equals = at + 1;
      for (; equals < end && bytes[equals] !== EQUALS; equals++) {
        if (bytes[equals] === BACKSLASH || bytes[equals] === NUL) return false;
      }
      const key = textOf(bytes, at + 1, equals);
      if (equals >= end || key === '' || keys.length === MAX_TAGS || keys.includes(key))
        return false;
      keys.push(key);
      spelled.push(bytes.slice(at, equals + 1));
      at = endOfPart(bytes, equals + 1, end);
      if (at < 0) return false;
    }
    this.keySet = new TagKeySet(keys);
    this.#spelledKeys = spelled;
    return true;
  }
}

/** Returns the index of the next comma, or `end`; -1 if a special character precedes it. */
function endOfPart(bytes: Uint8Array, from: number, end: number): number {
  for (let at = from; at < end; at++) {
    const byte = bytes[at];
    if (byte === COMMA) return at;
    if (byte === BACKSLASH || byte === NUL) return -1;
  }
  return end;
}

function isAt(text: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < text.length; i++) if (text[i] !== bytes[start + i]) return false;
  return true;
}

function textOf(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString();
}
