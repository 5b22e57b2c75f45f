import { hash } from 'node:crypto';
import { KEYWORDS } from '@plinth/tsdb-influxql/parse/token.js';

/**
 * Matches a comment, string, quoted name, number or duration, parameter, word, or single character.
 */
const SQL_TOKEN =
  /--[^\n]*|\/\*.*?(?:\*\/|$)|\[REDACTED\]|[eE]'(?:[^'\\]|\\.)*'?|'(?:[^']|'')*'?|"(?:[^"]|"")*"?|\.?\d(?:[eE][+-]?\d|[\p{L}\p{N}_.])*|\$(\w*)\$.*?(?:\$\1\$|$)|\$\w+|[\p{L}\p{N}_]+|\S/gsu;
const INFLUXQL_TOKEN =
  /--[^\n]*|\/\*.*?(?:\*\/|$)|\[REDACTED\]|'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|\.?\d(?:[eE][+-]?\d|[\p{L}\p{N}_.])*|\$\w+|[\p{L}\p{N}_]+|\S/gsu;
const REGEX = /\/(?:[^/\\\n]|\\.)+\//uy;

const COMMENT = /^(?:--|\/\*)/;
const LITERAL = /^(?:\[REDACTED\]|[eE]?'|\$\w*\$|\.?\d|(?:true|false)$)/i;
const WORD = /^[\p{L}_]/u;
/** Words that precede an operand, so that `-` is a sign and `/` starts a regular expression. */
const BEFORE_OPERAND =
  /^(?:select|from|where|and|or|not|between|when|then|else|in|by|on|limit|offset|slimit|soffset|measurement|with|values|return)$/i;
const HEX_DIGITS = 16;

/**
 * Returns 16 hex digits that identify the form of a statement. Statements that differ only in
 * literals, the length of literal lists, comments, white space and the case of keywords have the
 * same digest. Literals do not affect it, so passwords cannot be guessed from it.
 */
export const digestOf = (statement: string, language: string): string =>
  hash('sha256', `${language}\n${normalized(statement, language)}`, 'hex').slice(0, HEX_DIGITS);

/**
 * Returns the statement with `?` for literals, one space between tokens, and lower case where case
 * is not significant.
 */
export function normalized(statement: string, language: string): string {
  const tokens: string[] = [];
  for (const token of tokensOf(statement, language)) {
    if (COMMENT.test(token)) continue;
    if (!LITERAL.test(token)) {
      tokens.push(token);
      continue;
    }
    const last = tokens.length - 1;
    if (isSign(tokens[last]) && !endsOperand(tokens[last - 1])) tokens.pop();
    if (tokens.at(-1) === ',' && tokens.at(-2) === '?') tokens.pop();
    else tokens.push('?');
  }
  while (tokens.at(-1) === ';') tokens.pop();
  return tokens.map((token, index) => folded(token, tokens[index + 1], language)).join(' ');
}

function* tokensOf(statement: string, language: string): Generator<string, void, undefined> {
  const isInfluxql = language === 'influxql';
  const pattern = new RegExp(isInfluxql ? INFLUXQL_TOKEN : SQL_TOKEN);
  let before: string | undefined;
  /** No regular expression starts before this index, because the line has no second slash. */
  let lineEnd = 0;
  for (;;) {
    const from = pattern.lastIndex;
    const token = pattern.exec(statement)?.[0];
    if (token === undefined) return;
    const at = pattern.lastIndex - token.length;
    if (isInfluxql && token.startsWith('/') && at >= lineEnd && !endsOperand(before)) {
      REGEX.lastIndex = at;
      const regex = REGEX.test(statement) ? REGEX.lastIndex : undefined;
      if (regex !== undefined) {
        pattern.lastIndex = Math.max(from, regex);
        before = "''";
        yield before;
        continue;
      }
      const end = statement.indexOf('\n', at);
      lineEnd = end === -1 ? statement.length : end;
    }
    if (!COMMENT.test(token)) before = token;
    yield token;
  }
}

const isSign = (token: string | undefined): boolean => token === '-' || token === '+';

function endsOperand(token: string | undefined): boolean {
  if (token === undefined) return false;
  if (token === '?' || token === ')' || token === ']' || token.startsWith('"')) return true;
  if (LITERAL.test(token)) return true;
  return (WORD.test(token) || token.startsWith('$')) && !BEFORE_OPERAND.test(token);
}

/**
 * Converts words to lower case where case is not significant: unquoted SQL names, InfluxQL keywords
 * and functions.
 */
function folded(token: string, next: string | undefined, language: string): string {
  if (!WORD.test(token)) return token;
  const isFree = language !== 'influxql' || next === '(' || KEYWORDS.has(token.toUpperCase());
  return isFree ? token.toLowerCase() : token;
}
