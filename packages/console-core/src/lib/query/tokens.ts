import type { Language } from './macros.js';
import { QUOTED } from './quoted.js';

/** A token of a statement. Comments and whitespace are skipped. */
export interface Token {
  /** `name` is a quoted identifier, `word` an unquoted one. */
  readonly kind: 'word' | 'name' | 'text' | 'other';
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** The number of open brackets around the token. A bracket itself counts as outside. */
  readonly depth: number;
}

const REST = String.raw`\$\{\w+\}|\$?[A-Za-z_]\w*|\d[\w.]*|\s+|[\s\S]`;
const PIECES: Readonly<Record<Language, RegExp>> = {
  sql: new RegExp(`${QUOTED.sql}|${REST}`, 'g'),
  influxql: new RegExp(`${QUOTED.influxql}|${REST}`, 'g'),
};

/** @returns `undefined` when a quote or a bracket is not closed. */
export function tokensOf(text: string, language: Language): readonly Token[] | undefined {
  const tokens: Token[] = [];
  let depth = 0;
  for (const { 0: piece, index: from } of text.matchAll(PIECES[language])) {
    if (/^(?:\s|--|\/\*)/.test(piece)) continue;
    if (piece === "'" || piece === '"') return undefined;
    if (piece === ')') depth--;
    if (depth < 0) return undefined;
    tokens.push({ kind: kindOf(piece), text: piece, from, to: from + piece.length, depth });
    if (piece === '(') depth++;
  }
  return depth === 0 ? tokens : undefined;
}

function kindOf(piece: string): Token['kind'] {
  if (piece.startsWith('"')) return 'name';
  if (piece.startsWith("'")) return 'text';
  return /^[A-Za-z_]/.test(piece) ? 'word' : 'other';
}

/** Returns the identifier that a token refers to. */
export function calledBy({ kind, text }: Token, language: Language): string {
  if (kind !== 'name') return language === 'sql' ? text.toLowerCase() : text;
  const inner = text.slice(1, -1);
  return language === 'sql' ? inner.replaceAll('""', '"') : inner.replace(/\\(.)/g, '$1');
}

/** Splits a list at its commas. */
export function parted(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const items: Token[][] = [[]];
  for (const token of tokens) {
    if (token.text === ',' && token.depth === 0) items.push([]);
    else items.at(-1)?.push(token);
  }
  return items;
}
