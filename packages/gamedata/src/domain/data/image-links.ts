/** Path under which this server serves images. */
export const IMAGES_PATH = '/images/';

/** Maps a stored image to the link in responses. */
export type ImageLink = (stored: string) => string | null;

/**
 * Returns a function that resolves image links: `https:` URLs stay unchanged, and relative ones are
 * resolved below `base`.
 * Without a base they become paths of this server, if the file exists.
 * @param base empty, or a URL without a trailing slash.
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

/**
 * Normalizes `images/items/a.webp`, `/images/items/a.webp` and `items/a.webp` to one name. Returns
 * `undefined` for a path outside the folder.
 */
function nameOf(stored: string): string | undefined {
  const [path = ''] = stored.split(/[?#]/, 1);
  const bare = path.replace(/^(?:\.?\/)+/, '').replace(/^images\//, '');
  try {
    const name = decodeURIComponent(bare);
    const isInside = name.split('/').every((part) => !/^\.{0,2}$/.test(part));
    return isInside && !/[\0\\]/.test(name) ? name : undefined;
  } catch {
    return undefined; // invalid percent-encoding
  }
}
