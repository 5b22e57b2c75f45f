/** Longest name, tag value or string value. */
export const MAX_TEXT_BYTES = 1_048_576;

/**
 * Why a line is refused; the message is the documented text. Thrown and caught inside the parser only. It is no
 * `Error` on purpose: capturing a stack costs several times what reading the line does, and a body may hold millions.
 */
export class LineRefused {
  readonly kind = 'line_refused';
  /** True when a limit, not the text of the line, refused it. */
  readonly isLimit: boolean;
  readonly #message: string | (() => string);

  /** @param message or what makes it, where that costs something: most of a body's refused lines are only counted. */
  constructor(message: string | (() => string), { isLimit = false } = {}) {
    this.#message = message;
    this.isLimit = isLimit;
  }

  get message(): string {
    return typeof this.#message === 'string' ? this.#message : this.#message();
  }
}

/** A series as the line spells it, unescaped. */
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

export interface ParsedField {
  readonly name: string;
  /** The name as the line spells it, with its `=`; a view of the body. */
  readonly key: Uint8Array;
  readonly value: ParsedValue;
}
