import type { OutputColumn, ResultChunk } from '../../model/columns/result.js';
import type { Steps } from '../../model/time-sliced-task.js';
import type { TextBytes } from './text-bytes.js';

/** What an encoder is told before the first row. */
export interface ResultHead {
  readonly columns: readonly OutputColumn[];
  readonly tableName: string | undefined;
}

/** Writes one result as text, piece by piece: `begin`, `chunk`..., `held`, `end`. Empty pieces are fine. */
export interface Encoder {
  begin(): void;
  /**
   * Writes it at once, or returns the steps in which it does: chunks with nested values, of which one may be as large as a
   * table. Keeps nothing of the chunk but what it has made of it. What was written may be taken between two steps.
   */
  chunk(chunk: ResultChunk): Steps<void> | undefined;
  /** Rows that could not be written before the last one was known, in short pieces. */
  held?(): Iterable<void>;
  end(): void;
}

export interface TextFormat {
  readonly contentType: string;
  open(head: ResultHead, out: TextBytes): Encoder;
}
