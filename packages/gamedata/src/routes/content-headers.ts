import type { HeaderList } from '@plinth/kernel';

export const JSON_TYPE = 'application/json; charset=utf-8';
export const IMMUTABLE = 'public, max-age=31536000, immutable';
export const CACHE_404 = 'public, max-age=10';
export const NOT_STORED: HeaderList = [['cache-control', 'no-store']];

export function cacheFor(maxAgeSec: number): string {
  return `public, max-age=${maxAgeSec}, stale-while-revalidate=600, stale-if-error=86400`;
}
