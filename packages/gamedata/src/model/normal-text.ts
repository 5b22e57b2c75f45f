/** Text as it is compared: without marks and case, with single spaces. Source: gamedata, section 2.8. */
export function normalText(text: string): string {
  // Most text is ASCII, where decomposing changes nothing.
  const plain = /^[\x20-\x7e]*$/.test(text) ? text : text.normalize('NFKD').replace(/\p{M}/gu, '');
  return plain.toLowerCase().replace(/\s+/g, ' ').trim();
}

/** Words of normalised text. */
export function tokensOf(normal: string): readonly string[] {
  return normal.match(/[\p{L}\p{N}]+/gu) ?? [];
}

const MAX_SLUG_LENGTH = 80;

/** Kebab-case of a name; empty when nothing of it can stand in a path. */
export function slugOf(name: string): string {
  const slug = normalText(name)
    .replace(/['’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return slug.slice(0, MAX_SLUG_LENGTH).replace(/-+$/, '');
}

/** `slug`, or with the first free suffix from `-2` on. */
export function freeSlug(slug: string, isTaken: (slug: string) => boolean): string {
  if (!isTaken(slug)) return slug;
  let n = 2;
  while (isTaken(numberedSlug(slug, n))) n += 1;
  return numberedSlug(slug, n);
}

export const numberedSlug = (slug: string, n: number): string =>
  `${slug.slice(0, MAX_SLUG_LENGTH - `-${n}`.length)}-${n}`;

/** Order of text everywhere: by code point, so that it is the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
