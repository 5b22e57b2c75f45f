import { latin1 } from '../fast/numbers.js';
import type { FieldSlot } from './field-slot.js';

const NEWLINE = 10;
const EQUALS = 61;
const BACKSLASH = 92;
/** Up to this many keys are compared one by one; beyond that, a map lookup is used. */
const MAX_TRIED_KEYS = 24;

/** A field's name as written in lines, including the `=`, in a form that compares quickly. */
export class FieldKey {
  readonly slot: FieldSlot;
  readonly size: number;
  /** The key that followed this one in an earlier line. */
  follower: FieldKey | undefined;
  readonly #bytes: Uint8Array;
  readonly #words: Int32Array;
  /** The last four bytes as a word; it overlaps the previous word. */
  readonly #tail: number;

  /** @param text name and `=`. */
  constructor(text: Uint8Array, slot: FieldSlot) {
    const view = new DataView(text.buffer, text.byteOffset, text.length);
    this.slot = slot;
    this.size = text.length;
    this.#bytes = text;
    this.#words = Int32Array.from({ length: text.length >> 2 }, (_, i) =>
      view.getInt32(4 * i, true),
    );
    this.#tail = text.length < 4 ? 0 : view.getInt32(text.length - 4, true);
  }

  /** Whether `view`, which must have `size` bytes from `start` on, contains this key there. */
  isAt(view: DataView, start: number): boolean {
    if (this.size < 4) return this.#isShortAt(view, start);
    if (view.getInt32(start + this.size - 4, true) !== this.#tail) return false;
    const words = this.#words;
    for (let i = 0, at = start; i < words.length; i++, at += 4) {
      if (view.getInt32(at, true) !== words[i]) return false;
    }
    return true;
  }

  #isShortAt(view: DataView, start: number): boolean {
    for (let i = 0; i < this.size; i++) {
      if (view.getUint8(start + i) !== this.#bytes[i]) return false;
    }
    return true;
  }
}

/** The keys of one table. */
export class FieldKeys {
  /** The first key of an earlier line of the table. */
  first: FieldKey | undefined;
  readonly #keys: FieldKey[] = [];
  readonly #byText = new Map<string, FieldKey>();

  /**
   * Stores a written form of a name. Skips names that contain a comma or newline, which only the
   * slow path parses.
   */
  learn(text: Uint8Array, slot: FieldSlot): void {
    if (text.includes(44) || text.includes(10)) return;
    const name = latin1(text, 0, text.length);
    if (this.#byText.has(name)) return;
    // a slice of a Buffer would share its memory
    const key = new FieldKey(Uint8Array.from(text), slot);
    this.#keys.push(key);
    this.#byText.set(name, key);
  }

  /** Returns the known key at `start`, in a line that ends with a newline. */
  find(bytes: Uint8Array, view: DataView, start: number): FieldKey | undefined {
    const room = bytes.length - start;
    if (this.#keys.length <= MAX_TRIED_KEYS) {
      return this.#keys.find((key) => key.size <= room && key.isAt(view, start));
    }
    let end = start;
    for (let byte = bytes[end]; byte !== EQUALS; byte = bytes[++end]) {
      if (byte === NEWLINE) return undefined;
      if (byte === BACKSLASH) end++;
    }
    return this.#byText.get(latin1(bytes, start, end + 1));
  }
}
