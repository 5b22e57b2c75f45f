import type { Columns } from './row.js';

/** Columns with mostly unique values, where sharing would cost more than it saves. */
const OWN_COLUMNS: ReadonlySet<string> = new Set(['name', 'shortName']);
/** Longer lists are rarely equal. */
const MAX_SHARED_LENGTH = 4;

const EMPTY: readonly never[] = Object.freeze([]);

/**
 * Deduplicates strings and short lists across rows. Parsing creates a new string for every
 * occurrence of an id, and records mostly contain ids of other records.
 * Used only while rows are being read.
 */
export class SharedTexts {
  readonly #known = new Map<string, string>();
  readonly #lists = new Map<string, readonly unknown[]>();

  of(text: string): string {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    this.#known.set(text, text);
    return text;
  }

  /** Deduplicates the values of `columns` in place. */
  inColumns(columns: Columns): Columns {
    const own = columns as Record<string, unknown>; // newly created, with no other reference
    for (const name in own) if (!OWN_COLUMNS.has(name)) own[name] = this.#shared(own[name]);
    return own;
  }

  #shared(value: unknown): unknown {
    if (typeof value === 'string') return this.of(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      if (value.length === 0) return EMPTY;
      for (const [index, entry] of value.entries()) value[index] = this.#shared(entry);
      return this.#sharedList(value);
    }
    return this.inColumns(value as Columns);
  }

  #sharedList(list: readonly unknown[]): readonly unknown[] {
    const isShareable =
      list.length <= MAX_SHARED_LENGTH && list.every((entry) => typeof entry === 'string');
    if (!isShareable) return list;
    const key = list.join('\n');
    const known = this.#lists.get(key);
    // A line break in an entry can give two different lists the same key.
    if (known?.every((entry, index) => entry === list[index])) return known;
    this.#lists.set(key, list);
    return list;
  }
}
