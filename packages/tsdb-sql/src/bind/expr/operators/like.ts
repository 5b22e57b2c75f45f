import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { textForRegexp, textForSearch, textForSteps } from '../../../emit/bounded-text.js';
import { quoteString } from '../../../emit/quote.js';
import type { LikeNode } from '../../../parse/ast.js';
import { type ExprTree, type Lazy, negatedIf, treeOf } from '../../../plan-tree.js';
import type { Env } from '../../session.js';
import { BOOLEAN, type Bound, derive, UTF8 } from '../../types/bound.js';
import { convert } from '../convert.js';
import { stringOf } from '../literals.js';

/**
 * Binds a pattern match without DuckDB's matcher, which backtracks at every `%`. Five of them over
 * 5 kB of text take days and cannot be interrupted. The generated text takes time linear in the
 * string.
 * Source: docs/adr/0074.
 */
export function bindLike(
  node: LikeNode & { readonly shown?: string },
  keyword: 'LIKE' | 'ILIKE' | 'SIMILAR TO',
  env: Env,
): Bound {
  if (node.any) throw tsdbError('not_implemented', `ANY in ${keyword} expression`);
  const value = env.session.bindExpr(node.expr, env);
  const pattern = env.session.bindExpr(node.pattern, env);
  const escapeText =
    node.escape_char === undefined ? '\\' : (stringOf(node.escape_char.value) ?? '');
  const text =
    keyword === 'SIMILAR TO'
      ? similarText(value, pattern)
      : likeText(value, pattern, { escapeText, ignoresCase: keyword === 'ILIKE' });
  const like: Lazy<ExprTree> = () => ({
    ...{ kind: 'like', value: treeOf(value), pattern: treeOf(pattern), escapeText, type: BOOLEAN },
  });
  const shown = node.shown ?? `${node.negated ? 'NOT ' : ''}${keyword}`;
  return derive([value, pattern], {
    text: node.negated ? `(NOT ${text})` : text,
    ...(keyword === 'LIKE' && { tree: negatedIf(node.negated, like) }),
    type: BOOLEAN,
    displayName: `${value.displayName} ${shown} ${pattern.displayName}`,
  });
}

function similarText(value: Bound, pattern: Bound): string {
  const [a, b] = [convert(value, UTF8).text, convert(pattern, UTF8)];
  return `regexp_full_match(${textForRegexp(a, b)}, ${b.text})`;
}

interface LikeOptions {
  /** Empty if the pattern has no escape character. */
  readonly escapeText: string;
  readonly ignoresCase: boolean;
}

function likeText(value: Bound, pattern: Bound, options: LikeOptions): string {
  const { ignoresCase, escapeText } = options;
  if (Buffer.byteLength(escapeText) > 1) {
    throw tsdbError(
      'plan_error',
      'Execution error: Escape string must be empty or one ASCII character in a LIKE expression',
    );
  }
  const fold = (text: string): string => (ignoresCase ? `lower(${text})` : text);
  // The pattern is converted to lower case before escape characters are searched, so an upper-case
  // letter never escapes.
  const escapeChar = ignoresCase && /[A-Z]/.test(escapeText) ? '' : escapeText;
  const [a, b] = [fold(convert(value, UTF8).text), convert(pattern, UTF8)];
  const source = b.constant?.value;
  if (typeof source === 'string') return matchOf(a, stepsOf(source, escapeChar), fold);
  const p = fold(b.text);
  return `plinth_like(${a}, ${p}, ${quoteString(escapeChar)})`;
}

/** One character of a pattern. `%` and `_` are wildcards unless escaped. */
interface Step {
  readonly char: string;
  readonly isWild: boolean;
}

function stepsOf(pattern: string, escapeChar: string): readonly Step[] {
  const steps: Step[] = [];
  let isEscaped = false;
  for (const char of pattern) {
    if (!isEscaped && char === escapeChar) isEscaped = true;
    else {
      steps.push({ char, isWild: !isEscaped && (char === '%' || char === '_') });
      isEscaped = false;
    }
  }
  // A trailing escape character is literal.
  if (isEscaped) steps.push({ char: escapeChar, isWild: false });
  return steps;
}

function matchOf(text: string, steps: readonly Step[], fold: (text: string) => string): string {
  const isChain = steps.every(({ char, isWild }) => isWild === (char === '%') && char !== '_');
  if (!isChain) {
    const regexp = `(?s)${steps.map(regexpOf).join('')}`;
    return `regexp_full_match(${textForSteps(text, steps.length)}, ${fold(quoteString(regexp))})`;
  }
  // Without escapes and `_`, DuckDB searches the pieces from left to right without backtracking.
  const chain = steps.map(({ char }) => char).join('');
  const longest = Math.max(...chain.split('%').map((piece) => Buffer.byteLength(piece)));
  return `(${textForSearch(text, longest)} LIKE ${fold(quoteString(chain))})`;
}

function regexpOf({ char, isWild }: Step): string {
  if (isWild) return char === '%' ? '.*' : '.';
  return /[\w\u0080-\u{10ffff}]/u.test(char) ? char : char === '\0' ? '\\x00' : `\\${char}`;
}
