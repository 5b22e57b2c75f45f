import type { Action } from '@plinth/kernel';
import type { Statement } from '../ast/statements.js';
import type { TokenStream } from './token-stream.js';

const BAD_NAME = 'invalid statement, expected identifier';
const BAD_PRIVILEGE = 'invalid statement, expected READ, WRITE, ALL [PRIVILEGES]';

/** Parses the rest of a statement after CREATE USER. */
export function parseCreateUser(tokens: TokenStream): Statement {
  const user = tokens.name('invalid CREATE USER statement, expected identifier');
  tokens.expectKeyword('WITH', 'invalid CREATE USER statement, expected WITH PASSWORD');
  tokens.expectKeyword('PASSWORD', 'invalid CREATE USER statement, expected WITH PASSWORD');
  const password = parsePassword(tokens);
  if (!tokens.takeKeyword('WITH')) {
    return { kind: 'create_user', user, password, isAdministrator: false };
  }
  tokens.expectKeyword('ALL', 'invalid CREATE USER statement, expected WITH ALL PRIVILEGES');
  tokens.expectKeyword('PRIVILEGES', 'invalid CREATE USER statement, expected WITH ALL PRIVILEGES');
  return { kind: 'create_user', user, password, isAdministrator: true };
}

/** Parses the rest of a statement after SET. */
export function parseSetPassword(tokens: TokenStream): Statement {
  tokens.expectKeyword('PASSWORD', 'invalid SET statement, expected PASSWORD FOR');
  tokens.expectKeyword('FOR', 'invalid SET statement, expected PASSWORD FOR');
  const user = tokens.name(BAD_NAME);
  tokens.expectSymbol('=', 'invalid SET PASSWORD statement, expected =');
  return { kind: 'set_password', user, password: parsePassword(tokens) };
}

/** Parses the rest of a statement after GRANT or REVOKE. */
export function parseGrant(tokens: TokenStream, kind: 'grant' | 'revoke'): Statement {
  const actions = parsePrivilege(tokens);
  const database = tokens.takeKeyword('ON') ? tokens.name(BAD_NAME) : undefined;
  const word = kind === 'grant' ? 'TO' : 'FROM';
  tokens.expectKeyword(word, `invalid statement, expected ${word}`);
  const user = tokens.name(BAD_NAME);
  if (database !== undefined) return { kind, actions, database, user };
  if (actions.length < 2) throw tokens.failHere('invalid statement, expected ON');
  return { kind: 'set_administrator', user, isAdministrator: kind === 'grant' };
}

function parsePrivilege(tokens: TokenStream): readonly Action[] {
  if (tokens.takeKeyword('READ')) return ['read'];
  if (tokens.takeKeyword('WRITE')) return ['write'];
  tokens.expectKeyword('ALL', BAD_PRIVILEGE);
  tokens.takeKeyword('PRIVILEGES');
  return ['read', 'write'];
}

function parsePassword(tokens: TokenStream): string {
  const token = tokens.peek();
  if (token.kind !== 'string') throw tokens.failHere('invalid PASSWORD, expected string');
  tokens.next();
  return token.text;
}
