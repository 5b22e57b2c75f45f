import type { LogEnd } from '../log-checkpoint.js';
import type { CheckedFile } from './log-file-check.js';

/**
 * Classification of the bytes after the last good record of a file.
 * - `intact`: there are none.
 * - `torn`: an incomplete write, which was not acknowledged unless the disk lost a part of it.
 * - `unacknowledged`: a write that was certainly never acknowledged.
 * - `remnant`: no part of a record.
 * - `damaged`: corrupt records.
 */
export type FileVerdict =
  | { readonly kind: 'intact' | 'torn' | 'unacknowledged' | 'remnant' }
  | { readonly kind: 'damaged'; readonly why: string };

export interface VerdictContext {
  /** Only the last file can end with an incomplete write. */
  readonly isLast: boolean;
  /** The end of the records at the last clean shutdown, if this is the last file. */
  readonly end: LogEnd | undefined;
}

export function verdictOf(checked: CheckedFile, context: VerdictContext): FileVerdict {
  if (checked.isHeaderIntact && checked.goodBytes === checked.sizeBytes) return { kind: 'intact' };
  const evidence = evidenceOfDamage(checked, context);
  if (evidence !== undefined) {
    const what = checked.isHeaderIntact ? 'record' : 'file header';
    return { kind: 'damaged', why: `invalid ${what} ${evidence}` };
  }
  if (checked.isUnacknowledged) return { kind: 'unacknowledged' };
  return { kind: checked.isRemnant ? 'remnant' : 'torn' };
}

/** Returns why the bytes cannot be an incomplete write; `undefined` if they can. */
function evidenceOfDamage(
  checked: CheckedFile,
  { isLast, end }: VerdictContext,
): string | undefined {
  if (!isLast) return 'in a file before the last one';
  const isShort = end !== undefined && checked.nextSequence < end.sequence;
  if (isShort || checked.endMark === 'stop') return 'before the end recorded at a clean stop';
  if (checked.endMark === 'sync') return 'that was synced: its rows were acknowledged';
  if (checked.isFollowed) return 'before valid records';
  return checked.isWritten
    ? 'whose bytes were all written: it is corrupt, not incomplete'
    : undefined;
}
