import type { OutputColumn, ResultChunk } from '../../model/columns/result.js';
import type { TextBytes } from './text-bytes.js';

/** What an encoder is told before the first row. */
export interface ResultHead {
  readonly columns: readonly OutputColumn[];
  readonly tableName: string | undefined;
}

/** Writes one result as text, piece by piece: `begin`, `chunk`..., `held`, `end`. Empty pieces are fine. */
export interface Encoder {
  begin(): void;
  /** Keeps nothing of the chunk but what it has made of it. */
  chunk(chunk: ResultChunk): void;
  /** Rows that could not be written before the last one was known, in short pieces. */
  held?(): Iterable<void>;
  end(): void;
}

export interface TextFormat {
  readonly contentType: string;
  open(head: ResultHead, out: TextBytes): Encoder;
}
