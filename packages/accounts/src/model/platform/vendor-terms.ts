import { isObject } from '@plinth/kernel';

/**
 * The operator's own name in values and fields. Inside it is always `vendor`; at the edge it is the configured word,
 * and what comes in may use any of the accepted spellings. Source: accounts, section 1.
 */
export class VendorTerms {
  readonly term: string;
  readonly #accepted: ReadonlySet<string>;

  constructor(term: string, aliases: readonly string[]) {
    this.term = term;
    this.#accepted = new Set(['vendor', term, ...aliases]);
  }

  /** Spellings that are taken and never answered. */
  get others(): readonly string[] {
    return [...this.#accepted].filter((term) => term !== this.term);
  }

  /** Values, capability ids, codes and messages on their way out. */
  out(text: string): string {
    return this.term === 'vendor' ? text : text.replace(VENDOR_WORD, `$1${this.term}`);
  }

  /** The same for `value` with all that is in it, member names included. */
  outAll(value: unknown): unknown {
    if (this.term === 'vendor') return value;
    if (typeof value === 'string') return this.out(value);
    if (Array.isArray(value)) return value.map((item) => this.outAll(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [this.out(name), this.outAll(inner)]),
    );
  }

  /** A parsed body with every accepted spelling replaced where the word has a meaning. */
  takeIn(body: unknown): unknown {
    const configuration = (at: unknown): unknown => inside(at, 'capabilities', this.#capabilities);
    const withDefaults = inside(body, 'defaults', (defaults) =>
      inside(defaults, 'responsibilities', this.#collectors),
    );
    return inside(withDefaults, 'configuration', (all) =>
      inside(inside(all, 'merchant', configuration), 'recipient', configuration),
    );
  }

  /** The same for a patch of a platform's settings. */
  takeInSettings(patch: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const capabilities = inside(patch, 'disabled_capabilities', this.#ids);
    const denied = inside(capabilities, 'platform_country_capabilities_denied', this.#keys);
    const defaults = inside(denied, 'default_responsibilities', this.#collectors);
    const combinations = inside(defaults, 'private_preview_combinations', (rows) =>
      Array.isArray(rows) ? rows.map(this.#values) : rows,
    );
    return combinations as Record<string, unknown>; // `inside` keeps an object one
  }

  /** The same for what an injected requirement restricts. */
  takeInRestricts(body: unknown): unknown {
    const restrict = (item: unknown): unknown =>
      inside(item, 'capability', (id) => (typeof id === 'string' ? this.#capability(id) : id));
    return inside(body, 'restricts', (items) =>
      Array.isArray(items) ? items.map(restrict) : items,
    );
  }

  /** An id of a capability, as `stripe_balance.payouts`. */
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

  /** `stripe_balance` as `vendor_balance`. */
  #name(name: string): string {
    for (const suffix of SUFFIXES) {
      if (name.endsWith(suffix) && this.#accepted.has(name.slice(0, -suffix.length))) {
        return `vendor${suffix}`;
      }
    }
    return name;
  }
}

/** The word alone, or as a part of a name that has one. */
const VENDOR_WORD = /(^|[^A-Za-z0-9]|_)vendor(?![A-Za-z0-9])/g;
const SUFFIXES = ['_balance', '_transfers'] as const;

/** `parent` with one member changed; anything that is no object stays as it is. */
function inside(parent: unknown, name: string, change: (value: unknown) => unknown): unknown {
  if (!isObject(parent) || !Object.hasOwn(parent, name)) return parent;
  const before = parent[name];
  const after = change(before);
  return after === before ? parent : { ...parent, [name]: after };
}
