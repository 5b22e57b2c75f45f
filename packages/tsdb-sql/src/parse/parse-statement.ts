import { Memo } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { Expr, FunctionNode, Statement } from './ast.js';
import { balanceChains } from './balance-chains.js';
import { checkDepth, checkLength } from './check-depth.js';
import { PlanningLimitExceeded, type PlanningLimits } from './planning-limits.js';
import { tokensOf } from './tokens.js';
import { ParserBreakdown, SyntaxFault, WasmParser } from './wasm-parser.js';

/** Minimum length of a text that can contain a chain that is too long. */
const MIN_BALANCED_TEXT_LENGTH = 600;
/** Maximum length of a cached text. */
const MAX_CACHED_TEXT_LENGTH = 16_384;

/**
 * Parses statements and caches the most recent ones, because dashboards repeat their statements.
 */
export class StatementParser {
  readonly #cache: Memo<string, Statement>;
  readonly #parser: WasmParser;

  private constructor(parser: WasmParser, options: { readonly maxCachedCount: number }) {
    this.#parser = parser;
    this.#cache = new Memo({ maxCount: options.maxCachedCount });
  }

  /** Compiles the WebAssembly parser. */
  static async load(options: { readonly maxCachedCount: number }): Promise<StatementParser> {
    return new StatementParser(await WasmParser.load(), options);
  }

  /**
   * Parses the single statement of `text`. Throws `plan_error`, `not_implemented` or
   * `PlanningLimitExceeded`.
   */
  parse(text: string, limits: PlanningLimits): Statement {
    const known = this.#cache.get(text);
    if (known !== undefined) return known;
    const statement = this.#parseOne(text, limits);
    if (text.length <= MAX_CACHED_TEXT_LENGTH) this.#cache.set(text, statement);
    return statement;
  }

  #parseOne(text: string, limits: PlanningLimits): Statement {
    const statements = this.#parseAll(text, limits);
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

  #parseAll(text: string, limits: PlanningLimits): readonly Statement[] {
    checkLength(text); // must precede any other use of the text
    if (text.length > limits.maxTextLength || hasLongBlanks(text, limits)) {
      throw new PlanningLimitExceeded();
    }
    const source = text.includes('#') ? withCarets(text) : text;
    const balanced = source.length < MIN_BALANCED_TEXT_LENGTH ? source : balanceChains(source);
    checkDepth(balanced);
    try {
      // See `ast.ts` for the tree.
      return asDescribed(
        JSON.parse(this.#parser.parse(balanced, limits.parserFuel)),
      ) as readonly Statement[];
    } catch (error) {
      if (error instanceof ParserBreakdown)
        throw tsdbError(
          'not_implemented',
          'statements of this complexity; use fewer or less deeply nested expressions',
        );
      if (!(error instanceof SyntaxFault)) throw error;
      const message = error.message.replace(/^sql parser error: /, '');
      throw tsdbError('plan_error', `SQL error: ParserError(${JSON.stringify(message)})`);
    }
  }
}

/**
 * Replaces `#` with `^`, because the parser's dialect supports bitwise exclusive or only as `^`,
 * with the same precedence.
 */
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

/**
 * Returns whether the text has more white space or comments in a row than the parser should skip
 * repeatedly.
 */
function hasLongBlanks(
  text: string,
  { maxBlankRunLength, maxCommentCount }: PlanningLimits,
): boolean {
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
 * Converts the tree to the form of `ast.ts`: absent parts are `undefined`, and names that the
 * parser reads as calls are names. Modifies `node`, whose depth `checkDepth` limits.
 */
function asDescribed(node: unknown): unknown {
  if (typeof node !== 'object' || node === null) return node ?? undefined;
  const parts = node as Record<string, unknown>;
  for (const key of Object.keys(parts)) {
    const part = parts[key];
    if (typeof part === 'object') parts[key] = asDescribed(part);
  }
  // Only the parser creates calls in this form.
  const call = parts['Function'] as FunctionNode | undefined;
  return call?.args === 'None' ? (asColumn(call) ?? node) : node;
}

/**
 * Functions that are called without parentheses. DataFusion lacks the other ones in standard SQL,
 * such as `user` and `localtime`.
 */
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
