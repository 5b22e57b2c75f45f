import { regexEffort } from '../../../model/regex-effort.js';
import type { BoundExpr } from '../bound-expr.js';

/** Steps that a regular expression may take in one text: about 15 ms, which nothing interrupts. */
const MAX_REGEXP_STEPS = 4 * 1024 * 1024;
/** Beyond so many for each character the automaton is given up at once, and each takes many times as long. */
const MANY_STEPS = 512;
const MAX_SLOW_REGEXP_STEPS = MAX_REGEXP_STEPS / 8;
/** Expressions of so few steps for each character are not worth a look at the length of every text. */
const FEW_STEPS = 32;
/** Bytes of one text times bytes of the other that is looked for: about 6 ms. */
const MAX_SEARCH_PRODUCT = 1024 * 1024 * 1024;
/** Texts of so many bytes are looked for in texts of any length. */
const SHORT_BYTES = 1024;
/** What a count in a pattern that is not known beforehand is taken for. */
const REPETITION = 16;
/** Bytes in which all matches are looked for when each of them may read on to the end of the text. */
const MAX_REREAD_BYTES = 4096;
/** Longest text that is made of a shorter one by putting text in, in bytes. The engine's memory limit does not see it. */
const MAX_GROWN_BYTES = 1024 * 1024;
/** Pieces that a text of each row may be split into: the engine holds those of 2,048 rows outside of its memory limit, and does not stop. */
const MAX_PIECES = 16_384;
/** A text may become so many times as long, whatever its length. */
const SMALL_GROWTH = 8;

/** Texts of functions that take more than time in proportion to their input, each made to tell when that is too long. */
export const BOUNDED_TEXT_MACROS: readonly string[] = [
  `CREATE OR REPLACE MACRO plinth_short_text(s, most, what) AS CASE WHEN strlen(s) > most
     THEN error('Resources exhausted: ' || what || ' takes texts of at most ' || most || ' bytes') ELSE s END`,
  `CREATE OR REPLACE MACRO plinth_regexp_text(s, pattern) AS CASE
     WHEN CAST(strlen(s) AS HUGEINT) * strlen(pattern) * CASE WHEN contains(pattern, '{') THEN ${REPETITION} ELSE 1 END > ${MAX_REGEXP_STEPS}
     THEN error('Resources exhausted: a pattern of ' || strlen(pattern) || ' bytes on a text of ' || strlen(s) ||
       ' bytes; one times the other may be ${MAX_REGEXP_STEPS}, and with { in it a ${REPETITION}th of that')
     ELSE s END`,
  `CREATE OR REPLACE MACRO plinth_sought(s, t) AS CASE
     WHEN strlen(t) > ${SHORT_BYTES} AND CAST(strlen(s) AS HUGEINT) * strlen(t) > ${MAX_SEARCH_PRODUCT}
     THEN error('Resources exhausted: a text of ' || strlen(t) || ' bytes is looked for in one of ' || strlen(s) ||
       ' bytes; beyond ${SHORT_BYTES} bytes one times the other may be ${MAX_SEARCH_PRODUCT}')
     ELSE t END`,
  `CREATE OR REPLACE MACRO plinth_split_text(s, d) AS CASE
     WHEN strlen(s) > ${MAX_PIECES} AND (d IS NULL OR strlen(s) - strlen(replace(s, d, '')) > ${MAX_PIECES} * strlen(d))
     THEN error('Resources exhausted: a text of ' || strlen(s) || ' bytes is split into more than ${MAX_PIECES} pieces') ELSE s END`,
  `CREATE OR REPLACE MACRO plinth_growing_text(s, new) AS CASE
     WHEN strlen(new) > ${SMALL_GROWTH} AND CAST(strlen(s) AS HUGEINT) * strlen(new) > ${MAX_GROWN_BYTES}
     THEN error('Resources exhausted: a text of ' || strlen(new) || ' bytes is put into one of ' || strlen(s) ||
       ' bytes; beyond ${SMALL_GROWTH} bytes one times the other may be ${MAX_GROWN_BYTES}') ELSE s END`,
];

/** `text`, which is read by a regular expression. Its steps are known of those that are written as literals. */
export function textForRegexp(text: string, pattern: Pick<BoundExpr, 'text' | 'constant'>): string {
  const source = pattern.constant?.value;
  if (source === null) return text;
  if (typeof source !== 'string') return `plinth_regexp_text(${text}, ${pattern.text})`;
  return textForSteps(text, regexEffort(source).stepsPerCharacter);
}

/** `text`, of which each character takes so many steps. */
export function textForSteps(text: string, stepCount: number): string {
  if (stepCount <= FEW_STEPS) return text;
  const all = stepCount > MANY_STEPS ? MAX_SLOW_REGEXP_STEPS : MAX_REGEXP_STEPS;
  const most = Math.floor(all / stepCount);
  return `plinth_short_text(${text}, ${most}, 'a pattern of ${stepCount} steps for each character')`;
}

/** `text`, in which a literal of so many bytes is looked for. */
export function textForSearch(text: string, soughtBytes: number): string {
  if (soughtBytes <= SHORT_BYTES) return text;
  const most = Math.floor(MAX_SEARCH_PRODUCT / soughtBytes);
  return `plinth_short_text(${text}, ${most}, 'a search for ${soughtBytes} bytes')`;
}

/** `sought`, which is looked for in `text`. */
export function soughtIn(text: string, sought: Pick<BoundExpr, 'text' | 'constant'>): string {
  const value = sought.constant?.value;
  const isShort = typeof value === 'string' && Buffer.byteLength(value) <= SHORT_BYTES;
  return isShort || value === null ? sought.text : `plinth_sought(${text}, ${sought.text})`;
}

/** `text`, into which `inserted` is put at up to every place. */
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
  return `plinth_short_text(${text}, ${most}, 'putting in ${growth} bytes at every place')`;
}

/**
 * `text`, in which all matches of a pattern are looked for. `a.*b|a` reads all that follows for each `a`: whatever has a choice or
 * a repeated group may.
 */
export function textForAllMatches(
  text: string,
  pattern: Pick<BoundExpr, 'text' | 'constant'>,
): string {
  const source = pattern.constant?.value;
  if (typeof source === 'string' && !mayReread(source)) return text;
  return `plinth_short_text(${text}, ${MAX_REREAD_BYTES}, 'a pattern that may read on for each of its matches')`;
}

function mayReread(source: string): boolean {
  const bare = source.replaceAll(/\\[\s\S]|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]/g, 'x');
  return /[*+]|\{\d+,\}/.test(bare) && /\||\)[*+?{]/.test(bare);
}
