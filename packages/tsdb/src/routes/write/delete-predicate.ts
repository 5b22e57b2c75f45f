import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';

/** Comparisons that must all hold. Without a `table`, rows of every table match. */
export interface DeletePredicate {
  readonly table: string | undefined;
  readonly tags: readonly {
    readonly tag: string;
    readonly value: string;
    readonly isEqual: boolean;
  }[];
}

/** The same limit as for InfluxQL conditions. Each condition is a DuckDB comparison per row. */
const MAX_CONDITIONS = 2000;
/**
 * The same limit as for SQL statements. Much longer values would exceed the stack of the expression
 * below.
 */
const MAX_LENGTH = 1_000_000;
/** Maximum length of the predicate in error messages. */
const MAX_TOLD_LENGTH = 200;
const TOKEN =
  /\s*(?:(?<quoted>"(?:[^"\\]|\\.)*")|(?<literal>'(?:[^'\\]|\\.)*')|(?<operator>[=!]~|!=|=|\(|\))|(?<word>[^\s"'=!()]+))/y;

/**
 * Parses a v2 predicate such as `_measurement="home" AND room="Kitchen"`. Values may be in double
 * or single quotes. `OR` is not supported, as in v2.
 */
export function parseDeletePredicate(text: string): DeletePredicate {
  if (text.length > MAX_LENGTH) throw invalid(text, `more than ${MAX_LENGTH} characters`);
  const tokens = tokenize(text).filter((token) => token !== '(' && token !== ')');
  if (tokens.length === 0) return { table: undefined, tags: [] };
  if (tokens.length > 4 * MAX_CONDITIONS) {
    throw invalid(text, `more than ${MAX_CONDITIONS} conditions`);
  }
  let table: string | undefined;
  const tags: { tag: string; value: string; isEqual: boolean }[] = [];
  for (let at = 0; at < tokens.length; at += 4) {
    const [key, operator, value, and] = tokens.slice(at, at + 4);
    if (operator === '=~' || operator === '!~') {
      throw invalid(text, 'regular expressions are not supported; use = or !=');
    }
    if (key === undefined || value === undefined || (operator !== '=' && operator !== '!=')) {
      throw invalid(text, 'expected tag = "value"');
    }
    if (and !== undefined && and.toUpperCase() !== 'AND') {
      throw invalid(text, `unsupported logical operator ${and}; use AND`);
    }
    if (and !== undefined && at + 4 >= tokens.length)
      throw invalid(text, 'expected a condition after AND');
    const [name, isEqual] = [unquoted(key), operator === '='];
    if (name === '_field')
      throw invalid(text, '_field is not supported, because complete rows are deleted');
    if (name === 'time' || name === '_time')
      throw invalid(text, 'time conditions are not supported; use start and stop');
    if (name !== '_measurement') tags.push({ tag: name, value: unquoted(value), isEqual });
    else if (!isEqual) throw invalid(text, '_measurement supports only =');
    else if (table !== undefined && table !== unquoted(value)) {
      throw invalid(text, 'more than one _measurement');
    } else table = unquoted(value);
  }
  return { table, tags };
}

function tokenize(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const at = TOKEN.lastIndex;
    const found = TOKEN.exec(text);
    if (found === null) throw invalid(text, `unexpected text at position ${at}`);
    tokens.push(found[0].trim());
  }
  return tokens;
}

function unquoted(token: string): string {
  return /^["']/.test(token) ? token.slice(1, -1).replace(/\\(.)/gs, '$1') : token;
}

function invalid(text: string, why: string): TsdbError<'delete_predicate_invalid'> {
  return tsdbError(
    'delete_predicate_invalid',
    `invalid delete predicate ${JSON.stringify(text.slice(0, MAX_TOLD_LENGTH))}: ${why}`,
  );
}
