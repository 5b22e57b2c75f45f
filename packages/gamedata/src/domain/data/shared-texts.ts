import type { Columns } from './row.js';

/** Hardly two records say the same here: to remember each would take more than it saves. */
const OWN_COLUMNS: ReadonlySet<string> = new Set(['name', 'shortName']);
/** Longer lists are hardly ever the same. */
const MAX_SHARED_LENGTH = 4;

const EMPTY: readonly never[] = Object.freeze([]);

/**
 * One string, and one list of strings, where many rows say the same: parsing gives every mention of an id a string of its own, and records name
 * each other more often than they have texts. Lives as long as rows are being read.
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

  /** The same columns; lists and members of them are put in place. */
  inColumns(columns: Columns): Columns {
    const own = columns as Record<string, unknown>; // just made, and nobody else's
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
    // A line break in an entry may make two lists look alike.
    if (known?.every((entry, index) => entry === list[index])) return known;
    this.#lists.set(key, list);
    return list;
  }
}
