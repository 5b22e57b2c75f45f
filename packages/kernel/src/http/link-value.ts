/** Clients and proxies limit all headers to 8 kB, some to 4 kB. */
const MAX_LENGTH = 4096;

/**
 * Returns the value of the `Link` header. Addresses repeat the client's query, so they can be too long. Then only the
 * link to the next page is kept, or none. @returns `undefined` when no link fits.
 */
export function linkValue(
  links: readonly (readonly [rel: string, href: string])[],
): string | undefined {
  for (const some of [links, links.filter(([rel]) => rel === 'next')]) {
    const value = some.map(([rel, href]) => `<${href}>; rel="${rel}"`).join(', ');
    if (value !== '' && value.length <= MAX_LENGTH) return value;
  }
  return undefined;
}
