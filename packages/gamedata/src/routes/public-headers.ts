/** Headers that the browser shows to a page of another origin. Source: gamedata, section 2.12. */
const EXPOSED =
  'ETag, Link, X-Total-Count, X-Data-Version, X-Ignored-Params, Retry-After, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-used, x-ratelimit-reset, x-ratelimit-resource';

/** On every public reply, also on refusals. */
export function publicHeaders(withCors: boolean): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'cross-origin',
    ...(withCors && {
      'access-control-allow-origin': '*',
      'access-control-expose-headers': EXPOSED,
    }),
  };
}

export const JSON_TYPE = 'application/json; charset=utf-8';
export const IMMUTABLE = 'public, max-age=31536000, immutable';
export const CACHE_404 = 'public, max-age=10';

export function cacheFor(maxAgeSec: number): string {
  return `public, max-age=${maxAgeSec}, stale-while-revalidate=600, stale-if-error=86400`;
}
