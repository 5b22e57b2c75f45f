/** DuckDB binds the arguments of a function with a lambda twice. */
const LAMBDA_WEIGHT = 2;
const OF_LAMBDAS: ReadonlySet<string> = new Set(['list_transform', 'list_filter', 'list_reduce']);
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|([A-Za-z_][\w.]*)(\()?|[()[\]{},]/g;
const DEFINITION = /^\s*CREATE OR REPLACE MACRO (\w+)\(([^)]*)\) AS\s+([\s\S]*)$/;

interface Macro {
  readonly params: readonly string[];
  readonly body: string;
}

/** An open bracket; for a call, its name and the index of the current argument. */
interface Bracket {
  readonly around: number;
  readonly name: string;
  argIndex: number;
}

/**
 * Measures macro expansion. A DuckDB macro repeats an argument wherever its body names it. A dozen
 * nested calls expand to millions of expressions, which DuckDB binds without interruption.
 */
export class MacroWeights {
  readonly #macros = new Map<string, Macro>();
  /** Number of occurrences of each argument. */
  readonly #weights = new Map<string, readonly number[]>();

  constructor(definitions: readonly string[]) {
    for (const definition of definitions) {
      const [, name = '', params = '', body = ''] = DEFINITION.exec(definition) ?? [];
      this.#macros.set(name, { params: params.split(',').map((param) => param.trim()), body });
    }
  }

  /**
   * Returns the number of macro calls in `text` after full expansion, or any number above `enough`.
   */
  countIn(text: string, enough: number): number {
    if (!text.includes('plinth_')) return 0;
    let count = 0;
    for (const [word, weight] of this.#words(text)) {
      if (this.#macros.has(word)) count += weight;
      if (count > enough) break;
    }
    return count;
  }

  #weightOf({ name, argIndex }: Bracket): number {
    if (OF_LAMBDAS.has(name)) return LAMBDA_WEIGHT;
    const macro = this.#macros.get(name);
    if (macro === undefined) return 1;
    let weights = this.#weights.get(name);
    if (weights === undefined) {
      weights = this.#countArguments(macro);
      this.#weights.set(name, weights);
    }
    return Math.max(1, weights[argIndex] ?? 1);
  }

  #countArguments({ params, body }: Macro): readonly number[] {
    const counts = new Map(params.map((param) => [param, 0]));
    for (const [word, weight] of this.#words(body)) {
      const count = counts.get(word);
      if (count !== undefined) counts.set(word, count + weight);
    }
    return [...counts.values()];
  }

  /** Yields the words of a text, each with the product of the weights of its enclosing calls. */
  *#words(text: string): Generator<readonly [word: string, weight: number], void, undefined> {
    const open: Bracket[] = [];
    let weight = 1;
    for (const [token, word, bracket] of text.matchAll(TOKEN)) {
      if (word !== undefined) yield [word, weight];
      const last = open.at(-1);
      if (bracket !== undefined || token === '(' || token === '[' || token === '{') {
        const opened = { around: weight, name: word ?? '', argIndex: 0 };
        open.push(opened);
        weight *= this.#weightOf(opened);
      } else if (token === ',' && last !== undefined) {
        last.argIndex++;
        weight = last.around * this.#weightOf(last);
      } else if ((token === ')' || token === ']' || token === '}') && last !== undefined) {
        open.pop();
        weight = last.around;
      }
    }
  }
}
