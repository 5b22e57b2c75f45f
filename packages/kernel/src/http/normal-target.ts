const ORIGIN = /^https?:\/\/[^/?#]*/i;
const PERCENT_ENCODED = /%([0-9A-Fa-f]{2})/g;
const UNRESERVED = /[A-Za-z0-9\-._~]/;

/**
 * Returns the normal form of a request target: only path and query (RFC 9112, section 3.2.2), without a fragment, and
 * with decoded unreserved characters in the path (RFC 3986, section 6.2.2). Routes consist only of unreserved
 * characters, so string comparison and decoding see the same path.
 */
export function normalTarget(target: string): string {
  let rest = target;
  if (!target.startsWith('/')) {
    rest = target.replace(ORIGIN, '');
    if (rest !== target && !rest.startsWith('/')) rest = `/${rest}`;
  }
  const fragment = rest.indexOf('#');
  if (fragment !== -1) rest = rest.slice(0, fragment);
  const percent = rest.indexOf('%');
  if (percent === -1) return rest;
  const query = rest.indexOf('?');
  if (query === -1) return normalPath(rest);
  return percent > query ? rest : normalPath(rest.slice(0, query)) + rest.slice(query);
}

function normalPath(path: string): string {
  return path.replace(PERCENT_ENCODED, (encoded, hex: string) => {
    const char = String.fromCharCode(Number.parseInt(hex, 16));
    return UNRESERVED.test(char) ? char : encoded.toUpperCase();
  });
}
