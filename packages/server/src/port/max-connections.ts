import { fileLimit } from '@plinth/kernel';

const MOST = 16_384;
/** File descriptors reserved for the server itself: log, segments, stores, lazily loaded code. */
const LEAST_FILES_LEFT = 192;
const SHARE_OF_FILES_LEFT = 0.25;
const LEAST = 16;

/**
 * Maximum number of open connections in total, which leaves file descriptors for the disk. Further connections are
 * closed immediately.
 * @param limits contents of `/proc/self/limits`; an unknown limit counts as sufficient.
 */
export function maxConnections(limits?: string): number {
  const soft = fileLimit(limits);
  if (soft === undefined) return MOST;
  const left = Math.max(LEAST_FILES_LEFT, Math.ceil(soft * SHARE_OF_FILES_LEFT));
  return Math.min(MOST, Math.max(LEAST, soft - left));
}
