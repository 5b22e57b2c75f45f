/** What a JSON text may be before it is parsed. */
export interface JsonBounds {
  /** Lists and objects within each other. */
  readonly maxDepth?: number;
  /** Items of lists and members of objects, at all depths together. */
  readonly maxValueCount?: number;
}

/**
 * The text asks for more than any request needs. Its message ends like those of a parser, so that whoever answers what
 * a parser says can answer this.
 */
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

/** As deep as Rust's `serde_json` goes, and deeper than the 100 levels of Ruby's parser. */
const MAX_DEPTH = 127;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Refuses a text that the parser would hold up everybody else with: a megabyte of brackets takes it 75 ms, and whoever
 * walks over the result needs a stack as deep. Looks at brackets, commas and strings only; what is no JSON is left to
 * the parser. Usually takes a small part of the parser's time (as much where a text is little but escapes or empty
 * strings), and stops at the first bracket or comma too many.
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

/** Where the closing quote stands; past the end when there is none. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let from = start + 1; ; ) {
    const end = bytes.indexOf(QUOTE, from);
    if (end < 0) return bytes.length;
    let before = end - 1;
    while (before > start && bytes[before] === BACKSLASH) before -= 1;
    // An even number of backslashes stands for themselves.
    if ((end - before) % 2 === 1) return end;
    from = end + 1;
  }
}
