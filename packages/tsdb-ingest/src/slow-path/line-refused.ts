import type { RefusalReason } from '@plinth/tsdb-model/refused-line.js';

/**
 * The reason why a line is rejected, with the documented message. Thrown and caught only inside the
 * parser. Intentionally not an `Error`: capturing a stack costs several times as much as parsing
 * the line, and a body may have millions.
 */
export class LineRefused {
  readonly kind = 'line_refused';
  readonly reason: Extract<RefusalReason, 'syntax' | 'limit'>;
  readonly #message: string | (() => string);

  /**
   * @param message or a function that builds it, if that is expensive: most rejected lines of a
   * body are only counted.
   */
  constructor(
    message: string | (() => string),
    { reason = 'syntax' }: Partial<Pick<LineRefused, 'reason'>> = {},
  ) {
    this.#message = message;
    this.reason = reason;
  }

  get message(): string {
    return typeof this.#message === 'string' ? this.#message : this.#message();
  }
}

/** A series of a line, unescaped. */
export interface SeriesText {
  readonly table: string;
  readonly tagKeys: readonly string[];
  readonly tagValues: readonly string[];
}

export type ParsedValue =
  | { readonly type: 'int64' | 'uint64'; readonly value: bigint }
  | { readonly type: 'float64'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'utf8'; readonly value: Uint8Array };

export interface LineField {
  readonly name: string;
  /** The name as written in the line, with its `=`; a view of the body. */
  readonly key: Uint8Array;
  readonly value: ParsedValue;
}
