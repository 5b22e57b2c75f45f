import type { Clock } from '@plinth/kernel';
import type { Version } from '../model/edition.js';

/**
 * Omits a date in the future (RFC 9110, section 8.8.2.1), which a node with a fast clock may have
 * stored.
 */
export const lastModified = (
  { publishedMs }: Version,
  clock: Clock,
): { readonly 'last-modified'?: string } =>
  publishedMs > clock.nowMs() ? {} : { 'last-modified': new Date(publishedMs).toUTCString() };

/**
 * Returns the publication time, if no other version was published within the same second.
 * @param retained versions, oldest first; earlier ones are unknown.
 */
export function dateAlone(
  { version, publishedMs }: Version,
  retained: readonly Version[],
): number | undefined {
  const secondOf = (ms: number) => Math.floor(ms / 1000);
  const isAlone = retained.every(
    (other) => other.version === version || secondOf(other.publishedMs) !== secondOf(publishedMs),
  );
  const hasForgotten = version > 1 && version === retained[0]?.version;
  return isAlone && !hasForgotten ? publishedMs : undefined;
}
