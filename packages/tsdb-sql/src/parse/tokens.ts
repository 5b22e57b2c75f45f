const TOKEN =
  /'(?:[^']|'')*'|\$(\w*)\$(?:[\s\S]*?\$\1\$|[\s\S]*)|"(?:[^"]|"")*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?\*\/|[A-Za-z_][\w$]*|[\d.]+(?:[eE][+-]?\d+)?|\s+|::|[<>!=~|&]+|[\s\S]/g;

export interface Token {
  /** Words are in lower case; other tokens are unchanged. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** Opening tokens and their closing tokens. */
export const CLOSER_OF: ReadonlyMap<string, string> = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
  ['case', 'end'],
]);
export const CLOSERS: ReadonlySet<string> = new Set(CLOSER_OF.values());

/** Words after which a new expression starts. */
export const SEPARATORS: ReadonlySet<string> = new Set(
  'select from where group order having qualify limit offset when then else on using values by'.split(
    ' ',
  ),
);
export const SET_OPERATORS: ReadonlySet<string> = new Set([
  'union',
  'intersect',
  'except',
  'minus',
]);

/**
 * Splits text into tokens, including white space and comments. This is sufficient to count
 * operators and brackets.
 */
export function* tokensOf(text: string): Generator<Token, void, undefined> {
  for (const match of text.matchAll(TOKEN)) {
    const [token] = match;
    const word = /^[A-Za-z_]/.test(token) ? token.toLowerCase() : token;
    yield { word, start: match.index, end: match.index + token.length };
  }
}
