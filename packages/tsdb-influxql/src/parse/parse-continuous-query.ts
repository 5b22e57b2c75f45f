import { printSingleUnit } from '../ast/print.js';
import type { SelectStatement } from '../ast/select.js';
import type { CreateContinuousQuery, Statement } from '../ast/statements.js';
import { ParseError } from './parse-error.js';
import { parseSelect } from './parse-select.js';
import type { Token } from './token.js';
import type { TokenStream } from './token-stream.js';

/**
 * Parses the rest of a statement after CREATE CONTINUOUS. InfluxDB 3 does not have these
 * statements, so the errors are those of InfluxDB 1.x.
 * Source: query-languages, "Continuous queries".
 */
export function parseCreateContinuousQuery(tokens: TokenStream): CreateContinuousQuery {
  expect(tokens, 'QUERY');
  const name = identifier(tokens);
  expect(tokens, 'ON');
  const database = identifier(tokens);
  const resample = tokens.takeKeyword('RESAMPLE') ? parseResample(tokens) : {};
  expect(tokens, 'BEGIN');
  if (!tokens.isKeyword('SELECT')) throw notExpected(tokens, tokens.peek(), 'SELECT');
  const select = parseSelect(tokens, 0, () => notExpected(tokens, tokens.peek(), 'INTO'));
  const intervalNs = intervalOf(select);
  // InfluxDB 1.x reports the last token of the SELECT.
  if (intervalNs === 0n) throw notExpected(tokens, tokens.scanner.last, 'GROUP BY time(...)');
  expect(tokens, 'END');
  checkFor(intervalNs, resample);
  return { kind: 'create_continuous_query', name, database, ...resample, select };
}

/** Parses the rest of a statement after DROP CONTINUOUS. */
export function parseDropContinuousQuery(tokens: TokenStream): Statement {
  expect(tokens, 'QUERY');
  const name = identifier(tokens);
  expect(tokens, 'ON');
  return { kind: 'drop_continuous_query', name, database: identifier(tokens) };
}

type Resample = Pick<CreateContinuousQuery, 'everyNs' | 'forNs'>;

function parseResample(tokens: TokenStream): Resample {
  const everyNs = tokens.takeKeyword('EVERY') ? duration(tokens) : undefined;
  const forNs = tokens.takeKeyword('FOR') ? duration(tokens) : undefined;
  if (!everyNs && !forNs) throw notExpected(tokens, tokens.peek(), 'EVERY, FOR');
  return { ...(everyNs && { everyNs }), ...(forNs && { forNs }) };
}

function duration(tokens: TokenStream): bigint {
  const token = tokens.peek();
  if (token.kind !== 'duration') throw notExpected(tokens, token, 'duration');
  tokens.next();
  return token.ns;
}

/** Returns the interval of GROUP BY time; 0 if the statement has none. */
function intervalOf({ dimensions }: SelectStatement): bigint {
  const time = dimensions.find(({ kind }) => kind === 'call');
  const interval = time?.kind === 'call' ? time.args[0] : undefined;
  return interval?.kind === 'duration' ? interval.ns : 0n;
}

function checkFor(intervalNs: bigint, { everyNs = 0n, forNs }: Resample): void {
  const least = everyNs > intervalNs ? everyNs : intervalNs;
  if (forNs === undefined || forNs >= least) return;
  const bounds = `must be a minimum of ${printSingleUnit(least)}, got ${printSingleUnit(forNs)}`;
  throw ParseError.v1(`FOR duration must be >= GROUP BY time duration: ${bounds}`);
}

function expect(tokens: TokenStream, keyword: string): void {
  if (!tokens.takeKeyword(keyword)) throw notExpected(tokens, tokens.peek(), keyword);
}

function identifier(tokens: TokenStream): string {
  const token = tokens.peek();
  if (token.kind !== 'name') throw notExpected(tokens, token, 'identifier');
  tokens.next();
  return token.text;
}

function notExpected({ scanner }: TokenStream, token: Token, expected: string): ParseError {
  const before = scanner.textFrom(0).slice(0, token.at);
  const line = before.split('\n').length;
  // InfluxDB 1.x counts the end of the text as a separate character.
  const at = before.length - (before.lastIndexOf('\n') + 1) + (token.kind === 'end' ? 2 : 1);
  const found =
    token.kind === 'end'
      ? 'EOF'
      : 'text' in token
        ? token.text
        : scanner.textFrom(token.at).slice(0, token.end - token.at);
  return ParseError.v1(`found ${found}, expected ${expected} at line ${line}, char ${at}`);
}
