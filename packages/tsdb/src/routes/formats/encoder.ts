import type { OutputColumn, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import type { TextBytes } from './text-bytes.js';

/** Properties of a result that are known before its first row. */
export interface ResultHead {
  readonly columns: readonly OutputColumn[];
  readonly tableName: string | undefined;
}

/**
 * Writes one result as text, piece by piece. The calls are `begin`, `chunk` for each chunk,
 * `deferredRows`, `end`. Pieces may be empty.
 */
export interface Encoder {
  begin(): void;
  /**
   * Writes a chunk immediately, or returns the steps for chunks with nested values, which can be as
   * large as a table. Does not keep the chunk. The caller may take the written bytes between two
   * steps.
   */
  chunk(chunk: ResultChunk): Steps<void> | undefined;
  /** Writes rows that had to wait for the last row, in short pieces. */
  deferredRows?(): Iterable<void>;
  end(): void;
}

export interface TextFormat {
  readonly contentType: string;
  open(head: ResultHead, out: TextBytes): Encoder;
}
