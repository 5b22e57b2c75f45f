import { type TsdbError, tsdbError } from '../../errors.js';

/** Equalities that all hold. `undefined` as table: rows of every table. */
export interface DeletePredicate {
  readonly table: string | undefined;
  readonly tags: readonly {
    readonly tag: string;
    readonly value: string;
    readonly isEqual: boolean;
  }[];
}

/** As a condition of InfluxQL has: each costs the engine a comparison of every row. */
const MAX_CONDITIONS = 2000;
/** As of a statement of SQL: values that are much longer are too deep for the expression below. */
const MAX_LENGTH = 1_000_000;
/** An error repeats so much of a predicate. */
const MAX_TOLD_LENGTH = 200;
const TOKEN =
  /\s*(?:(?<quoted>"(?:[^"\\]|\\.)*")|(?<literal>'(?:[^'\\]|\\.)*')|(?<operator>[=!]~|!=|=|\(|\))|(?<word>[^\s"'=!()]+))/y;

/**
 * Reads a predicate of version 2: `_measurement="home" AND room="Kitchen"`. Values may stand in double or single
 * quotes; `OR` is not offered there either.
 */
export function parseDeletePredicate(text: string): DeletePredicate {
  if (text.length > MAX_LENGTH) throw invalid(text, `it has more than ${MAX_LENGTH} characters`);
  const tokens = tokenize(text).filter((token) => token !== '(' && token !== ')');
  if (tokens.length === 0) return { table: undefined, tags: [] };
  if (tokens.length > 4 * MAX_CONDITIONS) {
    throw invalid(text, `it has more than ${MAX_CONDITIONS} conditions`);
  }
  let table: string | undefined;
  const tags: { tag: string; value: string; isEqual: boolean }[] = [];
  for (let at = 0; at < tokens.length; at += 4) {
    const [key, operator, value, and] = tokens.slice(at, at + 4);
    if (operator === '=~' || operator === '!~') {
      throw invalid(text, 'regular expressions are not supported, only = and !=');
    }
    if (key === undefined || value === undefined || (operator !== '=' && operator !== '!=')) {
      throw invalid(text, 'expected tag = "value"');
    }
    if (and !== undefined && and.toUpperCase() !== 'AND') {
      throw invalid(text, `the logical operator ${and} is not supported, only AND`);
    }
    if (and !== undefined && at + 4 >= tokens.length) throw invalid(text, 'it ends with AND');
    const [name, isEqual] = [unquoted(key), operator === '='];
    if (name === '_field') throw invalid(text, 'rows are deleted whole, not by _field');
    if (name === 'time' || name === '_time') throw invalid(text, 'start and stop say which times');
    if (name !== '_measurement') tags.push({ tag: name, value: unquoted(value), isEqual });
    else if (!isEqual) throw invalid(text, '_measurement can only be compared by =');
    else if (table !== undefined && table !== unquoted(value)) {
      throw invalid(text, 'it names two measurements');
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
