import { MAX_INT64, MAX_UINT64 } from '@plinth/tsdb-model/columns/int64.js';
import { lookbackHint } from '@plinth/tsdb-model/text/lookback-hint.js';
import { ParseError } from './parse-error.js';
import { KEYWORDS, type Token } from './token.js';

export const NS_PER_UNIT: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['u', 1_000n],
  ['us', 1_000n],
  ['µ', 1_000n],
  ['µs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
  ['d', 86_400_000_000_000n],
  ['w', 604_800_000_000_000n],
]);

const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const SPACE = /\s+/y;
const INTEGER = /[0-9]+/y;
const DECIMAL = /[0-9]*\.[0-9]+|[0-9]+\.(?![0-9])/y;
const DURATION = /(?:[0-9]+(?:ns|us|µs|ms|u|µ|s|m|h|d|w))+/y;
const WORD_CHARACTER = /[A-Za-z0-9_]/;
const SYMBOL = /::|!=|<>|<=|>=|=~|!~|[-+*/%&|^(),;.=<>:]/y;

const COMMENT = /\/\*[\s\S]*?\*\//y;

const BLANK = 32;

/** Returns whether white space or a comment may start with a character. */
function mayBeSpace(code: number): boolean {
  return code <= BLANK || code === MINUS || code === SLASH || code > 126;
}

const MINUS = 45;
const SLASH = 47;

/**
 * Placeholders that replace a name, count or duration even where no expression is parsed. Source:
 * query-languages, "Parameters".
 */
export type BoundTokens = ReadonlyMap<string, string | BoundNumber>;

export type BoundNumber =
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'duration'; readonly ns: bigint };

const NONE_BOUND: BoundTokens = new Map();

/**
 * Splits text into tokens on demand, because only the parser knows whether `/` starts a regular
 * expression.
 */
export class Scanner {
  readonly #text: string;
  readonly #bound: BoundTokens;
  #position = 0;
  #peeked: Token | undefined;
  /** The last consumed token. */
  last: Token = { kind: 'end', at: 0, end: 0 };

  constructor(text: string, bound: BoundTokens = NONE_BOUND) {
    this.#text = text;
    this.#bound = bound;
  }

  peek(): Token {
    this.#peeked ??= this.#scan();
    return this.#peeked;
  }

  next(): Token {
    const token = this.peek();
    this.#peeked = undefined;
    this.#position = token.end;
    this.last = token;
    return token;
  }

  /** Returns the source of a regular expression that starts here, if any. */
  regex(): string | undefined {
    const start = this.#skipSpace(this.#position);
    if (this.#text[start] !== '/') return undefined;
    let source = '';
    for (let at = start + 1; at < this.#text.length; at++) {
      const character = this.#text[at] as string;
      if (character === '\n') break;
      if (character === '/') {
        this.#peeked = undefined;
        this.#position = at + 1;
        return source;
      }
      if (character === '\\') {
        at++;
        const escaped = this.#text[at] ?? '';
        source += escaped === '/' ? '/' : `\\${escaped}`;
      } else source += character;
    }
    throw this.fail('unterminated regex literal', start);
  }

  /** Consumes a look-back hint that follows here and returns its distance. */
  lookback(): bigint | undefined {
    const at = this.#position + (this.#match(SPACE, this.#position)?.length ?? 0);
    const comment = this.#match(COMMENT, at);
    const hint = comment === undefined ? undefined : lookbackHint(comment);
    if (comment === undefined || hint === undefined) return undefined;
    if ('problem' in hint) throw this.fail(hint.problem, at);
    this.#peeked = undefined;
    this.#position = at + comment.length;
    return hint.ns;
  }

  /** Creates an error at a character offset; `ParseError` reports it in bytes. */
  fail(message: string, at: number, details = ''): ParseError {
    return new ParseError(message, Buffer.byteLength(this.#text.slice(0, at)), details);
  }

  textFrom(at: number): string {
    return this.#text.slice(at);
  }

  #scan(): Token {
    const at = this.#skipSpace(this.#position);
    const character = this.#text[at];
    if (character === undefined) return { kind: 'end', at, end: at };
    if (character === '"') {
      const { value, end } = this.#quoted(at, '"', 'unterminated quoted identifier');
      return { kind: 'name', text: value, isQuoted: true, at, end };
    }
    if (character === "'") {
      const { value, end } = this.#quoted(at, "'", 'unterminated string literal');
      return { kind: 'string', text: value, at, end };
    }
    if (character === '$') return this.#parameter(at);
    if (/[0-9]/.test(character) || (character === '.' && /[0-9]/.test(this.#text[at + 1] ?? ''))) {
      return this.#number(at);
    }
    const name = this.#match(NAME, at);
    if (name !== undefined) {
      const end = at + name.length;
      const upper = name.toUpperCase();
      return KEYWORDS.has(upper)
        ? { kind: 'keyword', text: upper, at, end }
        : { kind: 'name', text: name, isQuoted: false, at, end };
    }
    const symbol = this.#match(SYMBOL, at);
    if (symbol === undefined) throw this.#unexpected(at);
    const end = at + symbol.length;
    return { kind: 'symbol', text: symbol === '<>' ? '!=' : symbol, at, end };
  }

  #unexpected(at: number): ParseError {
    return this.fail(
      'invalid InfluxQL statement',
      at,
      `. Parsing Error: Nom(${quoted(this.textFrom(at))}, Tag)`,
    );
  }

  #match(pattern: RegExp, at: number): string | undefined {
    pattern.lastIndex = at;
    return pattern.exec(this.#text)?.[0];
  }

  #skipSpace(from: number): number {
    let at = from;
    // Fast path: most tokens follow a single space or none.
    if (this.#text.charCodeAt(at) === BLANK) at++;
    if (!mayBeSpace(this.#text.charCodeAt(at))) return at;
    for (;;) {
      at += this.#match(SPACE, at)?.length ?? 0;
      if (this.#text.startsWith('--', at)) {
        const end = this.#text.indexOf('\n', at);
        at = end < 0 ? this.#text.length : end + 1;
      } else if (this.#text.startsWith('/*', at)) {
        const end = this.#text.indexOf('*/', at + 2);
        if (end < 0) throw this.fail('invalid inline comment, missing closing */', at);
        if (this.#text[at + 2] === '+' && lookbackHint(this.#text.slice(at, end + 2)) !== undefined)
          throw this.fail('misplaced hint; write the "lookback" hint directly after SELECT', at);
        at = end + 2;
      } else return at;
    }
  }

  #quoted(at: number, mark: string, unterminated: string): { value: string; end: number } {
    let value = '';
    for (let i = at + 1; i < this.#text.length; i++) {
      const character = this.#text[i] as string;
      if (character === mark) return { value, end: i + 1 };
      if (character === '\n' && mark === '"') break;
      if (character !== '\\') {
        value += character;
        continue;
      }
      i++;
      const escaped = this.#text[i];
      if (escaped === 'n') value += '\n';
      else if (escaped === '\\' || escaped === mark) value += escaped;
      else {
        throw this.fail(`invalid escape sequence, expected \\\\, \\${mark} or \\n`, i - 1);
      }
    }
    throw this.fail(unterminated, at);
  }

  #parameter(at: number): Token {
    if (this.#text[at + 1] === '"') {
      const { value, end } = this.#quoted(at + 1, '"', 'unterminated quoted identifier');
      return this.#bind(value, at, end);
    }
    const name = this.#match(NAME, at + 1);
    if (name === undefined) throw this.fail('invalid bind parameter, expected identifier', at + 1);
    return this.#bind(name, at, at + 1 + name.length);
  }

  #bind(name: string, at: number, end: number): Token {
    const bound = this.#bound.get(name);
    if (bound === undefined) return { kind: 'parameter', text: name, at, end };
    if (typeof bound !== 'string') return { ...bound, at, end };
    // A quoted name is never a keyword, but it cannot be called as a function.
    return { kind: 'name', text: bound, isQuoted: this.#text[end] !== '(', at, end };
  }

  #number(at: number): Token {
    const duration = this.#match(DURATION, at);
    if (duration !== undefined && !WORD_CHARACTER.test(this.#text[at + duration.length] ?? '')) {
      return {
        kind: 'duration',
        ns: this.#durationNs(duration, at),
        at,
        end: at + duration.length,
      };
    }
    const text = this.#match(DECIMAL, at) ?? this.#match(INTEGER, at) ?? '';
    const end = at + text.length;
    if (/[A-Za-z_µ]/.test(this.#text[end] ?? '')) throw this.fail('invalid duration', at);
    if (text.includes('.')) return { kind: 'number', value: Number(text), at, end };
    const value = BigInt(text);
    if (value > MAX_UINT64) throw this.fail('unable to parse integer due to overflow', at);
    return { kind: 'integer', value, at, end };
  }

  #durationNs(text: string, at: number): bigint {
    let total = 0n;
    for (const [, count = '', unit = ''] of text.matchAll(/([0-9]+)([a-zµ]+)/g)) {
      total += BigInt(count) * (NS_PER_UNIT.get(unit) ?? 1n);
    }
    if (total > MAX_INT64) throw this.fail('overflow parsing duration', at);
    return total;
  }
}

/** Quotes the rest of a text as InfluxDB's parser does. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? text.slice(0, 60) : text);
}
