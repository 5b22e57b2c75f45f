import type { Token } from '../tokens.js';

export const isWord = ({ kind, text }: Token, word: string): boolean =>
  kind === 'word' && text.toLowerCase() === word;

/** The position of a clause, or of the end of the statement. */
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
