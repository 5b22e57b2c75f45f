import { CLOSER_OF, CLOSERS, SEPARATORS, SET_OPERATORS, type Token, tokensOf } from './tokens.js';

/**
 * Chains up to this length are unchanged, so that positions in syntax errors match the user's text.
 */
const MIN_CHAIN_LENGTH = 100;
const GROUP_SIZE = 32;

/** Syntax that the simple tokenizer may read differently from the parser. */
const AMBIGUOUS = /\/\*|\$\w*\$|\\'/;

/** One operator of a chain. */
interface Link {
  readonly operator: string;
  readonly start: number;
  end: number;
}

/** Operators found at one level of brackets. */
interface Level {
  readonly closer: string;
  ors: Link[];
  ands: Link[];
  sets: Link[];
  /** Number of BETWEENs whose AND has not been reached. */
  betweenCount: number;
}

/**
 * Returns an equivalent statement in which long chains of OR, AND and UNION are nested in
 * parentheses. The parser would create a tree as deep as the chain. All three operators are
 * associative. The first and the last operand stay outside because their ends cannot be found
 * without a grammar.
 */
export function balanceChains(text: string): string {
  if (AMBIGUOUS.test(text)) return text;
  const insertions: Insertion[] = [];
  const levels: Level[] = [newLevel('')];
  for (const token of tokensOf(text)) {
    const level = levels.at(-1);
    if (level === undefined) return text;
    const { word } = token;
    const closer = CLOSER_OF.get(word);
    if (closer !== undefined) {
      levels.push(newLevel(closer));
    } else if (CLOSERS.has(word)) {
      if (word !== level.closer) return text;
      endLevel(level, insertions);
      levels.pop();
    } else {
      read(token, level, insertions);
    }
  }
  const [outermost] = levels;
  if (levels.length !== 1 || outermost === undefined) return text;
  endLevel(outermost, insertions);
  return insertAll(text, insertions);
}

function newLevel(closer: string): Level {
  return { closer, ors: [], ands: [], sets: [], betweenCount: 0 };
}

function read(token: Token, level: Level, insertions: Insertion[]): void {
  const { word, start, end } = token;
  const link = { operator: word, start, end };
  if (word === 'or') {
    endAnds(level, insertions);
    level.ors.push(link);
  } else if (word === 'and') {
    if (level.betweenCount > 0) level.betweenCount--;
    else level.ands.push(link);
  } else if (word === 'between') {
    level.betweenCount++;
  } else if (word === 'xor') {
    endAnds(level, insertions); // Binds looser than AND and tighter than OR.
  } else if (SET_OPERATORS.has(word)) {
    endExpression(level, insertions);
    level.sets.push(link);
  } else if (word === 'all' || word === 'distinct' || word === 'by') {
    extendSetOperator(level, token, insertions);
  } else if (word === ';') {
    endLevel(level, insertions);
  } else if (word === ',' || SEPARATORS.has(word)) {
    endExpression(level, insertions);
  }
}

/** `UNION ALL`, `UNION DISTINCT` and `UNION BY NAME` are separate operators. */
function extendSetOperator(level: Level, token: Token, insertions: Insertion[]): void {
  const last = level.sets.at(-1);
  if (last !== undefined && token.start - last.end <= 1) {
    level.sets[level.sets.length - 1] = {
      operator: `${last.operator} ${token.word}`,
      start: last.start,
      end: token.end,
    };
  } else if (token.word === 'by') {
    endExpression(level, insertions);
  }
}

function endAnds(level: Level, insertions: Insertion[]): void {
  bracket(level.ands, insertions);
  level.ands = [];
  level.betweenCount = 0;
}

function endExpression(level: Level, insertions: Insertion[]): void {
  endAnds(level, insertions);
  bracket(level.ors, insertions);
  level.ors = [];
}

function endLevel(level: Level, insertions: Insertion[]): void {
  endExpression(level, insertions);
  const [first] = level.sets;
  const isUnion = first?.operator === 'union' || first?.operator === 'union all';
  if (isUnion && level.sets.every(({ operator }) => operator === first.operator)) {
    bracket(level.sets, insertions);
  }
  level.sets = [];
}

interface Insertion {
  readonly at: number;
  readonly text: '(' | ')';
}

/**
 * Parenthesizes groups of operands between the first and the last link, then groups of groups, and
 * so on.
 */
function bracket(chain: readonly Link[], insertions: Insertion[]): void {
  if (chain.length < MIN_CHAIN_LENGTH) return;
  let links = chain;
  while (links.length > GROUP_SIZE + 1) {
    const edges: Link[] = [];
    for (const [index, link] of links.entries()) {
      const isEdge = index % GROUP_SIZE === 0 || index === links.length - 1;
      if (!isEdge) continue;
      const previous = edges.at(-1);
      if (previous !== undefined) {
        insertions.push({ at: previous.end, text: '(' }, { at: link.start, text: ')' });
      }
      edges.push(link);
    }
    links = edges;
  }
}

function insertAll(text: string, insertions: readonly Insertion[]): string {
  if (insertions.length === 0) return text;
  const pieces: string[] = [];
  let position = 0;
  for (const { at, text: bracketText } of insertions.toSorted((a, b) => a.at - b.at)) {
    pieces.push(text.slice(position, at), bracketText);
    position = at;
  }
  pieces.push(text.slice(position));
  return pieces.join('');
}
