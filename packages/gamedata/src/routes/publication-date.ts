import type { Clock } from '@plinth/kernel';
import type { Version } from '../model/edition.js';

/** None that lies in the future (RFC 9110, section 8.8.2.1): the clock of the node that published was ahead. */
export const lastModified = (
  { publishedMs }: Version,
  clock: Clock,
): { readonly 'last-modified'?: string } =>
  publishedMs > clock.nowMs() ? {} : { 'last-modified': new Date(publishedMs).toUTCString() };

/**
 * When the version was published, where the second says which of them it is.
 * @param kept oldest first; of what went before nothing is known.
 */
export function dateAlone(
  { version, publishedMs }: Version,
  kept: readonly Version[],
): number | undefined {
  const secondOf = (ms: number) => Math.floor(ms / 1000);
  const isAlone = kept.every(
    (other) => other.version === version || secondOf(other.publishedMs) !== secondOf(publishedMs),
  );
  const hasForgotten = version > 1 && version === kept[0]?.version;
  return isAlone && !hasForgotten ? publishedMs : undefined;
}
