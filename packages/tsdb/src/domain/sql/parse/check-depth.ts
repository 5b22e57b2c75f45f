import { tsdbError } from '../../../errors.js';
import { CLOSER_OF, CLOSERS, SEPARATORS, SET_OPERATORS, tokensOf } from './tokens.js';

/**
 * Depth of the tree that is let through to the parser and the planner, both of which are recursive. The parser's
 * stack overflows at some thousand levels.
 */
const MAX_DEPTH = 300;
const MAX_TEXT_LENGTH = 1_000_000;
/** Values in lists take the parser and the planner some 40 µs each: this many, some four seconds of a thread. */
const MAX_COMMA_COUNT = 100_000;

/** Operators chain to the left, one level each; these words are operators, too. */
const WORD_OPERATORS: ReadonlySet<string> = new Set(
  'is in like ilike similar between not collate at div xor regexp rlike overlaps'.split(' '),
);

/** What has been met of one expression; ORs bind loosest, then ANDs. */
interface Level {
  or: number;
  and: number;
  other: number;
  sets: number;
  /** Greatest depth of the levels around. */
  readonly below: number;
}

/** Refuses texts whose tree may be too deep or too large. May overestimate the depth. */
export function checkDepth(text: string): void {
  if (text.length > MAX_TEXT_LENGTH) {
    throw tsdbError('not_implemented', `statements of more than ${MAX_TEXT_LENGTH} characters`);
  }
  // Nothing shorter can be too deep: an operator and an operand take two characters.
  if (text.length < 2 * MAX_DEPTH) return;
  const levels: Level[] = [newLevel(0)];
  let commaCount = 0;
  for (const { word } of tokensOf(text)) {
    const level = levels.at(-1) ?? newLevel(0);
    if (word === ',' && ++commaCount > MAX_COMMA_COUNT) {
      throw tsdbError(
        'plan_error',
        `SQL error: ParserError("the statement lists more than ${MAX_COMMA_COUNT} values: ask for fewer at once")`,
      );
    }
    const depth = read(word, level, levels);
    if (depth > MAX_DEPTH) {
      throw tsdbError(
        'not_implemented',
        `expressions of more than ${MAX_DEPTH} operators in a row`,
      );
    }
  }
}

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
