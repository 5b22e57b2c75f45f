import type { RegexLiteral } from '../ast/expressions.js';
import type { ParseError } from './parse-error.js';
import { wordOf } from './parse-expr.js';
import { type BoundTokens, Scanner } from './scanner.js';
import type { Token } from './token.js';

/** Token access for the statement parsers. */
export class TokenStream {
  readonly scanner: Scanner;

  constructor(text: string, bound?: BoundTokens) {
    this.scanner = new Scanner(text, bound);
  }

  peek(): Token {
    return this.scanner.peek();
  }

  next(): Token {
    return this.scanner.next();
  }

  failHere(message: string): ParseError {
    return this.scanner.fail(message, this.peek().at);
  }

  isKeyword(...texts: readonly string[]): boolean {
    const token = this.peek();
    return token.kind === 'keyword' && texts.includes(token.text);
  }

  takeKeyword(text: string): boolean {
    if (!this.isKeyword(text)) return false;
    this.next();
    return true;
  }

  /** Consumes a keyword. Throws `ParseError` with `message` if another token follows. */
  expectKeyword(text: string, message: string): void {
    if (!this.takeKeyword(text)) throw this.failHere(message);
  }

  takeSymbol(text: string): boolean {
    const token = this.peek();
    if (token.kind !== 'symbol' || token.text !== text) return false;
    this.next();
    return true;
  }

  expectSymbol(text: string, message: string): void {
    if (!this.takeSymbol(text)) throw this.failHere(message);
  }

  /** Returns whether the next token is this non-keyword in any case: `fill`, `time`, `tz`. */
  isWord(text: string): boolean {
    const token = this.peek();
    return token.kind === 'name' && !token.isQuoted && token.text.toLowerCase() === text;
  }

  takeWord(text: string): boolean {
    if (!this.isWord(text)) return false;
    this.next();
    return true;
  }

  /** Returns the next word in lower case, keyword or not. */
  word(): string {
    return wordOf(this.peek()).toLowerCase();
  }

  name(message: string): string {
    const token = this.peek();
    if (token.kind !== 'name') throw this.failHere(message);
    this.next();
    return token.text;
  }

  /** Creates the error for text that is not a known statement. */
  unknownStatement(at: number = this.peek().at): ParseError {
    const rest = this.scanner.textFrom(at).slice(0, 60);
    return this.scanner.fail(
      'invalid InfluxQL statement',
      at,
      `. Parsing Error: Nom(${JSON.stringify(rest)}, Tag)`,
    );
  }

  regex(): RegexLiteral | undefined {
    const source = this.scanner.regex();
    return source === undefined ? undefined : { kind: 'regex', source };
  }

  count(message: string): number {
    const token = this.peek();
    if (token.kind !== 'integer' || token.value > BigInt(Number.MAX_SAFE_INTEGER)) {
      throw this.failHere(message);
    }
    this.next();
    return Number(token.value);
  }

  duration(message: string): bigint {
    const token = this.peek();
    if (token.kind === 'duration') {
      this.next();
      return token.ns;
    }
    if (token.kind === 'keyword' && token.text === 'INF') {
      this.next();
      return 0n;
    }
    if (token.kind === 'integer' && token.value === 0n) {
      this.next();
      return 0n;
    }
    throw this.failHere(message);
  }
}
