import { init, ParserError, parse } from '@guanmingchiu/sqlparser-ts';
import { NotImplemented, PlanError } from '../../../errors.js';
import type { Statement } from './ast.js';
import { checkDepth } from './check-depth.js';

/** Texts longer than this are not kept. */
const MAX_CACHED_TEXT_LENGTH = 16_384;

/** Parses statements and remembers the latest ones: a dashboard sends the same texts again and again. */
export class StatementParser {
  readonly #cache = new Map<string, Statement>();
  readonly #maxCount: number;

  private constructor(options: { readonly maxCachedCount: number }) {
    this.#maxCount = options.maxCachedCount;
  }

  /** The parser is WebAssembly that has to be compiled once. */
  static async load(options: { readonly maxCachedCount: number }): Promise<StatementParser> {
    await init();
    return new StatementParser(options);
  }

  /** The only statement of `text`. Throws `PlanError` or `NotImplemented`. */
  parse(text: string): Statement {
    const known = this.#cache.get(text);
    if (known !== undefined) {
      this.#cache.delete(text);
      this.#cache.set(text, known);
      return known;
    }
    checkDepth(text);
    const statement = parseOne(text);
    if (text.length <= MAX_CACHED_TEXT_LENGTH) this.#remember(text, statement);
    return statement;
  }

  #remember(text: string, statement: Statement): void {
    this.#cache.set(text, statement);
    if (this.#cache.size <= this.#maxCount) return;
    const [oldest] = this.#cache.keys();
    if (oldest !== undefined) this.#cache.delete(oldest);
  }
}

function parseOne(text: string): Statement {
  const statements = parseAll(text);
  const [statement] = statements;
  if (statements.length > 1) {
    throw new NotImplemented('The context currently only supports a single SQL statement');
  }
  if (statement === undefined) {
    throw new PlanError(
      'Error during planning: No SQL statements were provided in the query string',
    );
  }
  return statement;
}

function parseAll(text: string): readonly Statement[] {
  try {
    // The package's own types lag behind the tree that it returns; `ast.ts` describes the tree.
    return parse(text, 'generic') as unknown as readonly Statement[];
  } catch (error) {
    if (!(error instanceof ParserError)) throw error;
    const message = error.message.replace(/^sql parser error: /, '');
    throw new PlanError(`SQL error: ParserError(${JSON.stringify(message)})`);
  }
}
