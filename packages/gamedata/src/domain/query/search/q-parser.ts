import { gameDataError } from '../../../errors.js';

const OPERATORS = ['!=', '>=', '<=', ':', '=', '>', '<'] as const;
export type Operator = (typeof OPERATORS)[number];

export type QueryNode =
  | { readonly type: 'and' | 'or'; readonly parts: readonly QueryNode[] }
  | { readonly type: 'not'; readonly part: QueryNode }
  | {
      readonly type: 'field';
      readonly field: string;
      readonly operator: Operator;
      readonly value: string;
      readonly position: number;
    }
  | { readonly type: 'word'; readonly text: string }
  | { readonly type: 'fuzzy'; readonly text: string }
  | { readonly type: 'phrase'; readonly text: string };

const MAX_TERMS = 30;
const MAX_DEPTH = 5;

/**
 * Parses an expression of `q`. Throws `invalid_parameter` with the position. Source: gamedata,
 * section 2.8.
 */
export function parseQuery(text: string): QueryNode {
  return new Parser(text).parse();
}

class Parser {
  readonly #text: string;
  #at = 0;
  #termCount = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): QueryNode {
    const node = this.#or(0);
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#fail('unexpected )');
    return node;
  }

  #or(depth: number): QueryNode {
    const parts = [this.#and(depth)];
    while (this.#takeOr()) parts.push(this.#and(depth));
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : { type: 'or', parts };
  }

  #and(depth: number): QueryNode {
    const parts: QueryNode[] = [];
    for (;;) {
      this.#skipSpace();
      const char = this.#text[this.#at];
      if (char === undefined || char === ')' || this.#isOr()) break;
      parts.push(this.#unary(depth));
    }
    const [only] = parts;
    if (only === undefined) return this.#fail('expected a term');
    return parts.length === 1 ? only : { type: 'and', parts };
  }

  #unary(depth: number): QueryNode {
    if (this.#text[this.#at] !== '-') return this.#primary(depth);
    this.#at += 1;
    return { type: 'not', part: this.#primary(depth) };
  }

  #primary(depth: number): QueryNode {
    const char = this.#text[this.#at];
    if (char === '(') {
      if (depth === MAX_DEPTH)
        this.#fail(`parentheses are nested more than ${MAX_DEPTH} levels deep`);
      this.#at += 1;
      const node = this.#or(depth + 1);
      this.#skipSpace();
      if (this.#text[this.#at] !== ')') this.#fail('expected a closing parenthesis');
      this.#at += 1;
      return node;
    }
    this.#termCount += 1;
    if (this.#termCount > MAX_TERMS) this.#fail(`more than ${MAX_TERMS} terms`);
    if (char === '"') return { type: 'phrase', text: this.#quoted() };
    const position = this.#at;
    const name = this.#take(/[A-Za-z_][A-Za-z0-9_]*(?=[:=<>!])/y);
    if (name !== undefined) return this.#field(name, position);
    return this.#plainTerm();
  }

  #field(field: string, position: number): QueryNode {
    const operator = OPERATORS.find((candidate) => this.#text.startsWith(candidate, this.#at));
    if (operator === undefined) return this.#fail('expected an operator: : = != > >= < <=');
    this.#at += operator.length;
    const value = this.#text[this.#at] === '"' ? this.#quoted() : this.#take(/[^\s()"]+/y);
    if (value === undefined) return this.#fail(`${field} has no value`);
    return { type: 'field', field, operator, value, position };
  }

  #plainTerm(): QueryNode {
    const plainTerm = this.#take(/[^\s()"]+/y);
    if (plainTerm === undefined) return this.#fail('expected a word');
    if (plainTerm.endsWith('~') && plainTerm.length > 1)
      return { type: 'fuzzy', text: plainTerm.slice(0, -1) };
    if (plainTerm.endsWith('*') && plainTerm.length > 1)
      return { type: 'word', text: plainTerm.slice(0, -1) };
    return { type: 'word', text: plainTerm };
  }

  #quoted(): string {
    const end = this.#text.indexOf('"', this.#at + 1);
    if (end === -1) this.#fail('expected a closing quote');
    const inner = this.#text.slice(this.#at + 1, end);
    if (inner.trim() === '') this.#fail('the quotes are empty');
    this.#at = end + 1;
    return inner;
  }

  #isOr(): boolean {
    return /^OR(?=[\s()"]|$)/.test(this.#text.slice(this.#at, this.#at + 3));
  }

  #takeOr(): boolean {
    this.#skipSpace();
    if (!this.#isOr()) return false;
    this.#at += 2;
    return true;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #skipSpace(): void {
    this.#take(/\s+/y);
  }

  #fail(message: string): never {
    const position = this.#at;
    const text = `q, position ${position}: ${message}`;
    throw gameDataError('invalid_query', { param: 'q', position, message: text });
  }
}
