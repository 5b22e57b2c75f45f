import { Memo } from '@plinth/kernel';
import { tsdbError } from '../../../errors.js';
import type { Expr, FunctionNode, Statement } from './ast.js';
import { balanceChains } from './balance-chains.js';
import { checkDepth, checkLength } from './check-depth.js';
import { type Effort, EffortExceeded } from './effort.js';
import { tokensOf } from './tokens.js';
import { ParserBreakdown, SyntaxFault, WasmParser } from './wasm-parser.js';

/** No chain in a shorter text is too long. */
const MIN_BALANCED_TEXT_LENGTH = 600;
/** Texts longer than this are not kept. */
const MAX_CACHED_TEXT_LENGTH = 16_384;

/** Parses statements and remembers the latest ones: a dashboard sends the same texts again and again. */
export class StatementParser {
  readonly #cache: Memo<string, Statement>;
  readonly #parser: WasmParser;

  private constructor(parser: WasmParser, options: { readonly maxCachedCount: number }) {
    this.#parser = parser;
    this.#cache = new Memo({ maxCount: options.maxCachedCount });
  }

  /** The parser is WebAssembly that has to be compiled once. */
  static async load(options: { readonly maxCachedCount: number }): Promise<StatementParser> {
    return new StatementParser(await WasmParser.load(), options);
  }

  /** The only statement of `text`. Throws `plan_error`, `not_implemented` or `EffortExceeded`. */
  parse(text: string, effort: Effort): Statement {
    const known = this.#cache.get(text);
    if (known !== undefined) return known;
    const statement = this.#parseOne(text, effort);
    if (text.length <= MAX_CACHED_TEXT_LENGTH) this.#cache.set(text, statement);
    return statement;
  }

  #parseOne(text: string, effort: Effort): Statement {
    const statements = this.#parseAll(text, effort);
    const [statement] = statements;
    if (statements.length > 1) {
      throw tsdbError(
        'not_implemented',
        'The context currently only supports a single SQL statement',
      );
    }
    if (statement === undefined) {
      throw tsdbError(
        'plan_error',
        'Error during planning: No SQL statements were provided in the query string',
      );
    }
    return statement;
  }

  #parseAll(text: string, effort: Effort): readonly Statement[] {
    checkLength(text); // before anything reads it
    if (text.length > effort.maxTextLength || hasLongBlanks(text, effort)) {
      throw new EffortExceeded();
    }
    const spoken = text.includes('#') ? withCarets(text) : text;
    const balanced = spoken.length < MIN_BALANCED_TEXT_LENGTH ? spoken : balanceChains(spoken);
    checkDepth(balanced);
    try {
      // `ast.ts` describes the tree.
      return asDescribed(
        JSON.parse(this.#parser.parse(balanced, effort.parserFuel)),
      ) as readonly Statement[];
    } catch (error) {
      if (error instanceof ParserBreakdown)
        throw tsdbError('not_implemented', 'statements as complex as this');
      if (!(error instanceof SyntaxFault)) throw error;
      const message = error.message.replace(/^sql parser error: /, '');
      throw tsdbError('plan_error', `SQL error: ParserError(${JSON.stringify(message)})`);
    }
  }
}

/** The parser's dialect knows the exclusive or of bits by its other name alone, which stands as high. */
function withCarets(text: string): string {
  const tokens = [...tokensOf(text)];
  return tokens
    .map(({ word, start, end }, i) => {
      const isOperator = word === '#' && !/^[#>-]/.test(tokens[i + 1]?.word ?? '');
      return isOperator ? '^' : text.slice(start, end);
    })
    .join('');
}

const COMMENT = /--|\/\*/g;
const BLANK = /\s/;

/** Whether more blanks or comments may stand in a row than the parser should skip again and again. */
function hasLongBlanks(text: string, { maxBlankRunLength, maxCommentCount }: Effort): boolean {
  let runLength = 0;
  for (let at = 0; at < text.length && maxBlankRunLength < text.length; at++) {
    const code = text.charCodeAt(at);
    const isBlank = code <= 0x20 || (code >= 0x80 && BLANK.test(text.charAt(at)));
    runLength = isBlank ? runLength + 1 : 0;
    if (runLength > maxBlankRunLength) return true;
  }
  return (text.match(COMMENT)?.length ?? 0) > maxCommentCount;
}

/**
 * The tree as `ast.ts` describes it: absent parts are `undefined`, and names that the parser takes for calls are names. Changes
 * `node`, which is as deep as `checkDepth` allows.
 */
function asDescribed(node: unknown): unknown {
  if (typeof node !== 'object' || node === null) return node ?? undefined;
  const parts = node as Record<string, unknown>;
  for (const key of Object.keys(parts)) {
    const part = parts[key];
    if (typeof part === 'object') parts[key] = asDescribed(part);
  }
  // Only the parser gives a call this form.
  const call = parts['Function'] as FunctionNode | undefined;
  return call?.args === 'None' ? (asColumn(call) ?? node) : node;
}

/** Functions that are called without brackets; of other words of standard SQL (`user`, `localtime`) DataFusion has none. */
const WITHOUT_BRACKETS: ReadonlySet<string> = new Set([
  'current_date',
  'current_time',
  'current_timestamp',
]);

function asColumn({ name }: FunctionNode): Expr | undefined {
  const [first, ...rest] = name.flatMap((part) => part.Identifier ?? []);
  if (first === undefined || (rest.length === 0 && WITHOUT_BRACKETS.has(first.value.toLowerCase())))
    return undefined;
  return rest.length === 0 ? { Identifier: first } : { CompoundIdentifier: [first, ...rest] };
}
