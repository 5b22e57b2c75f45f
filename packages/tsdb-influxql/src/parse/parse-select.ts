import type { Expr } from '../ast/expressions.js';
import type {
  Dimension,
  Field,
  Fill,
  Measurement,
  SelectStatement,
  Source,
} from '../ast/select.js';
import type { ParseError } from './parse-error.js';
import { ExprParser, withoutBrackets } from './parse-expr.js';
import type { TokenStream } from './token-stream.js';

/** Maximum nesting depth of subqueries. Source: query-languages, "Guards". */
const MAX_SUBQUERY_DEPTH = 32;

const BAD_FROM = 'invalid FROM clause, expected identifier, regular expression or subquery';
const BAD_GROUP =
  'invalid GROUP BY clause, expected wildcard, TIME, identifier or regular expression';

/**
 * Parses a SELECT; the keyword is the next token.
 * @param withoutInto returns the error for a statement without INTO, which is optional by default.
 */
export function parseSelect(
  tokens: TokenStream,
  depth = 0,
  withoutInto?: () => ParseError,
): SelectStatement {
  const { at } = tokens.peek();
  tokens.next();
  const lookbackNs = tokens.scanner.lookback();
  const exprs = new ExprParser(tokens.scanner);
  const fields = [parseField(tokens, exprs)];
  while (tokens.takeSymbol(',')) {
    // InfluxDB's parser ends the list before the comma and then fails.
    const token = tokens.peek();
    if (token.kind === 'keyword' && token.text !== 'DISTINCT') throw tokens.unknownStatement(at);
    fields.push(parseField(tokens, exprs));
  }
  const into = tokens.takeKeyword('INTO') ? parseTarget(tokens) : undefined;
  if (into === undefined && withoutInto !== undefined) throw withoutInto();
  if (!tokens.takeKeyword('FROM')) throw tokens.unknownStatement(at);
  const sources = commaList(tokens, () => parseSource(tokens, depth));
  const condition = parseWhere(tokens, exprs);
  const dimensions = parseGroupBy(tokens, exprs);
  const fill = parseFill(tokens, exprs);
  const order = parseOrder(tokens);
  const limits = parseLimits(tokens);
  const zone = parseZone(tokens);
  return {
    kind: 'select',
    ...(lookbackNs !== undefined && { lookbackNs }),
    fields,
    ...(into !== undefined && { into }),
    sources,
    ...(condition !== undefined && { condition }),
    dimensions,
    ...(fill !== undefined && { fill }),
    ...(order !== undefined && { order }),
    ...limits,
    ...(zone !== undefined && { zone }),
  };
}

export function commaList<T>(tokens: TokenStream, item: () => T): T[] {
  const items = [item()];
  while (tokens.takeSymbol(',')) items.push(item());
  return items;
}

export function parseWhere(tokens: TokenStream, exprs?: ExprParser): Expr | undefined {
  if (!tokens.takeKeyword('WHERE')) return undefined;
  return (exprs ?? new ExprParser(tokens.scanner)).condition();
}

export function parseLimits(
  tokens: TokenStream,
): Pick<SelectStatement, 'limit' | 'offset' | 'seriesLimit' | 'seriesOffset'> {
  const take = (keyword: string): number | undefined =>
    tokens.takeKeyword(keyword)
      ? tokens.count(`invalid ${keyword} clause, expected unsigned integer`)
      : undefined;
  const limit = take('LIMIT');
  const offset = take('OFFSET');
  const seriesLimit = take('SLIMIT');
  const seriesOffset = take('SOFFSET');
  return {
    ...(limit !== undefined && { limit }),
    ...(offset !== undefined && { offset }),
    ...(seriesLimit !== undefined && { seriesLimit }),
    ...(seriesOffset !== undefined && { seriesOffset }),
  };
}

/**
 * Parses a measurement: `a`, `rp.a`, `db.rp.a` or `db..a`; the last part may be a regular
 * expression.
 */
export const parseMeasurement = (tokens: TokenStream, message: string): Measurement =>
  parseQualified(tokens, message, () => tokens.regex());

/** @param last parses an alternative to the last part. */
function parseQualified(
  tokens: TokenStream,
  message: string,
  last: () => Measurement['name'] | undefined,
): Measurement {
  const parts: (string | undefined)[] = [];
  for (;;) {
    const name = last();
    if (name !== undefined) return measurementOf(parts, name);
    if (parts.length === 1 && tokens.takeSymbol('.')) {
      parts.push(undefined);
      continue;
    }
    parts.push(tokens.name(message));
    if (parts.length === 3 || !tokens.takeSymbol('.')) break;
  }
  return measurementOf(parts.slice(0, -1), parts.at(-1) ?? '');
}

function measurementOf(
  before: readonly (string | undefined)[],
  name: Measurement['name'],
): Measurement {
  const policy = before.at(-1);
  const database = before.length > 1 ? before[0] : undefined;
  return {
    kind: 'measurement',
    ...(database !== undefined && { database }),
    ...(policy !== undefined && { policy }),
    name,
  };
}

/**
 * Parses the target of INTO. `INTO db.rp.:MEASUREMENT` keeps the names of the source measurements.
 */
const parseTarget = (tokens: TokenStream): Measurement =>
  parseQualified(tokens, 'invalid INTO clause, expected identifier', () => {
    if (!tokens.takeSymbol(':')) return undefined;
    tokens.expectKeyword('MEASUREMENT', 'invalid INTO clause, expected :MEASUREMENT');
    return ':MEASUREMENT';
  });

function parseField(tokens: TokenStream, exprs: ExprParser): Field {
  const expr = fieldOf(exprs.arithmetic('projection'));
  const token = tokens.peek();
  if (token.kind === 'symbol' && /^(=|!=|<|<=|>|>=|=~|!~)$/.test(token.text)) {
    throw tokens.failHere('invalid SELECT statement, expected field');
  }
  if (!tokens.takeKeyword('AS')) return { expr };
  return { expr, alias: tokens.name('invalid field alias, expected identifier') };
}

/** Removes parentheses around a wildcard, which do not change its expansion. */
function fieldOf(expr: Expr): Expr {
  const inner = withoutBrackets(expr);
  return inner.kind === 'wildcard' || inner.kind === 'regex' ? inner : expr;
}

function parseSource(tokens: TokenStream, depth: number): Source {
  if (!tokens.takeSymbol('(')) return parseMeasurement(tokens, BAD_FROM);
  if (depth >= MAX_SUBQUERY_DEPTH) {
    throw tokens.failHere(`subqueries are nested more than ${MAX_SUBQUERY_DEPTH} levels deep`);
  }
  if (!tokens.isKeyword('SELECT')) {
    throw tokens.failHere('invalid FROM clause, expected SELECT statement');
  }
  const select = parseSelect(tokens, depth + 1);
  tokens.expectSymbol(')', 'invalid FROM clause, expected )');
  return { kind: 'subquery', select };
}

export function parseGroupBy(tokens: TokenStream, exprs?: ExprParser): Dimension[] {
  if (!tokens.takeKeyword('GROUP')) return [];
  tokens.expectKeyword('BY', 'invalid GROUP BY clause, expected BY');
  const parser = exprs ?? new ExprParser(tokens.scanner);
  return commaList(tokens, () => parseDimension(tokens, parser));
}

/** Parses a dimension with any number of parentheses around it. */
function parseDimension(tokens: TokenStream, exprs: ExprParser): Dimension {
  let openCount = 0;
  while (tokens.takeSymbol('(')) openCount++;
  const dimension = parseBareDimension(tokens, exprs);
  for (; openCount > 0; openCount--)
    tokens.expectSymbol(')', 'invalid GROUP BY clause, expected )');
  return dimension;
}

function parseBareDimension(tokens: TokenStream, exprs: ExprParser): Dimension {
  const regex = tokens.regex();
  if (regex !== undefined) return regex;
  if (tokens.takeSymbol('*')) {
    if (!tokens.takeSymbol('::')) return { kind: 'wildcard' };
    tokens.expectKeyword('TAG', 'invalid wildcard type specifier, expected TAG');
    return { kind: 'wildcard', of: 'tag' };
  }
  const token = tokens.peek();
  if (token.kind !== 'name') throw tokens.failHere(BAD_GROUP);
  tokens.next();
  if (token.isQuoted || !tokens.takeSymbol('(')) {
    const ref = exprs.varRef(token.text);
    if (ref.kind !== 'var_ref') throw tokens.failHere(BAD_GROUP);
    return ref;
  }
  if (token.text.toLowerCase() !== 'time') throw tokens.failHere(BAD_GROUP);
  return parseTimeCall(tokens, exprs);
}

function parseTimeCall(tokens: TokenStream, exprs: ExprParser): Dimension {
  if (tokens.takeSymbol(')')) throw tokens.failHere('invalid TIME call, expected 1 or 2 arguments');
  const { at } = tokens.peek();
  const interval = withoutBrackets(exprs.arithmetic('offset'));
  if (interval.kind !== 'duration' && interval.kind !== 'parameter') {
    throw tokens.scanner.fail('invalid TIME call, expected a duration for the interval', at);
  }
  const offset = tokens.takeSymbol(',') ? withoutBrackets(exprs.arithmetic('offset')) : undefined;
  tokens.expectSymbol(')', "invalid TIME call, expected ')'");
  return {
    kind: 'call',
    name: 'time',
    args: offset === undefined ? [interval] : [interval, offset],
  };
}

function parseFill(tokens: TokenStream, exprs: ExprParser): Fill | undefined {
  if (!tokens.takeWord('fill')) return undefined;
  const message = 'invalid FILL option, expected NULL, NONE, PREVIOUS, LINEAR, or a number';
  tokens.expectSymbol('(', message);
  const fill = readFillOption(tokens, exprs, message);
  tokens.expectSymbol(')', "invalid FILL option, expected ')'");
  return fill;
}

function readFillOption(tokens: TokenStream, exprs: ExprParser, message: string): Fill {
  const { at } = tokens.peek();
  const kind = tokens.word();
  if (kind === 'null' || kind === 'none' || kind === 'previous' || kind === 'linear') {
    tokens.next();
    return { kind };
  }
  if (tokens.peek().kind === 'name') throw tokens.failHere(message);
  const value = exprs.arithmetic('offset', 3);
  if (value.kind === 'integer' || value.kind === 'unsigned' || value.kind === 'number') {
    return { kind: 'number', value: value.value };
  }
  throw tokens.scanner.fail(message, at);
}

export function parseOrder(tokens: TokenStream): 'ASC' | 'DESC' | undefined {
  if (!tokens.takeKeyword('ORDER')) return undefined;
  tokens.expectKeyword('BY', 'invalid ORDER BY, expected BY');
  if (tokens.takeKeyword('ASC')) return 'ASC';
  if (tokens.takeKeyword('DESC')) return 'DESC';
  const token = tokens.peek();
  if (token.kind !== 'name') {
    throw tokens.failHere('invalid ORDER BY, expected ASC, DESC or TIME');
  }
  if (token.text.toLowerCase() !== 'time') {
    throw tokens.failHere('invalid ORDER BY, expected TIME column');
  }
  tokens.next();
  if (tokens.takeKeyword('DESC')) return 'DESC';
  tokens.takeKeyword('ASC');
  return 'ASC';
}

function parseZone(tokens: TokenStream): string | undefined {
  if (!tokens.takeWord('tz')) return undefined;
  const message = 'invalid TZ clause, expected string';
  tokens.expectSymbol('(', message);
  const token = tokens.peek();
  if (token.kind !== 'string') throw tokens.failHere(message);
  tokens.next();
  tokens.expectSymbol(')', "invalid TZ clause, expected ')'");
  return token.text;
}
