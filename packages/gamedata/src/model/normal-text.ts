/**
 * Normalizes text for comparison: lowercase, without diacritics, with single spaces. Source:
 * gamedata, section 2.8.
 */
export function normalText(text: string): string {
  // Decomposition does not change ASCII, which most text is.
  const plain = /^[\x20-\x7e]*$/.test(text) ? text : text.normalize('NFKD').replace(/\p{M}/gu, '');
  return plain.toLowerCase().replace(/\s+/g, ' ').trim();
}

/** Splits normalized text into words. */
export function tokensOf(normal: string): readonly string[] {
  return normal.match(/[\p{L}\p{N}]+/gu) ?? [];
}

const MAX_SLUG_LENGTH = 80;

/** Returns the kebab-case form of a name; empty if no character is allowed in a path. */
export function slugOf(name: string): string {
  const slug = normalText(name)
    .replace(/['’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return slug.slice(0, MAX_SLUG_LENGTH).replace(/-+$/, '');
}

/** Returns `slug`, or the first unused form with a numeric suffix, starting at `-2`. */
export function freeSlug(slug: string, isTaken: (slug: string) => boolean): string {
  if (!isTaken(slug)) return slug;
  let n = 2;
  while (isTaken(numberedSlug(slug, n))) n += 1;
  return numberedSlug(slug, n);
}

export const numberedSlug = (slug: string, n: number): string =>
  `${slug.slice(0, MAX_SLUG_LENGTH - `-${n}`.length)}-${n}`;

/** Orders text by code point, so that the order is the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
