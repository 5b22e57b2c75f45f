export const MAX_DESCRIBED_COUNT = 20;

export interface LogFile {
  readonly file: number;
  readonly path: string;
  readonly sizeBytes: number;
  /** Sequence number of its first record. */
  readonly firstSequence: number;
}

/**
 * Records or bytes that recovery removed or found missing.
 * - `tail_cut`: the last record, incomplete or corrupt. Recovery cannot determine whether it was acknowledged.
 * - `tail_unacknowledged`: bytes of a write that was never acknowledged.
 * - `tail_cleared`: bytes after the last record that belong to no record.
 * - `moved_aside`: quarantined by a repair.
 * - `missing`: `file`, or records before it or at its end; the repair continues without them.
 * - `store_older`: `file` is newer than the relational store with which the repair continues.
 */
export interface LogLoss {
  readonly kind:
    | 'tail_cut'
    | 'tail_unacknowledged'
    | 'tail_cleared'
    | 'moved_aside'
    | 'missing'
    | 'store_older';
  readonly file: string;
  readonly offset: number;
  readonly lostBytes: number;
  /** Set if it can be derived from the record numbers. */
  readonly lostRecordCount?: number;
  /** Number of intact records after the first damage. */
  readonly keptRecordCount?: number;
  /** Times at which the records around the loss were written (ISO 8601), if their payloads contain timestamps. */
  readonly writtenAfter?: string;
  readonly writtenBefore?: string;
  /** Descriptions of lost records whose headers are intact, at most `MAX_DESCRIBED_COUNT`. */
  readonly lostContent?: readonly string[];
  /** The file that contains the removed bytes. */
  readonly quarantined?: string;
}
