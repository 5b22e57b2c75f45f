import type { OutputColumn, ResultChunk } from '../../model/result.js';

/** What an encoder is told before the first row. */
export interface ResultHead {
  readonly columns: readonly OutputColumn[];
  readonly tableName: string | undefined;
}

/** Turns one result into text, piece by piece: `begin`, `chunk`..., `held`, `end`. Empty pieces are fine. */
export interface Encoder {
  begin(): string;
  chunk(chunk: ResultChunk): string;
  /** Rows that could not be written before the last one was known, in short pieces. */
  held?(): Iterable<string>;
  end(): string;
}

export interface TextFormat {
  readonly contentType: string;
  open(head: ResultHead): Encoder;
}
