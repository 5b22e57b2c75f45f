/** Limits of a JSON text, checked before parsing. */
export interface JsonBounds {
  /** The nesting depth of lists and objects. */
  readonly maxDepth?: number;
  /** List items and object members, in total over all depths. */
  readonly maxValueCount?: number;
}

/** The text exceeds the limits. The message ends like a parser error, so that the same handlers apply. */
export class JsonExcessive extends Error {
  override readonly name = 'JsonExcessive';
  readonly kind = 'json_excessive';
  readonly reason: 'too_deep' | 'too_many_values';
  constructor(reason: 'too_deep' | 'too_many_values', limit: number) {
    super(
      reason === 'too_deep'
        ? `nested deeper than ${limit} levels`
        : `more than ${limit} members and items`,
    );
    this.reason = reason;
  }
}

/** The limit of Rust's `serde_json`, above the 100 levels of Ruby's parser. */
const MAX_DEPTH = 127;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Rejects a text that would block the parser: a megabyte of brackets takes 75 ms, and walking the result needs an equally
 * deep stack. Looks only at brackets, commas and strings; invalid JSON is left to the parser. Usually takes a small part
 * of the parsing time (up to the same time for text with mostly escapes or empty strings), and stops at the first bracket
 * or comma above the limit.
 * Throws `JsonExcessive`.
 */
export function refuseExcessiveJson(
  bytes: Uint8Array,
  { maxDepth = MAX_DEPTH, maxValueCount = Number.POSITIVE_INFINITY }: JsonBounds = {},
): void {
  let depth = 0;
  let count = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfString(bytes, at);
        break;
      case COMMA:
        if (++count > maxValueCount) throw new JsonExcessive('too_many_values', maxValueCount);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        if (++depth > maxDepth) throw new JsonExcessive('too_deep', maxDepth);
        if (++count > maxValueCount) throw new JsonExcessive('too_many_values', maxValueCount);
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        break;
    }
  }
}

/** Returns the position of the closing quote, or the length of the text without one. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let from = start + 1; ; ) {
    const end = bytes.indexOf(QUOTE, from);
    if (end < 0) return bytes.length;
    let before = end - 1;
    while (before > start && bytes[before] === BACKSLASH) before -= 1;
    // An even number of backslashes does not escape the quote.
    if ((end - before) % 2 === 1) return end;
    from = end + 1;
  }
}
