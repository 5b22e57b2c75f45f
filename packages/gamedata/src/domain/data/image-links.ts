/** Where images are served by this server. */
export const IMAGES_PATH = '/images/';

/** What a record says of its image, as its readers get it. */
export type ImageLink = (stored: string) => string | null;

/**
 * Links that lead somewhere: `https:` stays, and what is relative is below `base` or, without one, a path of this server if
 * the file is there.
 * @param base the empty text, or a URL without a slash at its end.
 */
export function imageLinks(base: string, hasFile: (name: string) => boolean): ImageLink {
  return (stored) => {
    if (/^https:/i.test(stored)) return stored;
    const name = nameOf(stored);
    if (name === undefined) return null;
    const link = name.split('/').map(encodeURIComponent).join('/');
    if (base !== '') return `${base}/${link}`;
    return hasFile(name) ? IMAGES_PATH + link : null;
  };
}

/** `images/items/a.webp`, `/images/items/a.webp` and `items/a.webp` are one file; what would lead out is none. */
function nameOf(stored: string): string | undefined {
  const [path = ''] = stored.split(/[?#]/, 1);
  const bare = path.replace(/^(?:\.?\/)+/, '').replace(/^images\//, '');
  try {
    const name = decodeURIComponent(bare);
    const isInside = name.split('/').every((part) => !/^\.{0,2}$/.test(part));
    return isInside && !/[\0\\]/.test(name) ? name : undefined;
  } catch {
    return undefined; // broken percent-encoding
  }
}
