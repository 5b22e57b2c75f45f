import { fileLimit, type Logger } from '@plinth/kernel';

const MOST = 16_384;
/** File descriptors reserved for the server itself: log, segments, stores, lazily loaded code. */
const LEAST_FILES_LEFT = 192;
const SHARE_OF_FILES_LEFT = 0.25;
const LEAST = 16;
/** Below this limit, connections and segments compete for file descriptors (docs/SIZING.md). */
const NEEDED_FILE_LIMIT = 1024;

/**
 * Returns the maximum number of open connections in total, which leaves file descriptors for the disk. Further
 * connections are closed immediately.
 * @param limits contents of `/proc/self/limits`; an unknown limit counts as sufficient.
 */
export function maxConnections(limits?: string): number {
  const soft = fileLimit(limits);
  if (soft === undefined) return MOST;
  const left = Math.max(LEAST_FILES_LEFT, Math.ceil(soft * SHARE_OF_FILES_LEFT));
  return Math.min(MOST, Math.max(LEAST, soft - left));
}

/** @param limits see `maxConnections`. */
export function warnOfFewFiles(log: Logger, limits?: string): void {
  const limit = fileLimit(limits);
  if (limit === undefined || limit >= NEEDED_FILE_LIMIT) return;
  log.warn(
    {
      fileLimit: limit,
      neededFileLimit: NEEDED_FILE_LIMIT,
      maxConnections: maxConnections(limits),
    },
    'low limit of open files: the server refuses connections above maxConnections, and writes may fail; raise the limit (ulimit -n, LimitNOFILE=)',
  );
}
