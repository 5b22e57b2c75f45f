import type { Language } from '../macros.js';
import { calledBy, type Token } from '../tokens.js';
import type { Aggregate, BuilderField } from './builder-query.js';

/** The aggregates of a language, each with the tokens that it writes before the column. */
export type WrittenAggregates = readonly (readonly [
  aggregate: Aggregate,
  before: readonly string[],
])[];

export const isWord = ({ kind, text }: Token, word: string): boolean =>
  kind === 'word' && text.toLowerCase() === word;

/** Returns the position of a clause; the end of the statement if the clause is missing. */
export function findWord(tokens: readonly Token[], word: string): number {
  const at = tokens.findIndex((token) => token.depth === 0 && isWord(token, word));
  return at === -1 ? tokens.length : at;
}

export const SPACED = (tokens: readonly Token[]): string =>
  tokens.map(({ text }) => text).join(' ');

export function splitAtAnd(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const parts: Token[][] = [[]];
  for (const token of tokens) {
    if (token.depth === 0 && isWord(token, 'and')) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

/** Reads an item of SELECT that the builder may have written. */
export function fieldOf(
  item: readonly Token[],
  written: WrittenAggregates,
  language: Language,
): BuilderField | undefined {
  const found = written.find(([, before]) =>
    before.every((text, at) => item[at]?.text.toLowerCase() === text),
  );
  const column = found && item[found[1].length];
  return found && column && { name: calledBy(column, language), aggregate: found[0] };
}
