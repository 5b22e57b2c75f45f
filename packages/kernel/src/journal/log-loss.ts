export interface LogFile {
  readonly file: number;
  readonly path: string;
  readonly sizeBytes: number;
  /** Sequence number of its first record. */
  readonly firstSequence: number;
}

/**
 * What recovery took away, or found to be gone. `tail_cut`: never acknowledged, or it could not be told; `tail_cleared`: bytes of no
 * record behind the last one; `moved_aside`: by repair; `missing`: `file`, or records before it or at its end, which repair goes on
 * without; `catalog_older`: `file` was written after the catalog that repair goes on with.
 */
export interface LogLoss {
  readonly kind: 'tail_cut' | 'tail_cleared' | 'moved_aside' | 'missing' | 'catalog_older';
  readonly file: string;
  readonly offset: number;
  readonly lostBytes: number;
  /** Where it can be told by their numbers. */
  readonly lostRecordCount?: number;
  /** Intact records behind the first damage. */
  readonly keptRecordCount?: number;
  /** When the records around what is lost were written, as far as they say: ISO 8601. */
  readonly writtenAfter?: string;
  readonly writtenBefore?: string;
}
