import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { textForAllMatches, textForGrowth, textForRegexp } from '../../emit/bounded-text.js';
import { quoteString } from '../../emit/quote.js';
import type { FunctionCall, FunctionDefinition, FunctionResult } from '../function-definition.js';
import {
  argAt,
  BOOLEAN,
  constantText,
  expectArgCount,
  INT64,
  intArg,
  scalar,
  textArg,
  UTF8,
} from '../signature.js';

/**
 * DuckDB's RE2 and the Rust syntax of the specification agree on all common patterns; flags become
 * part of the pattern. Source: query-languages, "Regular expressions".
 */
export const REGULAR_EXPRESSIONS: readonly FunctionDefinition[] = [
  scalar(['regexp_like'], (call) => {
    expectArgCount(call, 2, 3);
    const { text } = patternOf(call, 2, false);
    return {
      text: `regexp_matches(${textForRegexp(textArg(call, 0).text, textArg(call, 1))}, ${text})`,
      type: BOOLEAN,
    };
  }),
  scalar(['regexp_match'], bindMatch),
  scalar(['regexp_replace'], bindReplace),
  scalar(['regexp_count'], bindCount),
  scalar(['regexp_instr'], bindInstr),
];

export const REGEXP_MACROS: readonly string[] = [
  `CREATE OR REPLACE MACRO plinth_regexp_count(s, pattern, start) AS CASE
     WHEN start < 1 THEN error('Execution error: regexp_count() requires start to be 1 based')
     WHEN s IS NULL OR pattern IS NULL OR start IS NULL THEN NULL
     WHEN pattern = '(?-s)' THEN 0
     ELSE len(regexp_extract_all(substr(s, start), pattern)) END`,
  // Group 1 is the shortest prefix before the first match; its length gives the position.
  `CREATE OR REPLACE MACRO plinth_regexp_instr(s, pattern, start) AS CASE
     WHEN start < 1 THEN error('Execution error: regexp_instr() requires start to be 1 based')
     WHEN s IS NULL OR pattern IS NULL OR start IS NULL THEN NULL
     WHEN NOT regexp_matches(substr(s, start), pattern) THEN 0
     ELSE length(regexp_extract(substr(s, start), '^((?s:.*?))(?:' || pattern || ')', 1)) + start END`,
];

interface Pattern {
  readonly text: string;
  /** The pattern as written, if it is a literal. */
  readonly source: string | undefined;
  readonly isGlobal: boolean;
}

/** Returns the pattern (argument 1) with the flags of the argument at `flagsIndex`, if present. */
function patternOf(call: FunctionCall, flagsIndex: number, allowsGlobal: boolean): Pattern {
  const pattern = textArg(call, 1);
  const source = pattern.constant?.value;
  const hasFlags = call.args.length > flagsIndex && argAt(call, flagsIndex).type.kind !== 'null';
  const flags = hasFlags ? constantText(call, flagsIndex, 'its flags') : '';
  const isGlobal = flags.includes('g');
  if (isGlobal && !allowsGlobal) {
    throw tsdbError(
      'plan_error',
      `Error during planning: ${call.name}() does not support the "global" option`,
    );
  }
  const unknown = [...flags].find((flag) => !'gimsURx'.includes(flag));
  if (unknown !== undefined) {
    throw tsdbError(
      'plan_error',
      `Error during planning: ${call.name}() does not support the flag '${unknown}'; use ${allowsGlobal ? 'g, ' : ''}i, m, s, U, R or x`,
    );
  }
  const on = [...'imsU'].filter((flag) => flags.includes(flag)).join('');
  // By default, a dot matches a line feed in DuckDB.
  const prefix = flags.includes('s') ? `(?${on})` : `(?${on}-s)`;
  if (typeof source !== 'string') {
    if (flags.includes('x'))
      throw tsdbError('not_implemented', 'the flag "x" with a pattern that is not a literal');
    return { text: `(${quoteString(prefix)} || ${pattern.text})`, source: undefined, isGlobal };
  }
  const literal = flags.includes('x') ? withoutLayout(source) : source;
  return { text: quoteString(prefix + literal), source: literal, isGlobal };
}

/** Applies flag x, which RE2 lacks: removes white space and comments outside of classes. */
function withoutLayout(pattern: string): string {
  return pattern.replaceAll(
    /(\\.|\[(?:\\.|[^\]\\])*\])|#[^\n]*|\s+/gs,
    (_whole, retained: string | undefined) => retained ?? '',
  );
}

/** Returns the names of the capture groups in order; `undefined` for an unnamed group. */
function groupNames(pattern: string): (string | undefined)[] {
  const found = pattern.matchAll(/\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?P?<([A-Za-z_][\w]*)>|(?!\?))/gs);
  return [...found].filter(([whole]) => whole.startsWith('(')).map(([, name]) => name);
}

function bindMatch(call: FunctionCall): FunctionResult {
  expectArgCount(call, 2, 3);
  if (argAt(call, 1).type.kind === 'null') {
    return { text: 'CAST(NULL AS VARCHAR[])', type: { kind: 'list', element: UTF8 } };
  }
  const { text: pattern, source } = patternOf(call, 2, false);
  if (source === undefined) {
    throw tsdbError('not_implemented', 'regexp_match with a pattern that is not a literal');
  }
  const s = textForRegexp(textArg(call, 0).text, textArg(call, 1));
  const groups = groupNames(source).map((_, index) => index + 1);
  const values = (groups.length === 0 ? [0] : groups).map(
    (group) => `regexp_extract(${s}, ${pattern}, ${group})`,
  );
  return {
    text: `CASE WHEN regexp_matches(${s}, ${pattern}) THEN [${values.join(', ')}] END`,
    type: { kind: 'list', element: UTF8 },
  };
}

function bindReplace(call: FunctionCall): FunctionResult {
  expectArgCount(call, 3, 4);
  if (call.args[3]?.type.kind === 'null') return { text: 'CAST(NULL AS VARCHAR)', type: UTF8 };
  const { text: pattern, source, isGlobal } = patternOf(call, 3, true);
  const replacement = textArg(call, 2);
  const literal = replacement.constant?.value;
  const rewrite =
    typeof literal === 'string'
      ? quoteString(duckDbReplacement(literal, groupNames(source ?? '')))
      : `regexp_replace(replace(${replacement.text}, '\\', '\\\\'), '\\$\\{?([0-9])\\}?', '\\\\\\1', 'g')`;
  const options = isGlobal ? ", 'g'" : '';
  const s = textForRegexp(textArg(call, 0).text, textArg(call, 1));
  const groupCount = typeof literal === 'string' ? literal.split(/[$\\]/).length - 1 : 0;
  const grown = textForGrowth(s, replacement, groupCount);
  const read = isGlobal ? textForAllMatches(grown, textArg(call, 1)) : grown;
  return { text: `regexp_replace(${read}, ${pattern}, ${rewrite}${options})`, type: UTF8 };
}

/**
 * Converts `$1`, `${1}`, `${name}` and `\1` to `\1`; a missing group is replaced by an empty
 * string.
 */
function duckDbReplacement(text: string, groups: readonly (string | undefined)[]): string {
  return text.replaceAll(
    /\\(\d)|\$\$|\$\{(\w+)\}|\$(\w+)|\\/g,
    (whole, escaped?: string, braced?: string, bare?: string) => {
      if (whole === '$$') return '$';
      const name = escaped ?? braced ?? bare;
      if (name === undefined) return '\\\\';
      const index = /^\d+$/.test(name) ? Number(name) : groups.indexOf(name) + 1;
      return index <= groups.length && (index > 0 || name === '0') ? `\\${index}` : '';
    },
  );
}

function bindCount(call: FunctionCall): FunctionResult {
  expectArgCount(call, 2, 4);
  const { text } = patternOf(call, 3, false);
  const start = call.args.length > 2 ? intArg(call, 2).text : '1';
  const s = textForRegexp(textArg(call, 0).text, textArg(call, 1));
  const read = textForAllMatches(s, textArg(call, 1));
  return { text: `plinth_regexp_count(${read}, ${text}, ${start})`, type: INT64 };
}

/**
 * Binds `regexp_instr(s, re [, start [, 1 [, flags]]])`: the character position of the first match
 * from `start`, or 0.
 */
function bindInstr(call: FunctionCall): FunctionResult {
  expectArgCount(call, 2, 5);
  const { text } = patternOf(call, 4, false);
  const start = call.args.length > 2 ? intArg(call, 2).text : 'CAST(1 AS BIGINT)';
  if (call.args.length > 3 && Number(argAt(call, 3).constant?.value) !== 1) {
    throw tsdbError('not_implemented', 'regexp_instr for a match other than the first');
  }
  const s = textForRegexp(textArg(call, 0).text, textArg(call, 1));
  return { text: `plinth_regexp_instr(${s}, ${text}, ${start})`, type: INT64 };
}
