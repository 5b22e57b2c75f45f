import type { Kind } from '../../../model/kinds.js';
import { normalText, tokensOf } from '../../../model/normal-text.js';
import type { StoredRecords } from '../../../model/schemas/stored.js';
import { GROUP_SIZE } from '../../data/kind-table.js';
import { KIND_SPECS } from '../../kinds/index.js';
import { type PackedParts, PackedTexts } from './packed-texts.js';

export const WEIGHTS = 4;
/** Weight of words in the name. */
export const NAME_WEIGHT = 3;
/** Greater than any entry number of a group. */
const ENTRY_COUNT = GROUP_SIZE * WEIGHTS;

/**
 * Search data of one group of rows in one language, in a form that can be transferred between
 * threads.
 */
export interface ReadTexts {
  /** Every distinct word of the group, separated by line breaks. */
  readonly terms: string;
  /** Start index of each word's entries, and the end index of the last ones. */
  readonly starts: Uint32Array;
  /** Position in the group times `WEIGHTS` plus weight; 16 bits suffice for a group. */
  readonly entries: Uint16Array;
  /** The fields searched by `search`, one per line. */
  readonly names: PackedParts;
  /** All other searchable strings. */
  readonly rest: PackedParts;
}

/** Reads the searchable strings of a group, row by row. */
export class GroupReader {
  readonly #kind: Kind;
  readonly #language: string | undefined;
  readonly #tokens = new Map<string, number>();
  readonly #keys = new KeyList();
  readonly #names: string[] = [];
  readonly #rest: string[] = [];

  /** @param language `undefined` for the default language. */
  constructor(kind: Kind, language: string | undefined) {
    this.#kind = kind;
    this.#language = language;
  }

  /** @param text the next row, as stored. */
  add(text: string): void {
    const position = this.#names.length;
    const [first = '', second = '', ...others] = fieldTexts(this.#kind, text, this.#language);
    this.#names.push(`${first}\n${second}`);
    this.#rest.push(others.join('\n'));
    const weights = new Map<number, number>();
    for (const [index, field] of [first, second, ...others].entries()) {
      const weight = index === 0 ? NAME_WEIGHT : index === 1 ? 2 : 1;
      for (const term of tokensOf(field)) {
        const token = this.#tokenOf(term);
        // Fields are in order of weight, so the first one with the word counts.
        if (!weights.has(token)) weights.set(token, weight);
      }
    }
    for (const [token, weight] of weights) {
      this.#keys.add(token * ENTRY_COUNT + position * WEIGHTS + weight);
    }
  }

  finish(): ReadTexts {
    const keys = this.#keys.sorted();
    const starts = new Uint32Array(this.#tokens.size + 1);
    const entries = new Uint16Array(keys.length);
    for (const [at, key] of keys.entries()) {
      entries[at] = key % ENTRY_COUNT;
      // Every word has an entry, so the last entry of each word sets its end index.
      starts[Math.floor(key / ENTRY_COUNT) + 1] = at + 1;
    }
    return {
      terms: [...this.#tokens.keys()].join('\n'),
      starts,
      entries,
      names: PackedTexts.pack(this.#names),
      rest: PackedTexts.pack(this.#rest),
    };
  }

  #tokenOf(term: string): number {
    const known = this.#tokens.get(term);
    if (known !== undefined) return known;
    const token = this.#tokens.size;
    this.#tokens.set(term, token);
    return token;
  }
}

/** A growing typed array of numbers; one list per word would create a lot of garbage. */
class KeyList {
  #keys = new Float64Array(16_384);
  #count = 0;

  add(key: number): void {
    if (this.#count === this.#keys.length) {
      const larger = new Float64Array(2 * this.#keys.length);
      larger.set(this.#keys);
      this.#keys = larger;
    }
    this.#keys[this.#count] = key;
    this.#count += 1;
  }

  sorted(): Float64Array {
    return this.#keys.subarray(0, this.#count).sort();
  }
}

/**
 * Returns the normalized strings of a row: first the fields of `search`, then all others. Missing
 * translations fall back to the default language.
 */
function fieldTexts(kind: Kind, text: string, language: string | undefined): readonly string[] {
  const spec = KIND_SPECS[kind];
  const record = JSON.parse(text) as StoredRecords[Kind]; // rows of a kind contain records of that kind
  if (language !== undefined) {
    const { locales } = record;
    const own: Readonly<Record<string, string>> = locales[language] ?? {};
    for (const [key, value] of Object.entries(own)) spec.setText(record, key, value);
  }
  const first = spec.searchTexts(record).map((part) => normalText(part ?? ''));
  const known = new Set(first);
  const others = spec.texts(record).flatMap(({ value }) => {
    const normal = value === null ? '' : normalText(value);
    return normal === '' || known.has(normal) ? [] : [normal];
  });
  return [first[0] ?? '', first.slice(1).join(' '), ...others];
}

/**
 * Rows of one group by token, packed into typed arrays.
 * There is one group per thousand records, and a small array per word and group would take more
 * memory than the words.
 */
export class Postings {
  /** In ascending order. */
  readonly #tokens: Uint32Array;
  readonly #starts: Uint32Array;
  readonly entries: Uint16Array;

  /** @param tokenOf returns the number of a word in the vocabulary of all groups. */
  constructor(read: ReadTexts, tokenOf: (term: string) => number) {
    const terms = read.terms === '' ? [] : read.terms.split('\n');
    const own = Uint32Array.from(terms, tokenOf);
    const order = Uint32Array.from(own, (_token, index) => index);
    order.sort((a, b) => (own[a] ?? 0) - (own[b] ?? 0));
    this.#tokens = new Uint32Array(own.length);
    this.#starts = new Uint32Array(own.length + 1);
    this.entries = new Uint16Array(read.entries.length);
    let end = 0;
    for (const [place, index] of order.entries()) {
      this.#tokens[place] = own[index] ?? 0;
      const some = read.entries.subarray(read.starts[index], read.starts[index + 1]);
      this.entries.set(some, end);
      end += some.length;
      this.#starts[place + 1] = end;
    }
  }

  /**
   * Calls `see` with the range in `entries` of each token that the group contains.
   * @param tokens in ascending order, so that each search starts after the previous one.
   */
  find(
    tokens: Uint32Array,
    see: (tokenIndex: number, range: { readonly start: number; readonly end: number }) => void,
  ): void {
    let low = 0;
    for (let index = 0; index < tokens.length && low < this.#tokens.length; index++) {
      const token = tokens[index] ?? 0;
      low = this.#placeOf(token, low);
      if (this.#tokens[low] !== token) continue;
      see(index, { start: this.#starts[low] ?? 0, end: this.#starts[low + 1] ?? 0 });
    }
  }

  /**
   * Returns the index of the first token that is not smaller, starting at `low`. Uses galloping
   * search, because that token is usually near.
   */
  #placeOf(token: number, low: number): number {
    const all = this.#tokens;
    let step = 1;
    let start = low;
    while (start + step < all.length && (all[start + step] ?? 0) < token) {
      start += step;
      step *= 2;
    }
    let end = Math.min(start + step, all.length);
    while (start < end) {
      const middle = (start + end) >> 1;
      if ((all[middle] ?? 0) < token) start = middle + 1;
      else end = middle;
    }
    return start;
  }
}

/** Search data of one group in one language. */
export interface GroupTexts {
  readonly postings: Postings;
  readonly names: PackedTexts;
  readonly rest: PackedTexts;
}
