import { fileLimit } from '@plinth/kernel';

const MOST = 16_384;
/** Files that the server itself may need at a time: log, segments, stores, code that is loaded late. */
const LEAST_FILES_LEFT = 192;
const SHARE_OF_FILES_LEFT = 0.25;
const LEAST = 16;

/**
 * Open connections of all addresses together; more are closed at once, so that file descriptors are left for the disk.
 * @param limits of the process as Linux tells them; where what it may open is not known, it is taken to be enough.
 */
export function maxConnections(limits?: string): number {
  const soft = fileLimit(limits);
  if (soft === undefined) return MOST;
  const left = Math.max(LEAST_FILES_LEFT, Math.ceil(soft * SHARE_OF_FILES_LEFT));
  return Math.min(MOST, Math.max(LEAST, soft - left));
}
