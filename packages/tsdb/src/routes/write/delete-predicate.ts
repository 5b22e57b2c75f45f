import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';

const COMPARISONS = ['=', '!=', '<', '<=', '>', '>='] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** A comparison of a tag or field. */
export interface DeleteCondition {
  readonly name: string;
  readonly op: Comparison;
  readonly value: string;
  /** Quoted values are strings. Others are numbers or booleans if the name is a field. */
  readonly isQuoted: boolean;
}

/** Comparisons that must all hold. Without a `table`, rows of every table match. */
export interface DeletePredicate {
  readonly table: string | undefined;
  /** The only field whose values are deleted; `undefined` deletes complete rows. */
  readonly field: string | undefined;
  readonly conditions: readonly DeleteCondition[];
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
  /\s*(?:(?<quoted>"(?:[^"\\]|\\.)*")|(?<literal>'(?:[^'\\]|\\.)*')|(?<operator>[=!]~|[!<>]?=|[<>]|\(|\))|(?<word>[^\s"'=!<>()]+))/y;

/**
 * Parses a v2 predicate such as `_measurement="home" AND room="Kitchen" AND temp > 30`. Values
 * may be in double or single quotes. `_field` and comparisons of fields are extensions. `OR` is not supported, as in v2.
 */
export function parseDeletePredicate(text: string): DeletePredicate {
  if (text.length > MAX_LENGTH)
    throw invalid(text, `the predicate has more than ${MAX_LENGTH} characters`);
  const tokens = tokenize(text).filter((token) => token !== '(' && token !== ')');
  const chosen: Chosen = { table: undefined, field: undefined };
  if (tokens.length === 0) return { ...chosen, conditions: [] };
  if (tokens.length > 4 * MAX_CONDITIONS) {
    throw invalid(text, `the predicate has more than ${MAX_CONDITIONS} conditions`);
  }
  const conditions: DeleteCondition[] = [];
  for (let at = 0; at < tokens.length; at += 4) {
    const [key, operator, value, and] = tokens.slice(at, at + 4);
    const op = COMPARISONS.find((each) => each === operator);
    if (operator === '=~' || operator === '!~') {
      throw invalid(text, 'regular expressions are not supported; use = or !=');
    }
    if (key === undefined || value === undefined || op === undefined) {
      throw invalid(text, 'expected tag = "value"');
    }
    if (and !== undefined && and.toUpperCase() !== 'AND') {
      throw invalid(text, `unsupported logical operator '${and}'; use AND`);
    }
    if (and !== undefined && at + 4 >= tokens.length)
      throw invalid(text, 'expected a condition after AND');
    const name = unquoted(key);
    if (name === '_value')
      throw invalid(text, '_value is not supported; use the name of the field, as in temp > 30');
    if (name === 'time' || name === '_time')
      throw invalid(text, 'time conditions are not supported; use start and stop');
    const kind = CHOICES.get(name);
    if (kind === undefined)
      conditions.push({ name, op, value: unquoted(value), isQuoted: isQuoted(value) });
    else if (op !== '=') throw invalid(text, `${name} supports only =`);
    else if (chosen[kind] !== undefined && chosen[kind] !== unquoted(value)) {
      throw invalid(
        text,
        `the predicate has more than one ${name}; send one request for each value`,
      );
    } else chosen[kind] = unquoted(value);
  }
  return { ...chosen, conditions };
}

type Chosen = Record<'table' | 'field', string | undefined>;

/** Names that choose what is deleted, and are not tags. */
const CHOICES: ReadonlyMap<string, keyof Chosen> = new Map([
  ['_measurement', 'table'],
  ['_field', 'field'],
]);

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

const isQuoted = (token: string): boolean => /^["']/.test(token);

function unquoted(token: string): string {
  return isQuoted(token) ? token.slice(1, -1).replace(/\\(.)/gs, '$1') : token;
}

function invalid(text: string, why: string): TsdbError<'delete_predicate_invalid'> {
  return tsdbError(
    'delete_predicate_invalid',
    `invalid delete predicate ${JSON.stringify(text.slice(0, MAX_TOLD_LENGTH))}: ${why}`,
  );
}
