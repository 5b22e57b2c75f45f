/** Clients and proxies have room for 8 kB of headers, some for 4. */
const MAX_LENGTH = 4096;

/**
 * The header `Link`. Addresses repeat what the client has sent: where all of them are too long the one to the next page stays,
 * or none. @returns `undefined`: nothing can be said.
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
