import type {
  DictionaryValues,
  EncodedTags,
  EncodedTagsCache,
} from '@plinth/tsdb-model/columns/encoded-tags.js';
import type { CacheEntry, ColumnCache } from './column-cache.js';

/** Maximum number of cached column lists, each in one output format. */
const MAX_LISTS = 4;
const FIRST_WORDS = 4096;
/** Maximum size of one list: 8 MiB. */
const MAX_WORDS = 2 ** 21;
const FIRST_SERIES = 1024;
const MAX_SERIES = 2 ** 18;
const WORD_BYTES = 4;

/**
 * Encoded tags of a series for results, by column list and output format. The tags of a series
 * never change. The column cache counts and evicts these bytes like columns.
 */
export class TableEncodedTags implements EncodedTagsCache {
  readonly #cache: ColumnCache;
  #lists: ColumnsEncodedTags[] = [];

  constructor(cache: ColumnCache) {
    this.#cache = cache;
  }

  of(columns: readonly DictionaryValues[], separatorsKey: string): EncodedTags | undefined {
    let list = this.#lists.find((each) => each.isOf(columns, separatorsKey));
    if (list === undefined) {
      if (!this.#cache.isEnabled) return undefined;
      list = new ColumnsEncodedTags({
        columns,
        separatorsKey,
        cache: this.#cache,
        onDrop: (it) => this.#forget(it),
      });
      if (this.#lists.length === MAX_LISTS) this.#lists.shift()?.clear();
      this.#lists.push(list);
    }
    list.touch();
    return list;
  }

  clear(): void {
    for (const list of this.#lists) list.clear();
    this.#lists = [];
  }

  #forget(list: ColumnsEncodedTags): void {
    this.#lists = this.#lists.filter((each) => each !== list);
  }
}

class ColumnsEncodedTags implements EncodedTags {
  readonly #columns: readonly DictionaryValues[];
  readonly #separatorsKey: string;
  readonly #cache: ColumnCache;
  readonly #onDrop: (list: ColumnsEncodedTags) => void;
  #entry: CacheEntry | undefined;
  #isForgotten = false;
  /** Position in `#words`, by series. */
  #offsets = new Uint32Array(0);
  #words = new Int32Array(0);
  /** Position 0 marks series that are not cached. */
  #size = 1;

  constructor(options: {
    readonly columns: readonly DictionaryValues[];
    readonly separatorsKey: string;
    readonly cache: ColumnCache;
    readonly onDrop: (list: ColumnsEncodedTags) => void;
  }) {
    this.#columns = options.columns;
    this.#separatorsKey = options.separatorsKey;
    this.#cache = options.cache;
    this.#onDrop = options.onDrop;
  }

  isOf(columns: readonly DictionaryValues[], separatorsKey: string): boolean {
    return (
      separatorsKey === this.#separatorsKey &&
      columns.length === this.#columns.length &&
      columns.every((values, i) => values === this.#columns[i])
    );
  }

  touch(): void {
    if (this.#entry !== undefined) this.#entry.lastUsedMs = this.#cache.nowMs();
  }

  get words(): Int32Array {
    return this.#words;
  }

  offsetOf(series: number): number {
    return series < this.#offsets.length ? (this.#offsets[series] as number) : 0;
  }

  store(series: number, text: Uint8Array): void {
    const end = this.#size + 1 + Math.ceil(text.length / WORD_BYTES);
    if (end > MAX_WORDS || series >= MAX_SERIES || this.#isForgotten) return;
    if (
      (end > this.#words.length || series >= this.#offsets.length) &&
      !this.#grow(end, series + 1)
    )
      return;
    const words = this.#words;
    words[this.#size] = text.length;
    new Uint8Array(words.buffer).set(text, (this.#size + 1) * WORD_BYTES);
    this.#offsets[series] = this.#size;
    this.#size = end;
  }

  clear(): void {
    this.#isForgotten = true;
    if (this.#entry !== undefined) this.#cache.remove(this.#entry);
    this.#entry = undefined;
  }

  /** Returns false if the cache is full. */
  #grow(wordCount: number, seriesCount: number): boolean {
    const words = grown(this.#words.length, wordCount, FIRST_WORDS);
    const series = grown(this.#offsets.length, seriesCount, FIRST_SERIES);
    const sizeBytes = (words + series) * WORD_BYTES;
    if (!this.#cache.makeRoom(sizeBytes - (this.#entry?.sizeBytes ?? 0))) return false;
    if (this.#isForgotten) return false; // `makeRoom` may have evicted this entry
    if (this.#entry !== undefined) this.#cache.remove(this.#entry);
    this.#entry = { sizeBytes, lastUsedMs: this.#cache.nowMs(), drop: () => this.#drop() };
    this.#cache.add(this.#entry);
    if (words > this.#words.length) {
      const more = new Int32Array(words);
      more.set(this.#words);
      this.#words = more;
    }
    if (series > this.#offsets.length) {
      const more = new Uint32Array(series);
      more.set(this.#offsets);
      this.#offsets = more;
    }
    return true;
  }

  #drop(): void {
    this.#isForgotten = true;
    this.#entry = undefined;
    this.#onDrop(this);
  }
}

function grown(length: number, needed: number, first: number): number {
  let size = Math.max(length, first);
  while (size < needed) size *= 2;
  return size;
}
