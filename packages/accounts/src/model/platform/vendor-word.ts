import { isObject } from '@plinth/kernel';

/**
 * The word for the operator in field names and values, such as `stripe` in `stripe_balance`
 * (setting `vendor_word`). Internally it is always `vendor`. Responses use the configured word, and
 * requests may use any accepted alias. Source: accounts, section 1.
 */
export class VendorWord {
  readonly word: string;
  readonly #accepted: ReadonlySet<string>;

  constructor(word: string, aliases: readonly string[]) {
    this.word = word;
    this.#accepted = new Set(['vendor', word, ...aliases]);
  }

  /** Aliases that requests may use but responses never contain. */
  get others(): readonly string[] {
    return [...this.#accepted].filter((word) => word !== this.word);
  }

  /** Replaces the word in values, capability ids, codes and messages of a response. */
  toWire(text: string): string {
    return this.word === 'vendor' ? text : text.replace(VENDOR_WORD, `$1${this.word}`);
  }

  /** Applies `toWire` to all strings and member names in `value`. */
  allToWire(value: unknown): unknown {
    if (this.word === 'vendor') return value;
    if (typeof value === 'string') return this.toWire(value);
    if (Array.isArray(value)) return value.map((item) => this.allToWire(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [this.toWire(name), this.allToWire(inner)]),
    );
  }

  /** Replaces the word and its aliases with `vendor` in a parsed body, in both names and values. */
  toInternal(body: unknown): unknown {
    const configuration = (at: unknown): unknown => inside(at, 'capabilities', this.#capabilities);
    const withDefaults = inside(body, 'defaults', (defaults) =>
      inside(defaults, 'responsibilities', this.#collectors),
    );
    return inside(withDefaults, 'configuration', (all) =>
      inside(inside(all, 'merchant', configuration), 'recipient', configuration),
    );
  }

  /** Same as `toInternal`, for a patch of a platform's settings. */
  settingsToInternal(patch: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const capabilities = inside(patch, 'disabled_capabilities', this.#ids);
    const denied = inside(capabilities, 'platform_country_capabilities_denied', this.#keys);
    const defaults = inside(denied, 'default_responsibilities', this.#collectors);
    const combinations = inside(defaults, 'private_preview_combinations', (rows) =>
      Array.isArray(rows) ? rows.map(this.#values) : rows,
    );
    return combinations as Record<string, unknown>; // `inside` returns an object for an object
  }

  /** Same as `toInternal`, for the capabilities that an operator's requirement restricts. */
  restrictsToInternal(body: unknown): unknown {
    const restrict = (item: unknown): unknown =>
      inside(item, 'capability', (id) => (typeof id === 'string' ? this.#capability(id) : id));
    return inside(body, 'restricts', (items) =>
      Array.isArray(items) ? items.map(restrict) : items,
    );
  }

  /** Converts a capability id such as `stripe_balance.payouts`. */
  #capability(id: string): string {
    return id
      .split('.')
      .map((part) => this.#name(part))
      .join('.');
  }

  readonly #collectors = (responsibilities: unknown): unknown => {
    if (!isObject(responsibilities)) return responsibilities;
    return Object.fromEntries(
      Object.entries(responsibilities).map(([name, value]) => [name, this.#value(value)]),
    );
  };

  readonly #values = (row: unknown): unknown =>
    Array.isArray(row) ? row.map((value) => this.#value(value)) : row;

  readonly #ids = (ids: unknown): unknown =>
    Array.isArray(ids)
      ? ids.map((id: unknown) => (typeof id === 'string' ? this.#capability(id) : id))
      : ids;

  readonly #keys = (tree: unknown): unknown =>
    isObject(tree)
      ? Object.fromEntries(Object.entries(tree).map(([id, value]) => [this.#capability(id), value]))
      : tree;

  #value(value: unknown): unknown {
    return typeof value === 'string' && this.#accepted.has(value) ? 'vendor' : value;
  }

  readonly #capabilities = (tree: unknown): unknown => {
    if (!isObject(tree)) return tree;
    return Object.fromEntries(
      Object.entries(tree).map(([name, value]) => {
        const canonical = this.#name(name);
        return canonical === 'vendor_balance'
          ? [canonical, this.#renamed(value)]
          : [canonical, value];
      }),
    );
  };

  #renamed(balance: unknown): unknown {
    if (!isObject(balance)) return balance;
    return Object.fromEntries(
      Object.entries(balance).map(([name, value]) => [this.#name(name), value]),
    );
  }

  /** Converts `stripe_balance` into `vendor_balance`. */
  #name(name: string): string {
    for (const suffix of SUFFIXES) {
      if (name.endsWith(suffix) && this.#accepted.has(name.slice(0, -suffix.length))) {
        return `vendor${suffix}`;
      }
    }
    return name;
  }
}

/** Matches the word, also as a part of a compound name. */
const VENDOR_WORD = /(^|[^A-Za-z0-9]|_)vendor(?![A-Za-z0-9])/g;
const SUFFIXES = ['_balance', '_transfers'] as const;

/** Returns `parent` with one member changed; values other than objects are returned unchanged. */
function inside(parent: unknown, name: string, change: (value: unknown) => unknown): unknown {
  if (!isObject(parent) || !Object.hasOwn(parent, name)) return parent;
  const before = parent[name];
  const after = change(before);
  return after === before ? parent : { ...parent, [name]: after };
}
