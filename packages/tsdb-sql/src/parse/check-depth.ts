import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { CLOSER_OF, CLOSERS, SEPARATORS, SET_OPERATORS, tokensOf } from './tokens.js';

/**
 * Maximum depth of a syntax tree for the parser and the planner, both of which are recursive. The
 * parser's stack overflows at a few thousand levels.
 */
const MAX_DEPTH = 300;
const MAX_TEXT_LENGTH = 1_000_000;
/**
 * Maximum number of list values. Each takes about 40 µs to parse and plan, so this many take about
 * four seconds in a thread.
 */
const MAX_COMMA_COUNT = 100_000;
/** Maximum number of combined or joined queries, each of which costs far more than a value. */
const MAX_QUERY_COUNT = 10_000;
const QUERY_WORDS: ReadonlySet<string> = new Set([...SET_OPERATORS, 'join', 'with']);

/** Word operators, which add one level each because operators chain to the left. */
const WORD_OPERATORS: ReadonlySet<string> = new Set(
  'is in like ilike similar between not collate at div xor regexp rlike overlaps'.split(' '),
);

/** Operator counts of one expression; OR binds loosest, then AND. */
interface Level {
  or: number;
  and: number;
  other: number;
  sets: number;
  /** Maximum depth of the enclosing levels. */
  readonly below: number;
}

export function checkLength(text: string): void {
  if (text.length <= MAX_TEXT_LENGTH) return;
  throw tsdbError('not_implemented', `statements with more than ${MAX_TEXT_LENGTH} characters`);
}

/** Throws if the tree of a text may be too deep or too large. May overestimate the depth. */
export function checkDepth(text: string): void {
  checkLength(text);
  // An operator and an operand take two characters, so a shorter text cannot be too deep.
  if (text.length < 2 * MAX_DEPTH) return;
  const levels: Level[] = [newLevel(0)];
  let commaCount = 0;
  let queryCount = 0;
  for (const { word } of tokensOf(text)) {
    const level = levels.at(-1) ?? newLevel(0);
    if (word === ',' && ++commaCount > MAX_COMMA_COUNT) {
      throw tooMany(`lists more than ${MAX_COMMA_COUNT} values`);
    }
    if (QUERY_WORDS.has(word) && ++queryCount > MAX_QUERY_COUNT) {
      throw tooMany(`has more than ${MAX_QUERY_COUNT} UNION, JOIN and WITH keywords`);
    }
    const depth = read(word, level, levels);
    if (depth > MAX_DEPTH) {
      throw tsdbError(
        'not_implemented',
        `expressions with more than ${MAX_DEPTH} chained operators`,
      );
    }
  }
}

const tooMany = (what: string): Error =>
  tsdbError('plan_error', `SQL error: ParserError("the statement ${what}; split it")`);

function newLevel(below: number): Level {
  return { or: 0, and: 0, other: 0, sets: 0, below };
}

function read(word: string, level: Level, levels: Level[]): number {
  if (CLOSER_OF.has(word)) {
    levels.push(newLevel(depthOf(level) + 1));
  } else if (CLOSERS.has(word)) {
    if (levels.length > 1) levels.pop();
  } else if (word === ',' || SEPARATORS.has(word)) {
    level.or = 0;
    level.and = 0;
    level.other = 0;
  } else if (SET_OPERATORS.has(word)) {
    level.sets++;
  } else if (word === 'or') {
    level.or++;
    level.and = 0;
    level.other = 0;
  } else if (word === 'and') {
    level.and++;
    level.other = 0;
  } else if (WORD_OPERATORS.has(word) || isOperator(word)) {
    level.other++;
  }
  return depthOf(level);
}

function depthOf({ or, and, other, sets, below }: Level): number {
  return below + or + and + other + sets;
}

function isOperator(token: string): boolean {
  return /^[+\-*/%^#~=<>!|&:?@]/.test(token) && !token.startsWith('--') && !token.startsWith('/*');
}
