import { normalTarget, pathOf } from '@plinth/kernel';

/** What has no path of its own, or one that cannot be read. */
export const ANY_ENDPOINT = '*';

const MAX_LENGTH = 256;

/**
 * The name under which points of a request to another system or application are counted. Whatever it may take for the same path is one
 * endpoint: encodings are decoded, dot segments resolved (RFC 3986, section 5.2.4), empty segments left out.
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
