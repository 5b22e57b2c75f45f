import type { DomainError } from '../../errors/domain-error.js';
import { logError } from '../log-errors.js';
import type { FileHeader } from '../log-format.js';

/** Returns why an intact file cannot belong to this log: another process or an earlier run wrote it. */
export function foreignReason(
  header: FileHeader | undefined,
  log: { readonly nextSequence: number | undefined; readonly ownId: string | undefined },
): string | undefined {
  if (header === undefined) return undefined;
  const { nodeId, firstSequence } = header;
  if (log.nextSequence !== undefined && firstSequence < log.nextSequence) {
    return `its first record has number ${firstSequence} instead of ${log.nextSequence}: another process wrote it, or it is from another time`;
  }
  if (log.ownId !== undefined && nodeId !== log.ownId) {
    return `it was written by another server (${nodeId})`;
  }
  return undefined;
}

export const missingBefore = (path: string, count: number): DomainError =>
  logError('log_damaged', {
    file: path,
    offset: 0,
    why: `records missing before this file: ${count}`,
  });

export const IS_DIRECTORY =
  'it is a directory, which the server never creates. Move it away, and restore the file from a copy if one exists';

export const STORE_OLDER =
  'it was written after plinth.db, which is an older copy: tables, deletions, accounts and tokens since then are missing. Restore the newer plinth.db or a backup; --repair continues with the older one';
