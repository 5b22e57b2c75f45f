import { readFileSync } from 'node:fs';

const MOST = 16_384;
/** Files that the server itself may need at a time: log, segments, stores, code that is loaded late. */
const LEAST_FILES_LEFT = 192;
const SHARE_OF_FILES_LEFT = 0.25;
const LEAST = 16;

/**
 * Open connections of all addresses together; more are closed at once, so that file descriptors are left for the disk.
 * @param limits of the process as Linux tells them; elsewhere what it may open is not known, and taken to be enough.
 */
export function maxConnections(limits: string | undefined = limitsOfProcess()): number {
  const [, soft] = /^Max open files +(\d+)/m.exec(limits ?? '') ?? [];
  if (soft === undefined) return MOST;
  const left = Math.max(LEAST_FILES_LEFT, Math.ceil(Number(soft) * SHARE_OF_FILES_LEFT));
  return Math.min(MOST, Math.max(LEAST, Number(soft) - left));
}

function limitsOfProcess(): string | undefined {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return undefined;
  }
}
