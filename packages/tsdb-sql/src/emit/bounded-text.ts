import { regexEffort } from '@plinth/tsdb-model/text/regex-effort.js';
import type { BoundExpr } from '../bound-expr.js';

/**
 * Maximum number of regular-expression steps per string; they take about 15 ms, without
 * interruption.
 */
const MAX_REGEXP_STEPS = 4 * 1024 * 1024;
/**
 * Above this number of steps per character RE2 abandons its automaton, and each step takes many
 * times longer.
 */
const MANY_STEPS = 512;
const MAX_SLOW_REGEXP_STEPS = MAX_REGEXP_STEPS / 8;
/** Up to this number of steps per character, string lengths are not checked. */
const FEW_STEPS = 32;
/** Maximum product of the byte lengths of string and search term; a search takes about 6 ms. */
const MAX_SEARCH_PRODUCT = 1024 * 1024 * 1024;
/** Search terms up to this byte length may be used with strings of any length. */
const SHORT_BYTES = 1024;
/** Assumed value of a repetition count that is not known in advance. */
const REPETITION = 16;
/** Maximum bytes searched for all matches if each match may read to the end of the string. */
const MAX_REREAD_BYTES = 4096;
/** Maximum bytes of a string that insertions enlarge. DuckDB's memory limit does not count it. */
const MAX_GROWN_BYTES = 1024 * 1024;
/**
 * Maximum pieces that a string may be split into. DuckDB stores the pieces of 2,048 rows outside
 * its memory limit, without interruption.
 */
const MAX_PIECES = 16_384;
/** Growth factor that is allowed for any length. */
const SMALL_GROWTH = 8;

/**
 * Macros for functions that take more than linear time, each of which raises an error for strings
 * that are too long.
 */
export const BOUNDED_TEXT_MACROS: readonly string[] = [
  `CREATE OR REPLACE MACRO plinth_short_text(s, most, what) AS CASE WHEN strlen(s) > most
     THEN error('Resources exhausted: ' || what || ' accepts strings of at most ' || most || ' bytes') ELSE s END`,
  `CREATE OR REPLACE MACRO plinth_regexp_text(s, pattern) AS CASE
     WHEN CAST(strlen(s) AS HUGEINT) * strlen(pattern) * CASE WHEN contains(pattern, '{') THEN ${REPETITION} ELSE 1 END > ${MAX_REGEXP_STEPS}
     THEN error('Resources exhausted: a pattern of ' || strlen(pattern) || ' bytes on a string of ' || strlen(s) ||
       ' bytes; the product of both may be at most ${MAX_REGEXP_STEPS}, or a ${REPETITION}th of that if the pattern contains {')
     ELSE s END`,
  `CREATE OR REPLACE MACRO plinth_sought(s, t) AS CASE
     WHEN strlen(t) > ${SHORT_BYTES} AND CAST(strlen(s) AS HUGEINT) * strlen(t) > ${MAX_SEARCH_PRODUCT}
     THEN error('Resources exhausted: search for a string of ' || strlen(t) || ' bytes in one of ' || strlen(s) ||
       ' bytes; above ${SHORT_BYTES} bytes the product of both may be at most ${MAX_SEARCH_PRODUCT}')
     ELSE t END`,
  `CREATE OR REPLACE MACRO plinth_split_text(s, d) AS CASE
     WHEN strlen(s) > ${MAX_PIECES} AND (d IS NULL OR strlen(s) - strlen(replace(s, d, '')) > ${MAX_PIECES} * strlen(d))
     THEN error('Resources exhausted: a string of ' || strlen(s) || ' bytes is split into more than ${MAX_PIECES} pieces') ELSE s END`,
  `CREATE OR REPLACE MACRO plinth_growing_text(s, new) AS CASE
     WHEN strlen(new) > ${SMALL_GROWTH} AND CAST(strlen(s) AS HUGEINT) * strlen(new) > ${MAX_GROWN_BYTES}
     THEN error('Resources exhausted: insertion of a string of ' || strlen(new) || ' bytes into one of ' || strlen(s) ||
       ' bytes; above ${SMALL_GROWTH} bytes the product of both may be at most ${MAX_GROWN_BYTES}') ELSE s END`,
];

/**
 * Guards `text` against a regular expression. The number of steps is known in advance only for
 * literal patterns.
 */
export function textForRegexp(text: string, pattern: Pick<BoundExpr, 'text' | 'constant'>): string {
  const source = pattern.constant?.value;
  if (source === null) return text;
  if (typeof source !== 'string') return `plinth_regexp_text(${text}, ${pattern.text})`;
  return textForSteps(text, regexEffort(source).stepsPerCharacter);
}

/** Guards `text` for a function with `stepCount` steps per character. */
export function textForSteps(text: string, stepCount: number): string {
  if (stepCount <= FEW_STEPS) return text;
  const all = stepCount > MANY_STEPS ? MAX_SLOW_REGEXP_STEPS : MAX_REGEXP_STEPS;
  const most = Math.floor(all / stepCount);
  return `plinth_short_text(${text}, ${most}, 'a pattern of ${stepCount} steps per character')`;
}

/** Guards `text` for the search of a literal of `soughtBytes` bytes. */
export function textForSearch(text: string, soughtBytes: number): string {
  if (soughtBytes <= SHORT_BYTES) return text;
  const most = Math.floor(MAX_SEARCH_PRODUCT / soughtBytes);
  return `plinth_short_text(${text}, ${most}, 'a search for ${soughtBytes} bytes')`;
}

/** Guards `sought`, the search term for `text`. */
export function soughtIn(text: string, sought: Pick<BoundExpr, 'text' | 'constant'>): string {
  const value = sought.constant?.value;
  const isShort = typeof value === 'string' && Buffer.byteLength(value) <= SHORT_BYTES;
  return isShort || value === null ? sought.text : `plinth_sought(${text}, ${sought.text})`;
}

/** Guards `text` for a function that may insert `inserted` at every position. */
export function textForGrowth(
  text: string,
  inserted: Pick<BoundExpr, 'text' | 'constant'>,
  repeatedCount = 0,
): string {
  const value = inserted.constant?.value;
  if (value === null) return text;
  if (typeof value !== 'string') return `plinth_growing_text(${text}, ${inserted.text})`;
  const growth = Buffer.byteLength(value) + repeatedCount;
  if (growth <= SMALL_GROWTH) return text;
  const most = Math.floor(MAX_GROWN_BYTES / growth);
  return `plinth_short_text(${text}, ${most}, 'inserting ${growth} bytes at every position')`;
}

/**
 * Guards `text` for a search of all matches of a pattern. `a.*b|a` reads the rest of the string for
 * each `a`; any pattern with alternatives or a repeated group may do so.
 */
export function textForAllMatches(
  text: string,
  pattern: Pick<BoundExpr, 'text' | 'constant'>,
): string {
  const source = pattern.constant?.value;
  if (typeof source === 'string' && !mayReread(source)) return text;
  return `plinth_short_text(${text}, ${MAX_REREAD_BYTES}, 'a pattern that may read the rest of the string for each match')`;
}

function mayReread(source: string): boolean {
  const bare = source.replaceAll(/\\[\s\S]|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]/g, 'x');
  return /[*+]|\{\d+,\}/.test(bare) && /\||\)[*+?{]/.test(bare);
}
