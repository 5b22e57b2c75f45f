import { hash } from 'node:crypto';
import { KEYWORDS } from '../influxql/parse/token.js';

/** A comment, a string, a quoted name, a number or duration, a parameter, a word, or a character of its own. */
const SQL_TOKEN =
  /--[^\n]*|\/\*.*?(?:\*\/|$)|\[REDACTED\]|[eE]'(?:[^'\\]|\\.)*'?|'(?:[^']|'')*'?|"(?:[^"]|"")*"?|\.?\d(?:[eE][+-]?\d|[\p{L}\p{N}_.])*|\$(\w*)\$.*?(?:\$\1\$|$)|\$\w+|[\p{L}\p{N}_]+|\S/gsu;
const INFLUXQL_TOKEN =
  /--[^\n]*|\/\*.*?(?:\*\/|$)|\[REDACTED\]|'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|\.?\d(?:[eE][+-]?\d|[\p{L}\p{N}_.])*|\$\w+|[\p{L}\p{N}_]+|\S/gsu;
const REGEX = /\/(?:[^/\\\n]|\\.)+\//uy;

const COMMENT = /^(?:--|\/\*)/;
const LITERAL = /^(?:\[REDACTED\]|[eE]?'|\$\w*\$|\.?\d|(?:true|false)$)/i;
const WORD = /^[\p{L}_]/u;
/** Words behind which an operand begins, so that `-` is a sign and `/` a regular expression. */
const BEFORE_OPERAND =
  /^(?:select|from|where|and|or|not|between|when|then|else|in|by|on|limit|offset|slimit|soffset|measurement|with|values|return)$/i;
const HEX_DIGITS = 16;

/**
 * Names the form of a statement: 16 hex digits, equal for statements that differ only in literals, the length of literal lists,
 * comments, white space and the case of keywords. Never derived from a literal, so a password cannot be guessed from it.
 */
export const digestOf = (statement: string, language: string): string =>
  hash('sha256', `${language}\n${normalized(statement, language)}`, 'hex').slice(0, HEX_DIGITS);

/** The statement with `?` for literals, a space between tokens, and words in lower case where their case means nothing. */
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
  /** Up to here no regular expression begins: there is no second slash on the line. */
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

/** Unquoted names of SQL have no case; of InfluxQL only keywords and functions have none. */
function folded(token: string, next: string | undefined, language: string): string {
  if (!WORD.test(token)) return token;
  const isFree = language !== 'influxql' || next === '(' || KEYWORDS.has(token.toUpperCase());
  return isFree ? token.toLowerCase() : token;
}
