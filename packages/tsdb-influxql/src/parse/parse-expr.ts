import { MAX_INT64 } from '@plinth/tsdb-model/columns/int64.js';
import type { BinaryOperator, CastType, Expr } from '../ast/expressions.js';
import type { Scanner } from './scanner.js';
import type { Token } from './token.js';

const MAX_DEPTH = 200;
/**
 * Maximum number of chained operators without parentheses. AND and OR are exempt because their
 * trees are kept flat.
 */
const MAX_CHAIN = 2000;

const ARITHMETIC: ReadonlyMap<string, number> = new Map([
  ['+', 1],
  ['-', 1],
  ['|', 1],
  ['^', 1],
  ['*', 2],
  ['/', 2],
  ['&', 2],
  ['%', 2],
]);
export const COMPARISONS: ReadonlySet<string> = new Set(['=', '!=', '<', '<=', '>', '>=']);
const CASTS: ReadonlySet<string> = new Set([
  'float',
  'integer',
  'unsigned',
  'string',
  'boolean',
  'tag',
  'field',
]);
const BAD_CAST =
  'invalid data type for tag or field reference, expected float, integer, unsigned, string, boolean, field, tag';

/**
 * Position of an expression, which determines the allowed syntax. Source: query-languages,
 * "Projection expressions".
 */
export type Place = 'projection' | 'condition' | 'offset';

/**
 * Parses expressions: a Pratt parser for arithmetic, and comparisons with AND and OR in conditions.
 */
export class ExprParser {
  readonly #scanner: Scanner;
  #depth = 0;

  constructor(scanner: Scanner) {
    this.#scanner = scanner;
  }

  condition(): Expr {
    return this.#chain('OR', () => this.#chain('AND', () => this.#comparison()));
  }

  arithmetic(place: Place, minPrecedence = 1): Expr {
    let left = this.#operand(place);
    for (let count = 0; ; count++) {
      const token = this.#scanner.peek();
      const precedence = token.kind === 'symbol' ? ARITHMETIC.get(token.text) : undefined;
      if (precedence === undefined || precedence < minPrecedence) return left;
      if (count === MAX_CHAIN)
        throw this.#scanner.fail(`the expression has more than ${MAX_CHAIN} operators`, token.at);
      this.#scanner.next();
      const op = (token as Token & { text: string }).text as BinaryOperator; // a symbol of ARITHMETIC
      left = { kind: 'binary', op, left, right: this.arithmetic(place, precedence + 1) };
    }
  }

  /** Parses operands of one logical operator into a balanced tree of low depth. */
  #chain(op: 'AND' | 'OR', operand: () => Expr): Expr {
    const operands = [operand()];
    while (this.#isKeyword(op)) {
      this.#scanner.next();
      operands.push(operand());
    }
    return balanced(op, operands);
  }

  #comparison(): Expr {
    let left = this.arithmetic('condition');
    for (;;) {
      const token = this.#scanner.peek();
      if (token.kind !== 'symbol') return left;
      if (token.text === '=~' || token.text === '!~') {
        this.#scanner.next();
        const right = this.#regexOperand();
        left = { kind: 'binary', op: token.text, left, right };
      } else if (COMPARISONS.has(token.text)) {
        this.#scanner.next();
        const op = token.text as BinaryOperator; // one of COMPARISONS
        left = { kind: 'binary', op, left, right: this.arithmetic('condition') };
      } else return left;
    }
  }

  #regexOperand(): Expr {
    const source = this.#scanner.regex();
    if (source !== undefined) return { kind: 'regex', source };
    const token = this.#scanner.peek();
    if (token.kind === 'parameter') {
      this.#scanner.next();
      return { kind: 'parameter', name: token.text };
    }
    throw this.#scanner.fail('invalid conditional, expected regular expression', token.at);
  }

  #operand(place: Place): Expr {
    if (++this.#depth > MAX_DEPTH) {
      throw this.#scanner.fail(
        `the expression is nested more than ${MAX_DEPTH} levels deep`,
        this.#scanner.peek().at,
      );
    }
    try {
      return this.#readOperand(place);
    } finally {
      this.#depth--;
    }
  }

  #readOperand(place: Place): Expr {
    if (place === 'projection') {
      const source = this.#scanner.regex();
      if (source !== undefined) return { kind: 'regex', source };
    }
    const token = this.#scanner.peek();
    switch (token.kind) {
      case 'symbol':
        return this.#readSymbol(token.text, token.at, place);
      case 'string':
        this.#scanner.next();
        return { kind: 'string', value: token.text };
      case 'integer':
        this.#scanner.next();
        return { kind: token.value > MAX_INT64 ? 'unsigned' : 'integer', value: token.value };
      case 'number':
        this.#scanner.next();
        return { kind: 'number', value: token.value };
      case 'duration':
        this.#scanner.next();
        return { kind: 'duration', ns: token.ns };
      case 'parameter':
        this.#scanner.next();
        return { kind: 'parameter', name: token.text };
      case 'keyword':
        if (token.text === 'DISTINCT' && place === 'projection') return this.#distinct();
        throw this.#expected(place, token.at);
      case 'name':
        return this.#named(place);
      case 'end':
        throw this.#expected(place, token.at);
    }
  }

  #readSymbol(text: string, at: number, place: Place): Expr {
    if (text === '(') {
      this.#scanner.next();
      const inner = place === 'condition' ? this.condition() : this.arithmetic(place);
      this.#closing(place);
      return { kind: 'paren', inner };
    }
    if (text === '-' || text === '+') {
      this.#scanner.next();
      const operand = this.#operand(place);
      return text === '-' ? this.#negative(operand, at) : operand;
    }
    if (text === '*' && place === 'projection') return this.#wildcard();
    throw this.#expected(place, at);
  }

  #negative(operand: Expr, at: number): Expr {
    switch (operand.kind) {
      case 'integer':
        return { kind: 'integer', value: -operand.value };
      case 'unsigned':
        if (operand.value > MAX_INT64 + 1n) {
          throw this.#scanner.fail('constant overflows signed integer', at);
        }
        return { kind: 'integer', value: -operand.value };
      case 'number':
        return { kind: 'number', value: -operand.value };
      case 'duration':
        return { kind: 'duration', ns: -operand.ns };
      default:
        return { kind: 'binary', op: '*', left: { kind: 'integer', value: -1n }, right: operand };
    }
  }

  #wildcard(): Expr {
    this.#scanner.next();
    if (!this.#takeSymbol('::')) return { kind: 'wildcard' };
    const token = this.#scanner.next();
    const of = wordOf(token).toLowerCase();
    if (of === 'tag' || of === 'field') return { kind: 'wildcard', of };
    throw this.#scanner.fail('invalid wildcard type specifier, expected TAG or FIELD', token.at);
  }

  #distinct(): Expr {
    this.#scanner.next();
    const token = this.#scanner.peek();
    if (token.kind === 'symbol' && token.text === '(') {
      this.#scanner.next();
      return { kind: 'call', name: 'distinct', args: this.#args('projection') };
    }
    if (token.kind !== 'name') {
      throw this.#scanner.fail('invalid DISTINCT expression, expected identifier', token.at);
    }
    this.#scanner.next();
    return { kind: 'distinct', column: token.text };
  }

  #named(place: Place): Expr {
    const token = this.#scanner.next() as Extract<Token, { kind: 'name' }>; // the caller checked the kind
    if (!token.isQuoted) {
      const lower = token.text.toLowerCase();
      if (lower === 'true' || lower === 'false')
        return { kind: 'boolean', value: lower === 'true' };
      if (this.#takeSymbol('(')) return { kind: 'call', name: lower, args: this.#args(place) };
    }
    return this.varRef(token.text);
  }

  /** Parses the rest of a reference after its first name: `.b.c::type`. */
  varRef(first: string): Expr {
    let name = first;
    while (this.#takeSymbol('.')) {
      const part = this.#scanner.next();
      if (part.kind !== 'name') throw this.#scanner.fail('invalid identifier', part.at);
      name += `.${part.text}`;
    }
    if (!this.#takeSymbol('::')) return { kind: 'var_ref', name };
    const token = this.#scanner.next();
    const cast = wordOf(token).toLowerCase();
    if (!CASTS.has(cast)) throw this.#scanner.fail(BAD_CAST, token.at);
    return { kind: 'var_ref', name, cast: cast as CastType }; // one of CASTS
  }

  #args(place: Place): Expr[] {
    const args: Expr[] = [];
    if (this.#takeSymbol(')')) return args;
    do {
      args.push(withoutBrackets(this.arithmetic(place)));
    } while (this.#takeSymbol(','));
    this.#closing(place);
    return args;
  }

  #closing(place: Place): void {
    if (this.#takeSymbol(')')) return;
    const { at } = this.#scanner.peek();
    throw this.#scanner.fail(
      place === 'condition' ? 'invalid conditional expression' : 'invalid expression, expected )',
      at,
    );
  }

  #expected(place: Place, at: number) {
    const text = {
      projection: 'invalid SELECT statement, expected field',
      condition: 'invalid conditional expression',
      offset: 'invalid TIME call, expected a duration for the offset',
    }[place];
    return this.#scanner.fail(text, at);
  }

  #isKeyword(text: string): boolean {
    const token = this.#scanner.peek();
    return token.kind === 'keyword' && token.text === text;
  }

  #takeSymbol(text: string): boolean {
    const token = this.#scanner.peek();
    if (token.kind !== 'symbol' || token.text !== text) return false;
    this.#scanner.next();
    return true;
  }
}

/** Removes redundant parentheses; those around arithmetic are kept. */
export function withoutBrackets(expr: Expr): Expr {
  return expr.kind === 'paren' && expr.inner.kind !== 'binary' ? withoutBrackets(expr.inner) : expr;
}

/** Returns the word of a token, keyword or not. */
export function wordOf(token: Token): string {
  return token.kind === 'name' || token.kind === 'keyword' ? token.text : '';
}

function balanced(op: 'AND' | 'OR', operands: readonly Expr[]): Expr {
  const [only] = operands;
  if (operands.length === 1 && only !== undefined) return only;
  const middle = operands.length >> 1;
  return {
    kind: 'binary',
    op,
    left: balanced(op, operands.slice(0, middle)),
    right: balanced(op, operands.slice(middle)),
  };
}
