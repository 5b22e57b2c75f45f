import type { Language } from '../macros.js';
import { calledBy, parted, type Token, tokensOf } from '../tokens.js';
import {
  AGGREGATES,
  type BuilderCondition,
  type BuilderField,
  type BuilderQuery,
  EVERY_AUTO,
  OPERATORS,
  takesValue,
} from './builder-query.js';
import { readInfluxql } from './read-influxql.js';
import {
  fieldOf,
  findWord,
  isWord,
  SPACED,
  splitAtAnd,
  type WrittenAggregates,
} from './statement-parts.js';
import { writeBuilderQuery } from './write-builder-query.js';

/**
 * Reads a statement that the builder could have written; `undefined` for all others. Spaces, line ends and
 * the case of keywords may differ. The reader extracts the parts of the query, and accepts them only if the builder
 * writes the same statement from them, so that showing a query in the builder never changes its meaning.
 */
export function readBuilderQuery(text: string, language: Language): BuilderQuery | undefined {
  const tokens = tokensOf(text, language);
  if (tokens === undefined || /--|\/\*/.test(text)) return undefined;
  const last = tokens.at(-1)?.text === ';' ? -1 : tokens.length;
  const statement = tokens.slice(0, last);
  const query = language === 'sql' ? readSql(statement) : readInfluxql(statement);
  if (query === undefined || query.fields.length === 0) return undefined;
  const written = tokensOf(writeBuilderQuery(query, language), language) ?? [];
  const isSame =
    written.length === statement.length &&
    written.every((token, at) => isSameToken(token, statement[at], language));
  return isSame ? query : undefined;
}

function readSql(tokens: readonly Token[]): BuilderQuery | undefined {
  const isNested = tokens[0] !== undefined && isWord(tokens[0], 'with');
  return readSelection(isNested ? innerTokens(tokens) : tokens);
}

/** Returns the tokens within the first brackets. */
function innerTokens(tokens: readonly Token[]): readonly Token[] {
  const open = tokens.findIndex(({ text }) => text === '(');
  const close = tokens.findIndex(({ text, depth }, at) => at > open && text === ')' && depth === 0);
  return tokens.slice(open + 1, close).map((token) => ({ ...token, depth: token.depth - 1 }));
}

function readSelection(tokens: readonly Token[]): BuilderQuery | undefined {
  const find = (word: string): number => findWord(tokens, word);
  const [from, where, order] = [find('from'), find('where'), find('order')];
  const group = Math.min(find('group'), order);
  const table = tokens[from + 1];
  if (table === undefined || where === tokens.length) return undefined;
  const fields: BuilderField[] = [];
  const groupBy: string[] = [];
  let every = '';
  for (const item of parted(tokens.slice(1, from))) {
    const field = fieldOf(item, WRITTEN, 'sql');
    const width = everyOf(item);
    if (width !== undefined) every = width;
    else if (SPACED(item) === 'max ( time ) AS last_time')
      continue; // part of a rate
    else if (field !== undefined) fields.push(field);
    else if (item.length === 1 && item[0] !== undefined) groupBy.push(calledBy(item[0], 'sql'));
    else return undefined;
  }
  // The time range is always the first two conditions.
  const parts = splitAtAnd(tokens.slice(where + 1, group)).slice(2);
  const conditions = parts.map(conditionOf);
  if (!conditions.every((each) => each !== undefined)) return undefined;
  return { table: calledBy(table, 'sql'), fields, conditions, groupBy, every };
}

/** Returns the bucket width in `date_bin(…) AS time`. */
function everyOf(item: readonly Token[]): string | undefined {
  const [, macro, width] =
    /^date_bin \( (?:(\$\{interval\})|interval '([^']+)') , time \) as time$/i.exec(SPACED(item)) ??
    [];
  return macro === undefined ? width : EVERY_AUTO;
}

const WRITTEN: WrittenAggregates = [
  ...AGGREGATES.map((aggregate) => [aggregate, [aggregate, '(']] as const),
  ['last', ['last_value', '(']],
  ['p95', ['approx_percentile_cont', '(']],
  ['rate', ['cast', '(', 'max', '(']],
];

function conditionOf(tokens: readonly Token[]): BuilderCondition | undefined {
  const isExclusion = tokens[0]?.text === '(' && tokens.at(-1)?.text === ')';
  const [name, ...rest] = isExclusion ? tokens.slice(1, -1) : tokens;
  if (name === undefined) return undefined;
  const text = SPACED(rest).replace(/^([<>]) =/, '$1=');
  const column = calledBy(name, 'sql');
  if (isExclusion) {
    const [, value] = /^is distinct from ([\s\S]+)$/i.exec(text) ?? [];
    const literal = literalOf(value ?? '');
    return literal === undefined ? undefined : { column, operator: '!=', literal };
  }
  // Longer operators come first, so that `<=` is not read as `<`.
  const operator = [...OPERATORS]
    .sort((a, b) => b.length - a.length)
    .find((each) => text.toUpperCase() === each || text.toUpperCase().startsWith(`${each} `));
  if (operator === undefined) return undefined;
  if (!takesValue(operator)) return { column, operator, literal: '' };
  const literal = literalOf(text.slice(operator.length).trim());
  return literal === undefined ? undefined : { column, operator, literal };
}

/** Returns a single literal. Only literals can be values: an expression could change the meaning of the condition. */
function literalOf(tokens: string): string | undefined {
  const text = tokens.replace(/^- (?=\d)/, '-'); // a sign and its number are separate tokens
  return /^(?:'(?:[^']|'')*'|-?\d[\w.]*|true|false)$/i.test(text) ? text : undefined;
}

/** The words that are case-insensitive in InfluxQL. Names are case-sensitive. */
const KEYWORDS = new Set(
  'select as from where and group by time fill null mean min max sum count last percentile non_negative_derivative true false'.split(
    ' ',
  ),
);

function isSameToken(a: Token, b: Token | undefined, language: Language): boolean {
  if (a.kind !== b?.kind) return false;
  const [lower, other] = [a.text.toLowerCase(), b.text.toLowerCase()];
  const isCaseless = a.kind === 'word' && (language === 'sql' || KEYWORDS.has(lower));
  return a.text === b.text || (isCaseless && lower === other);
}
