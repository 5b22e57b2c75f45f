import type { Measurement } from '../ast/select.js';
import type { CardinalityOf, ShowClauses, Statement, TagKeyFilter } from '../ast/statements.js';
import {
  commaList,
  parseGroupBy,
  parseLimits,
  parseMeasurement,
  parseOrder,
  parseWhere,
} from './parse-select.js';
import type { TokenStream } from './token-stream.js';

const BAD_ON = 'invalid ON clause, expected identifier';
const BAD_FROM = 'invalid FROM clause, expected identifier or regular expression';
const BAD_SHOW =
  'invalid SHOW statement, expected DATABASES, FIELD, MEASUREMENT, MEASUREMENTS, QUERIES, RETENTION, SERIES or TAG';

/** Parses the rest of a statement after SHOW. */
export function parseShow(tokens: TokenStream): Statement {
  const token = tokens.peek();
  if (token.kind !== 'keyword') throw tokens.failHere(BAD_SHOW);
  tokens.next();
  switch (token.text) {
    case 'DATABASES':
      return { kind: 'show_databases' };
    case 'QUERIES':
      return { kind: 'show_queries' };
    case 'RETENTION':
      return parsePolicies(tokens);
    case 'MEASUREMENTS':
      return parseMeasurements(tokens);
    case 'MEASUREMENT':
      return parseCardinality(tokens, 'measurement');
    case 'SERIES':
      return tokens.isKeyword('CARDINALITY', 'EXACT')
        ? parseCardinality(tokens, 'series')
        : { kind: 'show_series', ...parseClauses(tokens) };
    case 'FIELD':
      return parseFieldKeys(tokens);
    case 'TAG':
      return parseTags(tokens);
    default:
      return parseOthers(token.text, tokens);
  }
}

function parsePolicies(tokens: TokenStream): Statement {
  tokens.expectKeyword('POLICIES', 'invalid SHOW RETENTION POLICIES statement, expected POLICIES');
  const database = tokens.takeKeyword('ON') ? tokens.name(BAD_ON) : undefined;
  return { kind: 'show_retention_policies', ...(database !== undefined && { database }) };
}

function parseMeasurements(tokens: TokenStream): Statement {
  const on = parseExtendedOn(tokens);
  const filter = tokens.takeKeyword('WITH') ? parseWithMeasurement(tokens) : undefined;
  const condition = parseWhere(tokens);
  // Parsed for 1.x compatibility; the lists are always ascending.
  parseOrder(tokens);
  const { limit, offset } = parseLimits(tokens);
  return {
    kind: 'show_measurements',
    ...on,
    sources: [],
    ...(filter !== undefined && { filter }),
    ...(condition !== undefined && { condition }),
    ...(limit !== undefined && { limit }),
    ...(offset !== undefined && { offset }),
  };
}

function parseWithMeasurement(tokens: TokenStream): Measurement {
  tokens.expectKeyword('MEASUREMENT', 'invalid WITH clause, expected MEASUREMENT');
  if (tokens.takeSymbol('=')) {
    const { at } = tokens.peek();
    const filter = parseMeasurement(tokens, 'invalid WITH MEASUREMENT clause, expected identifier');
    if (typeof filter.name === 'string') return filter;
    throw tokens.scanner.fail('expected string but got regex', at);
  }
  tokens.expectSymbol('=~', 'invalid WITH MEASUREMENT clause, expected = or =~');
  const { at } = tokens.peek();
  const filter = parseMeasurement(tokens, 'expected regex but got string');
  if (typeof filter.name !== 'string') return filter;
  throw tokens.scanner.fail('expected regex but got string', at);
}

function parseFieldKeys(tokens: TokenStream): Statement {
  if (!tokens.takeKeyword('KEYS')) {
    tokens.expectKeyword('KEY', 'invalid SHOW FIELD KEYS statement, expected KEYS');
    return parseCardinality(tokens, 'field_key');
  }
  return { kind: 'show_field_keys', ...parseClauses(tokens) };
}

function parseTags(tokens: TokenStream): Statement {
  if (tokens.takeKeyword('KEYS')) return { kind: 'show_tag_keys', ...parseClauses(tokens) };
  if (tokens.takeKeyword('KEY')) return parseCardinality(tokens, 'tag_key');
  tokens.expectKeyword('VALUES', 'invalid SHOW TAG statement, expected KEYS or VALUES');
  if (tokens.isKeyword('CARDINALITY', 'EXACT')) return parseCardinality(tokens, 'tag_values');
  const on = parseOn(tokens);
  const sources = parseFrom(tokens);
  const keys = parseWithKey(tokens);
  return { kind: 'show_tag_values', ...on, ...parseTail(tokens), sources, keys };
}

function parseCardinality(tokens: TokenStream, of: CardinalityOf): Statement {
  const exact = tokens.takeKeyword('EXACT');
  tokens.expectKeyword('CARDINALITY', 'invalid SHOW statement, expected CARDINALITY');
  const on = parseOn(tokens);
  const sources = parseFrom(tokens);
  const keys = of === 'tag_values' ? parseWithKey(tokens) : undefined;
  const condition = parseWhere(tokens);
  const dimensions = parseGroupBy(tokens);
  const { limit, offset } = parseLimits(tokens);
  return {
    kind: 'show_cardinality',
    of,
    exact,
    ...on,
    sources,
    dimensions,
    ...(keys !== undefined && { keys }),
    ...(condition !== undefined && { condition }),
    ...(limit !== undefined && { limit }),
    ...(offset !== undefined && { offset }),
  };
}

/** Parses SHOW statements about the server and about unsupported features. */
function parseOthers(first: string, tokens: TokenStream): Statement {
  const second = tokens.peek();
  switch (first) {
    case 'CONTINUOUS':
      tokens.expectKeyword(
        'QUERIES',
        'invalid SHOW CONTINUOUS QUERIES statement, expected QUERIES',
      );
      return { kind: 'show_continuous_queries' };
    case 'GRANTS':
      tokens.expectKeyword('FOR', 'invalid SHOW GRANTS statement, expected FOR');
      return {
        kind: 'show_grants',
        user: tokens.name('invalid SHOW GRANTS statement, expected identifier'),
      };
    case 'SHARD':
      tokens.expectKeyword('GROUPS', 'invalid SHOW SHARD GROUPS statement, expected GROUPS');
      return { kind: 'show_shards', isGrouped: true };
    case 'STATS':
    case 'DIAGNOSTICS':
      return parseServer(first, tokens);
    case 'USERS':
      return { kind: 'show_users' };
    case 'SUBSCRIPTIONS':
      return { kind: 'show_nothing', what: first };
    case 'SHARDS':
      return { kind: 'show_shards', isGrouped: false };
    default:
      throw tokens.scanner.fail(BAD_SHOW, second.at);
  }
}

function parseServer(what: 'STATS' | 'DIAGNOSTICS', tokens: TokenStream): Statement {
  if (!tokens.takeKeyword('FOR')) return { kind: 'show_server', what };
  const token = tokens.peek();
  if (token.kind !== 'string') {
    throw tokens.failHere(`invalid SHOW ${what} statement, expected string`);
  }
  tokens.next();
  return { kind: 'show_server', what, group: token.text };
}

function parseClauses(tokens: TokenStream): ShowClauses {
  const on = parseOn(tokens);
  const sources = parseFrom(tokens);
  return { ...on, sources, ...parseTail(tokens) };
}

function parseTail(tokens: TokenStream): Pick<ShowClauses, 'condition' | 'limit' | 'offset'> {
  const condition = parseWhere(tokens);
  // Parsed for 1.x compatibility; the lists are always ascending.
  parseOrder(tokens);
  const { limit, offset } = parseLimits(tokens);
  return {
    ...(condition !== undefined && { condition }),
    ...(limit !== undefined && { limit }),
    ...(offset !== undefined && { offset }),
  };
}

function parseOn(tokens: TokenStream): Pick<ShowClauses, 'database'> {
  return tokens.takeKeyword('ON') ? { database: tokens.name(BAD_ON) } : {};
}

function parseExtendedOn(tokens: TokenStream): Pick<ShowClauses, 'database' | 'policy'> {
  if (!tokens.takeKeyword('ON')) return {};
  if (tokens.takeSymbol('*')) {
    if (tokens.takeSymbol('.')) tokens.expectSymbol('*', 'invalid ON clause, expected *');
    return { database: '*' };
  }
  const database = tokens.name(BAD_ON);
  if (!tokens.takeSymbol('.')) return { database };
  return { database, policy: tokens.name(BAD_ON) };
}

export function parseFrom(tokens: TokenStream): Measurement[] {
  if (!tokens.takeKeyword('FROM')) return [];
  return commaList(tokens, () => parseMeasurement(tokens, BAD_FROM));
}

function parseWithKey(tokens: TokenStream): TagKeyFilter {
  tokens.expectKeyword('WITH', 'invalid SHOW TAG VALUES statement, expected WITH KEY clause');
  tokens.expectKeyword('KEY', 'invalid WITH KEY clause, expected KEY');
  for (const op of ['=~', '!~'] as const) {
    if (!tokens.takeSymbol(op)) continue;
    const regex = tokens.regex();
    if (regex !== undefined) return { op, regex };
    throw tokens.failHere(`invalid WITH KEY clause, expected regular expression following ${op}`);
  }
  for (const op of ['=', '!='] as const) {
    if (!tokens.takeSymbol(op)) continue;
    return { op, key: tokens.name(`invalid WITH KEY clause, expected identifier following ${op}`) };
  }
  if (!tokens.takeKeyword('IN'))
    throw tokens.failHere('invalid WITH KEY clause, expected condition');
  const message = 'invalid WITH KEY clause, expected identifier list following IN';
  tokens.expectSymbol('(', message);
  const keys = commaList(tokens, () => tokens.name(message));
  tokens.expectSymbol(')', message);
  return { op: 'IN', keys };
}
