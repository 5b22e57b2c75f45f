/** A range of a JSON text. */
export interface Piece {
  readonly start: number;
  readonly end: number;
}

/** The text is not JSON of the expected shape. */
export class PiecesBroken extends Error {
  override readonly name = 'PiecesBroken';
  readonly position: number;
  constructor(position: number, what: string) {
    super(`${what} at byte ${position}`);
    this.position = position;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

/**
 * Finds object members and array entries in a large JSON text without parsing it, so that it can be
 * parsed in pieces.
 * Checks only the structure; each piece is checked when it is parsed.
 */
export class JsonPieces {
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  whole(): Piece {
    return { start: 0, end: this.#bytes.length };
  }

  parse(piece: Piece): unknown {
    return JSON.parse(this.#bytes.toString('utf8', piece.start, piece.end));
  }

  isObject(piece: Piece): boolean {
    return this.#bytes[this.#skipSpace(piece.start)] === OPEN_BRACE;
  }

  isArray(piece: Piece): boolean {
    return this.#bytes[this.#skipSpace(piece.start)] === OPEN_BRACKET;
  }

  *members(piece: Piece): Generator<readonly [string, Piece]> {
    let at = this.#expect(piece.start, OPEN_BRACE, 'an object');
    at = this.#skipSpace(at);
    if (this.#bytes[at] === CLOSE_BRACE) return this.#end(at + 1, piece);
    for (;;) {
      const nameEnd = this.#skipString(this.#skipSpace(at));
      const name = String(this.parse({ start: this.#skipSpace(at), end: nameEnd }));
      const start = this.#skipSpace(this.#expect(nameEnd, COLON, 'a colon'));
      const end = this.#skipValue(start);
      yield [name, { start, end }];
      at = this.#skipSpace(end);
      if (this.#bytes[at] === CLOSE_BRACE) return this.#end(at + 1, piece);
      at = this.#expect(at, COMMA, 'a comma');
    }
  }

  *entries(piece: Piece): Generator<Piece> {
    let at = this.#skipSpace(this.#expect(piece.start, OPEN_BRACKET, 'an array'));
    if (this.#bytes[at] === CLOSE_BRACKET) return this.#end(at + 1, piece);
    for (;;) {
      const start = this.#skipSpace(at);
      const end = this.#skipValue(start);
      yield { start, end };
      at = this.#skipSpace(end);
      if (this.#bytes[at] === CLOSE_BRACKET) return this.#end(at + 1, piece);
      at = this.#expect(at, COMMA, 'a comma');
    }
  }

  /** Throws if text follows. */
  #end(at: number, piece: Piece): void {
    const rest = this.#skipSpace(at);
    if (rest < piece.end) throw new PiecesBroken(rest, 'unexpected text');
  }

  #skipValue(start: number): number {
    const bytes = this.#bytes;
    const first = bytes[start];
    if (first === QUOTE) return this.#skipString(start);
    if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return this.#skipPlain(start);
    let depth = 0;
    for (let at = start; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === QUOTE) at = this.#skipString(at) - 1;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        depth -= 1;
        if (depth === 0) return at + 1;
      }
    }
    throw new PiecesBroken(start, 'unterminated value');
  }

  #skipString(start: number): number {
    const bytes = this.#bytes;
    if (bytes[start] !== QUOTE) throw new PiecesBroken(start, 'expected a string');
    for (let at = start + 1; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) return at + 1;
    }
    throw new PiecesBroken(start, 'unterminated string');
  }

  /** Skips a number, `true`, `false` or `null`. */
  #skipPlain(start: number): number {
    const bytes = this.#bytes;
    let at = start;
    for (; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte <= 0x20) break;
    }
    if (at === start) throw new PiecesBroken(start, 'expected a value');
    return at;
  }

  #skipSpace(start: number): number {
    let at = start;
    while (at < this.#bytes.length && (this.#bytes[at] ?? 0) <= 0x20) at += 1;
    return at;
  }

  #expect(start: number, byte: number, what: string): number {
    const at = this.#skipSpace(start);
    if (this.#bytes[at] !== byte) throw new PiecesBroken(at, `expected ${what}`);
    return at + 1;
  }
}
