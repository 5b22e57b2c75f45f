import type { DeleteRows, PolicyOptions, Statement } from '../ast/statements.js';
import { parseCreateContinuousQuery, parseDropContinuousQuery } from './parse-continuous-query.js';
import { parseWhere } from './parse-select.js';
import { parseFrom } from './parse-show.js';
import { parseCreateUser } from './parse-users.js';
import type { TokenStream } from './token-stream.js';

const BAD_NAME = 'invalid statement, expected identifier';

/** Parses the rest of a statement after CREATE. */
export function parseCreate(tokens: TokenStream): Statement {
  if (tokens.takeKeyword('DATABASE')) {
    const name = tokens.name('invalid CREATE DATABASE statement, expected identifier');
    const policy = tokens.takeKeyword('WITH') ? parseOptions(tokens, true) : {};
    return { kind: 'create_database', name, policy };
  }
  if (tokens.takeKeyword('RETENTION')) {
    const at = parsePolicyName(tokens);
    return { kind: 'create_retention_policy', ...at, options: parseOptions(tokens, false) };
  }
  if (tokens.takeKeyword('USER')) return parseCreateUser(tokens);
  if (tokens.takeKeyword('CONTINUOUS')) return parseCreateContinuousQuery(tokens);
  return unsupported(tokens, 'CREATE', ['SUBSCRIPTION']);
}

/** Parses the rest of a statement after ALTER. */
export function parseAlter(tokens: TokenStream): Statement {
  tokens.expectKeyword('RETENTION', 'invalid ALTER statement, expected RETENTION');
  const at = parsePolicyName(tokens);
  return { kind: 'alter_retention_policy', ...at, options: parseOptions(tokens, false) };
}

/** Parses the rest of a statement after DROP. */
export function parseDrop(tokens: TokenStream): Statement {
  if (tokens.takeKeyword('DATABASE')) return { kind: 'drop_database', name: tokens.name(BAD_NAME) };
  if (tokens.takeKeyword('MEASUREMENT')) {
    const name = tokens.name('invalid DROP MEASUREMENT statement, expected identifier');
    return { kind: 'drop_measurement', name };
  }
  if (tokens.takeKeyword('RETENTION')) {
    return { kind: 'drop_retention_policy', ...parsePolicyName(tokens) };
  }
  if (tokens.takeKeyword('SERIES')) return parseRows(tokens, 'drop_series');
  if (tokens.takeKeyword('USER')) {
    return {
      kind: 'drop_user',
      user: tokens.name('invalid DROP USER statement, expected identifier'),
    };
  }
  if (tokens.takeKeyword('CONTINUOUS')) return parseDropContinuousQuery(tokens);
  return unsupported(tokens, 'DROP', ['SHARD', 'SUBSCRIPTION']);
}

/** Parses the rest of a statement after DELETE. */
export function parseDelete(tokens: TokenStream): Statement {
  if (!tokens.takeKeyword('FIELD')) return parseRows(tokens, 'delete');
  const fields: string[] = [];
  do fields.push(tokens.name('invalid DELETE FIELD statement, expected the name of a field'));
  while (tokens.takeSymbol(','));
  return { ...parseRows(tokens, 'delete'), fields };
}

/** Parses the rest of a statement after KILL. */
export function parseKill(tokens: TokenStream): Statement {
  tokens.expectKeyword('QUERY', 'invalid KILL QUERY statement, expected QUERY');
  const token = tokens.peek();
  if (token.kind !== 'integer') {
    throw tokens.failHere('invalid KILL QUERY statement, expected unsigned integer');
  }
  tokens.next();
  if (tokens.takeKeyword('ON')) tokens.next();
  return { kind: 'kill_query', id: token.value };
}

/** Skips the rest of an unsupported statement. */
function parseForeign(tokens: TokenStream, what: string): Statement {
  skipStatement(tokens);
  return { kind: 'unsupported', what };
}

function parseRows(tokens: TokenStream, kind: DeleteRows['kind']): DeleteRows {
  const sources = parseFrom(tokens);
  const condition = parseWhere(tokens);
  if (sources.length === 0 && condition === undefined) {
    const what = kind === 'delete' ? 'DELETE' : 'DROP SERIES';
    throw tokens.failHere(`invalid ${what} statement, expected FROM or WHERE`);
  }
  return { kind, sources, ...(condition !== undefined && { condition }) };
}

function parsePolicyName(tokens: TokenStream): {
  readonly name: string;
  readonly database: string;
} {
  tokens.expectKeyword('POLICY', 'invalid RETENTION POLICY statement, expected POLICY');
  const name = tokens.takeKeyword('DEFAULT') ? 'default' : tokens.name(BAD_NAME);
  tokens.expectKeyword('ON', 'invalid RETENTION POLICY statement, expected ON');
  return { name, database: tokens.name(BAD_NAME) };
}

const BAD_REPLICATION = 'invalid REPLICATION option, expected integer';

function parseOptions(tokens: TokenStream, isOfDatabase: boolean): PolicyOptions {
  const options: { -readonly [K in keyof PolicyOptions]: PolicyOptions[K] } = {};
  for (;;) {
    if (tokens.takeKeyword('DURATION')) {
      options.durationNs = tokens.duration('invalid DURATION option, expected duration');
    } else if (tokens.takeKeyword('REPLICATION')) {
      const { at } = tokens.peek();
      options.replication = tokens.count(BAD_REPLICATION);
      if (options.replication === 0) throw tokens.scanner.fail(BAD_REPLICATION, at);
    } else if (tokens.takeKeyword('SHARD')) {
      tokens.expectKeyword('DURATION', 'invalid SHARD DURATION option, expected DURATION');
      options.shardDurationNs = tokens.duration('invalid SHARD DURATION option, expected duration');
    } else if (!isOfDatabase && tokens.takeKeyword('DEFAULT')) options.isDefault = true;
    else if (isOfDatabase && tokens.takeKeyword('NAME')) options.name = tokens.name(BAD_NAME);
    else break;
  }
  if (Object.keys(options).length > 0) return options;
  throw tokens.failHere(
    'invalid RETENTION POLICY statement, expected DURATION, REPLICATION, SHARD or DEFAULT',
  );
}

function unsupported(tokens: TokenStream, verb: string, kinds: readonly string[]): Statement {
  const token = tokens.peek();
  if (token.kind !== 'keyword' || !kinds.includes(token.text)) {
    throw tokens.failHere(
      `invalid ${verb} statement, expected DATABASE, MEASUREMENT, RETENTION or SERIES`,
    );
  }
  return parseForeign(tokens, `${verb} ${token.text}`);
}

/** After these tokens a slash starts a regular expression; elsewhere it is a division. */
const BEFORE_REGEX: ReadonlySet<string> = new Set(['FROM', 'BY', 'SELECT', '=~', '!~', ',', '(']);

/** Skips to the next semicolon. */
function skipStatement(tokens: TokenStream): void {
  let isBeforeRegex = false;
  for (let token = tokens.peek(); token.kind !== 'end'; token = tokens.peek()) {
    if (token.kind === 'symbol' && token.text === ';') return;
    if (isBeforeRegex && tokens.regex() !== undefined) {
      isBeforeRegex = false;
      continue;
    }
    isBeforeRegex =
      (token.kind === 'keyword' || token.kind === 'symbol') && BEFORE_REGEX.has(token.text);
    tokens.next();
  }
}
