import { numberedSlug } from '../../model/normal-text.js';

/**
 * Assigns slugs to many records. Returns the same slug as `freeSlug`, without checking a used slug
 * twice.
 */
export class SlugOwners {
  readonly #owners: Map<string, string>;
  /**
   * Next number to try, by slug and digit count. All lower numbers are used, since slugs are never
   * released.
   */
  readonly #next = new Map<string, number>();

  constructor(rows: readonly { readonly id: string; readonly slug: string }[]) {
    this.#owners = new Map(rows.map(({ id, slug }) => [slug, id]));
  }

  has(slug: string): boolean {
    return this.#owners.has(slug);
  }

  /** @param had previous slug of the record, which the record may keep. */
  take(id: string, preferred: string, had: string | undefined): string {
    const slug = this.#isTaken(id, preferred) ? this.#numbered(id, preferred, had) : preferred;
    this.#owners.set(slug, id);
    return slug;
  }

  #isTaken(id: string, slug: string): boolean {
    return (this.#owners.get(slug) ?? id) !== id;
  }

  #numbered(id: string, preferred: string, had: string | undefined): string {
    const own = Number(/-(\d+)$/.exec(had ?? '')?.[1]);
    for (let first = 2, beyond = 10; ; first = beyond, beyond *= 10) {
      // Long slugs that differ only at their end share these numbered forms.
      const shared = numberedSlug(preferred, first);
      const next = this.#next.get(shared) ?? first;
      const keepsOwn = own >= first && own < next && numberedSlug(preferred, own) === had;
      if (keepsOwn && !this.#isTaken(id, had)) return had;
      let n = next;
      while (n < beyond && this.#isTaken(id, numberedSlug(preferred, n))) n += 1;
      this.#next.set(shared, n);
      if (n < beyond) return numberedSlug(preferred, n);
    }
  }
}
