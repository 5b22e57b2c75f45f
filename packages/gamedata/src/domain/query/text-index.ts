import type { Kind } from '../../model/kinds.js';
import { compareText, normalText, tokensOf } from '../../model/normal-text.js';
import type { DataSet } from '../data-set.js';
import { GROUP_SIZE, type RowGroup } from '../kind-table.js';
import { KIND_SPECS } from '../kinds/index.js';
import { parseRow } from '../record-rows.js';
import type { Row } from '../row.js';
import { Slices } from '../slices.js';
import { EditDistance } from './edit-distance.js';

/** Groups that may go before an index is made anew; a publication of one change replaces one. */
const SPARE_GROUP_COUNT = 64;

/**
 * Words of the records of one kind in one language. Rows are indexed in the groups in which versions share them, so
 * that after a publication only the groups that changed are read again; all groups share one vocabulary, and only
 * that is looked through for beginnings and misspellings.
 */
export class TextIndex {
  readonly #kind: Kind;
  readonly #language: string;
  readonly #isDefault: boolean;
  readonly #tokens = new Map<string, number>();
  readonly #words: string[] = [];
  #sorted: readonly number[] = [];
  readonly #groups = new Map<RowGroup, Postings | Promise<Postings>>();
  #forgottenCount = 0;

  constructor(kind: Kind, language: string, isDefault: boolean) {
    this.#kind = kind;
    this.#language = language;
    this.#isDefault = isDefault;
  }

  /** Postings of all groups of the set, in order; makes what is missing, one group after the other. */
  async postingsOf(set: DataSet): Promise<readonly Postings[]> {
    const slices = new Slices();
    const found: Postings[] = [];
    for (const group of set.tables[this.#kind].groups) {
      let postings = this.#groups.get(group);
      if (postings === undefined) {
        postings = this.#read(group, slices).then((made) => {
          // At hand from now on: whoever asks for all need not wait for each.
          if (this.#groups.has(group)) this.#groups.set(group, made);
          return made;
        });
        this.#groups.set(group, postings);
      }
      found.push(postings instanceof Postings ? postings : await postings);
    }
    return found;
  }

  /**
   * Forgets groups that the set no longer has.
   * @returns false when most of the vocabulary may be of such groups: an index that is made anew is smaller.
   */
  keepOnly(set: DataSet): boolean {
    const wanted = new Set(set.tables[this.#kind].groups);
    for (const group of this.#groups.keys()) {
      if (wanted.has(group)) continue;
      this.#groups.delete(group);
      this.#forgottenCount += 1;
    }
    return this.#forgottenCount <= SPARE_GROUP_COUNT + wanted.size;
  }

  async #read(group: RowGroup, slices: Slices): Promise<Postings> {
    const keys = new KeyList();
    for (const [position, row] of group.rows.entries()) {
      for (const [token, weight] of this.#weightsOf(row)) {
        keys.add(token * ENTRY_COUNT + position * WEIGHTS + weight);
      }
      const pause = slices.next();
      if (pause !== undefined) await pause;
    }
    return new Postings(keys.sorted());
  }

  /** Best field in which each word of the row stands. */
  #weightsOf(row: Row): ReadonlyMap<number, number> {
    const weights = new Map<number, number>();
    for (const [index, text] of fieldTexts(
      this.#kind,
      row,
      this.#language,
      this.#isDefault,
    ).entries()) {
      const weight = index === 0 ? NAME_WEIGHT : index === 1 ? 2 : 1;
      for (const word of tokensOf(text)) {
        const token = this.#tokenOf(word);
        const known = weights.get(token);
        if (known === undefined || known < weight) weights.set(token, weight);
      }
    }
    return weights;
  }

  #tokenOf(word: string): number {
    const known = this.#tokens.get(word);
    if (known !== undefined) return known;
    const token = this.#words.length;
    this.#words.push(word);
    this.#tokens.set(word, token);
    return token;
  }

  /** Tokens that begin with `prefix`, with how well they fit (1: the whole word). */
  withPrefix(prefix: string): ReadonlyMap<number, number> {
    const sorted = this.#sortedTokens();
    const found = new Map<number, number>();
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#words[sorted[middle] ?? 0] ?? '') < prefix) low = middle + 1;
      else high = middle;
    }
    for (let at = low; at < sorted.length; at++) {
      const token = sorted[at] ?? 0;
      const word = this.#words[token] ?? '';
      if (!word.startsWith(prefix)) break;
      found.set(
        token,
        word.length === prefix.length ? 1 : 0.75 * (prefix.length / word.length) + 0.1,
      );
    }
    return found;
  }

  /** Tokens within the edit distance that a word of this length allows. */
  similarTo(word: string): ReadonlyMap<number, number> {
    const limit = word.length >= 8 ? 2 : word.length >= 4 ? 1 : 0;
    const found = new Map<number, number>();
    if (limit === 0) {
      const token = this.#tokens.get(word);
      return token === undefined ? found : found.set(token, 1);
    }
    const edits = new EditDistance(word, limit);
    for (const [token, candidate] of this.#words.entries()) {
      const distance = edits.to(candidate);
      if (distance <= limit) found.set(token, distance === 0 ? 1 : 0.5 / distance);
    }
    return found;
  }

  wordOf(token: number): string {
    return this.#words[token] ?? '';
  }

  #sortedTokens(): readonly number[] {
    if (this.#sorted.length !== this.#words.length) {
      const words = this.#words;
      this.#sorted = words
        .map((_word, token) => token)
        .sort((a, b) => compareText(words[a] ?? '', words[b] ?? ''));
    }
    return this.#sorted;
  }
}

/**
 * Rows of one group by token, packed: there are as many groups as thousands of records, and a small array for each
 * word of each would cost more than the words.
 */
class Postings {
  readonly #tokens: Uint32Array;
  readonly #starts: Uint32Array;
  /** Position in the group times `WEIGHTS` plus weight; groups are small enough for 16 bits. */
  readonly entries: Uint16Array;

  /** @param keys in ascending order: `ENTRY_COUNT` times the token, plus the entry. */
  constructor(keys: Float64Array) {
    let tokenCount = 0;
    let last = -1;
    for (const key of keys) {
      const token = Math.floor(key / ENTRY_COUNT);
      if (token !== last) tokenCount += 1;
      last = token;
    }
    this.#tokens = new Uint32Array(tokenCount);
    this.#starts = new Uint32Array(tokenCount + 1);
    this.entries = new Uint16Array(keys.length);
    let index = -1;
    for (const [at, key] of keys.entries()) {
      const token = Math.floor(key / ENTRY_COUNT);
      if (index === -1 || this.#tokens[index] !== token) {
        index += 1;
        this.#tokens[index] = token;
        this.#starts[index] = at;
      }
      this.entries[at] = key % ENTRY_COUNT;
    }
    this.#starts[tokenCount] = keys.length;
  }

  /**
   * Tells where in `entries` the rows of each token stand that the group has.
   * @param tokens in ascending order, so that each is looked for behind the one before.
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

  /** The first place from `low` on whose token is not below; in steps that double, as it is usually near. */
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

export const WEIGHTS = 4;
/** More than any entry of a group. */
const ENTRY_COUNT = GROUP_SIZE * WEIGHTS;

/** Numbers in one piece of memory: lists of each word would leave a group's worth of garbage. */
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

/** Of words in the name itself. */
export const NAME_WEIGHT = 3;

/** Normalised texts of a row: the fields of `search` first, then all others. Missing translations fall back. */
export function fieldTexts(
  kind: Kind,
  row: Row,
  language: string,
  isDefault: boolean,
): readonly string[] {
  const spec = KIND_SPECS[kind];
  const record = parseRow(kind, row);
  if (!isDefault) {
    const { locales } = record;
    const own: Readonly<Record<string, string>> = locales[language] ?? {};
    for (const [key, text] of Object.entries(own)) spec.setText(record, key, text);
  }
  const first = spec.searchTexts(record).map((text) => normalText(text ?? ''));
  const known = new Set(first);
  const others = spec.texts(record).flatMap(({ value }) => {
    const text = value === null ? '' : normalText(value);
    return text === '' || known.has(text) ? [] : [text];
  });
  return [first[0] ?? '', first.slice(1).join(' '), ...others];
}
