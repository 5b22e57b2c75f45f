import { normalTarget, pathOf } from '@plinth/kernel';

/** Endpoint of requests without a valid path. */
export const ANY_ENDPOINT = '*';

const MAX_LENGTH = 256;

/**
 * Returns the endpoint to which a request to another system or application is charged.
 * All forms of a path that the other system may treat as equal map to one endpoint.
 * Percent-encodings are decoded, dot segments resolved (RFC 3986, section 5.2.4) and empty segments
 * removed.
 */
export function endpointOf(target: string): string {
  const path = decoded(pathOf(normalTarget(target)));
  if (!path?.startsWith('/')) return ANY_ENDPOINT;
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return `/${segments.join('/')}`.slice(0, MAX_LENGTH);
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
