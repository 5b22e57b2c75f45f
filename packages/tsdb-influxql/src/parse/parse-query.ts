import type { Statement } from '../ast/statements.js';
import { parseAlter, parseCreate, parseDelete, parseDrop, parseKill } from './parse-schema.js';
import { parseSelect } from './parse-select.js';
import { parseShow } from './parse-show.js';
import { parseGrant, parseSetPassword } from './parse-users.js';
import type { BoundTokens } from './scanner.js';
import { TokenStream } from './token-stream.js';

/** Maximum number of statements per request. */
const MAX_STATEMENTS = 10_000;

/**
 * Parses the statements of a text, which semicolons separate; empty statements are skipped. Throws
 * `ParseError`.
 */
export function parseQuery(text: string, bound?: BoundTokens): Statement[] {
  const tokens = new TokenStream(text, bound);
  const statements: Statement[] = [];
  for (;;) {
    while (tokens.takeSymbol(';'));
    if (tokens.peek().kind === 'end') return statements;
    if (statements.length === MAX_STATEMENTS) {
      throw tokens.failHere(`the query has more than ${MAX_STATEMENTS} statements`);
    }
    statements.push(parseStatement(tokens));
    const token = tokens.peek();
    const isEnded = token.kind === 'end' || (token.kind === 'symbol' && token.text === ';');
    if (!isEnded) throw tokens.unknownStatement();
  }
}

function parseStatement(tokens: TokenStream): Statement {
  const token = tokens.peek();
  if (token.kind !== 'keyword') throw tokens.unknownStatement();
  switch (token.text) {
    case 'SELECT':
      return parseSelect(tokens);
    case 'EXPLAIN':
      tokens.next();
      return parseExplain(tokens);
    case 'SHOW':
      tokens.next();
      return parseShow(tokens);
    case 'CREATE':
      tokens.next();
      return parseCreate(tokens);
    case 'ALTER':
      tokens.next();
      return parseAlter(tokens);
    case 'DROP':
      tokens.next();
      return parseDrop(tokens);
    case 'DELETE':
      tokens.next();
      return parseDelete(tokens);
    case 'KILL':
      tokens.next();
      return parseKill(tokens);
    case 'GRANT':
      tokens.next();
      return parseGrant(tokens, 'grant');
    case 'REVOKE':
      tokens.next();
      return parseGrant(tokens, 'revoke');
    case 'SET':
      tokens.next();
      return parseSetPassword(tokens);
    default:
      throw tokens.unknownStatement();
  }
}

function parseExplain(tokens: TokenStream): Statement {
  const analyze = tokens.takeKeyword('ANALYZE');
  const verbose = tokens.takeWord('verbose');
  if (!tokens.isKeyword('SELECT')) {
    throw tokens.failHere('invalid EXPLAIN statement, expected InfluxQL statement');
  }
  return { kind: 'explain', analyze, verbose, select: parseSelect(tokens) };
}
