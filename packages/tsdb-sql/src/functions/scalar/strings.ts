import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import type { BoundExpr } from '../../bound-expr.js';
import { soughtIn, textForGrowth } from '../../emit/bounded-text.js';
import { withinStringBudget } from '../../emit/string-budget.js';
import type { FunctionCall, FunctionDefinition } from '../function-definition.js';
import { joinText } from '../lists/lists.js';
import {
  argAt,
  BOOLEAN,
  badArguments,
  expectArgCount,
  INT32,
  intArg,
  isInteger,
  scalar,
  textArg,
  UTF8,
} from '../signature.js';

/**
 * Signature and text of a string function. Argument kinds: `s` a string, `i` an integer; `?` makes
 * the rest optional.
 */
interface Plain {
  readonly args: string;
  readonly type: SqlType;
  /** Indexes of the searched argument and of the search-term argument. */
  readonly sought?: readonly [within: number, sought: number];
  text(...args: string[]): string;
}

/**
 * Maximum characters of strings created by `repeat`, `lpad` and `rpad`. DuckDB's memory limit does
 * not count the strings of the 2,048 rows that each thread processes.
 */
const MAX_PADDED_LENGTH = 256 * 1024;

/**
 * Maximum product of the character counts that `levenshtein` compares, which takes 2 ms per row,
 * without interruption. Strings with multi-byte characters have a lower limit because they are
 * compared on the main thread, 2,048 rows at a time.
 */
const MAX_COMPARED = 1024 * 1024;
const MAX_COMPARED_HERE = 16 * 1024;

const PLAIN: Readonly<Record<string, Plain>> = {
  ascii: { args: 's', type: INT32, text: (s) => `ascii(${s})` },
  bit_length: { args: 's', type: INT32, text: (s) => `CAST(strlen(${s}) * 8 AS INTEGER)` },
  btrim: { args: 's?s', type: UTF8, text: (s, chars = "' '") => `trim(${s}, ${chars})` },
  character_length: { args: 's', type: INT32, text: (s) => `CAST(length(${s}) AS INTEGER)` },
  chr: { args: 'i', type: UTF8, text: (n) => `chr(CAST(${n} AS INTEGER))` },
  contains: { args: 'ss', type: BOOLEAN, text: (s, t) => `contains(${s}, ${t})`, sought: [0, 1] },
  ends_with: { args: 'ss', type: BOOLEAN, text: (s, t) => `ends_with(${s}, ${t})` },
  find_in_set: { args: 'ss', type: INT32, text: (s, set) => `plinth_find_in_set(${s}, ${set})` },
  initcap: { args: 's', type: UTF8, text: (s) => `plinth_initcap(${s})` },
  left: { args: 'si', type: UTF8, text: (s, n) => `left(${s}, plinth_count(${n}))` },
  levenshtein: { args: 'ss', type: INT32, text: (s, t) => `plinth_levenshtein(${s}, ${t})` },
  lower: { args: 's', type: UTF8, text: (s) => `lower(${s})` },
  lpad: {
    args: 'si?s',
    type: UTF8,
    text: (s, n, pad = "' '") =>
      `plinth_lpad(${withinStringBudget(`greatest(${n}, strlen(${s}))`, s)}, ${n}, ${pad})`,
  },
  ltrim: { args: 's?s', type: UTF8, text: (s, chars = "' '") => `ltrim(${s}, ${chars})` },
  octet_length: { args: 's', type: INT32, text: (s) => `CAST(strlen(${s}) AS INTEGER)` },
  overlay: {
    args: 'ssi?i',
    type: UTF8,
    text: (s, t, from, count) => `plinth_overlay(${s}, ${t}, ${from}, ${count ?? `length(${t})`})`,
  },
  repeat: {
    args: 'si',
    type: UTF8,
    text: (s, n) =>
      `plinth_repeat(${withinStringBudget(`CAST(strlen(${s}) AS HUGEINT) * ${n}`, s)}, ${n})`,
  },
  reverse: { args: 's', type: UTF8, text: (s) => `reverse(${s})` },
  right: { args: 'si', type: UTF8, text: (s, n) => `right(${s}, plinth_count(${n}))` },
  rpad: {
    args: 'si?s',
    type: UTF8,
    text: (s, n, pad = "' '") =>
      `plinth_rpad(${withinStringBudget(`greatest(${n}, strlen(${s}))`, s)}, ${n}, ${pad})`,
  },
  rtrim: { args: 's?s', type: UTF8, text: (s, chars = "' '") => `rtrim(${s}, ${chars})` },
  split_part: {
    args: 'ssi',
    type: UTF8,
    text: (s, d, i) => `plinth_split_part(plinth_split_text(${s}, ${d}), ${d}, ${i})`,
    sought: [0, 1],
  },
  starts_with: { args: 'ss', type: BOOLEAN, text: (s, t) => `starts_with(${s}, ${t})` },
  strpos: { args: 'ss', type: INT32, text: (s, t) => `plinth_strpos(${s}, ${t})`, sought: [0, 1] },
  substr: {
    args: 'si?i',
    type: UTF8,
    text: (s, from, count) =>
      count === undefined
        ? `substr(${s}, plinth_count(CASE WHEN ${from} < 1 THEN 1 ELSE ${from} END))`
        : `plinth_substr(${s}, ${from}, ${count})`,
  },
  to_hex: { args: 'i', type: UTF8, text: (n) => `lower(to_hex(${n}))` },
  translate: { args: 'sss', type: UTF8, text: (s, from, to) => `translate(${s}, ${from}, ${to})` },
  upper: { args: 's', type: UTF8, text: (s) => `upper(${s})` },
};

const ALIASES: Readonly<Record<string, readonly string[]>> = {
  btrim: ['trim'],
  character_length: ['char_length', 'length'],
  strpos: ['instr', 'position'],
  substr: ['substring'],
};

/**
 * String functions. Source: query-languages, "Strings"; otherwise DataFusion, scalar functions,
 * "String Functions".
 */
export const STRINGS: readonly FunctionDefinition[] = [
  ...Object.entries(PLAIN).map(([name, plain]) =>
    scalar([name, ...(ALIASES[name] ?? [])], (call) => ({
      text: plain.text(...plainArgs(call, plain)),
      type: plain.type,
    })),
  ),
  scalar(['replace'], (call) => {
    expectArgCount(call, 3);
    const [s, from, to] = [textArg(call, 0).text, textArg(call, 1), textArg(call, 2)];
    return {
      text: `replace(${textForGrowth(s, to)}, ${soughtIn(s, from)}, ${to.text})`,
      type: UTF8,
    };
  }),
  scalar(['substr_index', 'substring_index'], (call) => {
    expectArgCount(call, 3);
    const [s, between] = [textArg(call, 0).text, textArg(call, 1)];
    const split = `plinth_split_text(${s}, ${between.text})`;
    const pieces = `plinth_pieces_to(${split}, ${soughtIn(s, between)}, ${wholeArg(call, 2).text})`;
    return { text: joinText(pieces, between), type: UTF8 };
  }),
  scalar(['concat'], (call) => {
    expectArgCount(call, 1, Number.POSITIVE_INFINITY);
    const parts = call.args.map((_, index) => textArg(call, index).text);
    return { text: `concat(${parts.join(', ')})`, type: UTF8 };
  }),
  scalar(['concat_ws'], (call) => {
    expectArgCount(call, 2, Number.POSITIVE_INFINITY);
    const parts = call.args.map((_, index) => textArg(call, index).text);
    return { text: `concat_ws(${parts.join(', ')})`, type: UTF8 };
  }),
  scalar(['uuid'], (call) => {
    expectArgCount(call, 0);
    return { text: 'CAST(uuid() AS VARCHAR)', type: UTF8 };
  }),
];

export const STRING_MACROS: readonly string[] = [
  // DuckDB counts characters in 32 bits; no string is longer.
  `CREATE OR REPLACE MACRO plinth_count(n) AS CASE WHEN n > 4294967295 THEN 4294967295::BIGINT
     WHEN n < -4294967295 THEN (-4294967295)::BIGINT ELSE CAST(n AS BIGINT) END`,
  `CREATE OR REPLACE MACRO plinth_find_in_set(s, members) AS CASE WHEN s IS NULL OR members IS NULL THEN NULL
     ELSE coalesce(CAST(list_position(string_split(members, ','), s) AS INTEGER), 0) END`,
  // A word is a run of letters and digits. Its first character becomes upper case, the others lower
  // case.
  `CREATE OR REPLACE MACRO plinth_initcap(s) AS CASE WHEN s = '' THEN '' ELSE array_to_string(list_transform(
     regexp_extract_all(s, '[\\p{L}\\p{N}]+|[^\\p{L}\\p{N}]+'),
     lambda word: upper(left(word, 1)) || lower(substr(word, 2))), '') END`,
  // DuckDB's levenshtein compares bytes; each byte is a character if both counts agree.
  `CREATE OR REPLACE MACRO plinth_levenshtein(a, b) AS CAST(CASE
     WHEN strlen(a) = length(a) AND strlen(b) = length(b) THEN
       CASE WHEN CAST(strlen(a) AS HUGEINT) * strlen(b) > ${MAX_COMPARED}
       THEN error('Resources exhausted: levenshtein() of strings of ' || strlen(a) || ' and ' || strlen(b) ||
         ' characters; the product of both may be at most ${MAX_COMPARED}')
       ELSE levenshtein(a, b) END
     WHEN CAST(length(a) AS HUGEINT) * length(b) > ${MAX_COMPARED_HERE}
     THEN error('Resources exhausted: levenshtein() of strings of ' || length(a) || ' and ' || length(b) ||
       ' characters; the product of both may be at most ${MAX_COMPARED_HERE} unless both are ASCII')
     ELSE plinth_levenshtein_chars(a, b) END AS INTEGER)`,
  ...['lpad', 'rpad'].map(
    (pad) =>
      `CREATE OR REPLACE MACRO plinth_${pad}(s, n, fill) AS CASE
         WHEN s IS NULL OR n IS NULL OR fill IS NULL THEN NULL
         WHEN n <= 0 THEN ''
         WHEN n > ${MAX_PADDED_LENGTH} THEN error('Execution error: ${pad} requested length ' || n || ' too large')
         WHEN fill = '' THEN left(s, n)
         ELSE ${pad}(s, CAST(n AS INTEGER), fill) END`,
  ),
  `CREATE OR REPLACE MACRO plinth_repeat(s, n) AS CASE
     WHEN CAST(length(s) AS HUGEINT) * n > ${MAX_PADDED_LENGTH} THEN error('Execution error: repeat result too large')
     WHEN n < 0 THEN repeat(s, 0) ELSE repeat(s, n) END`,
  `CREATE OR REPLACE MACRO plinth_overlay(s, t, start, n) AS
     substr(s, 1, greatest(start - 1, 0)) || t || substr(s, greatest(start + n, 1))`,
  `CREATE OR REPLACE MACRO plinth_split_part(s, d, i) AS CASE
     WHEN s IS NULL OR d IS NULL OR i IS NULL THEN NULL
     WHEN i = 0 THEN error('Execution error: field position must not be zero')
     WHEN d = '' THEN CASE WHEN i IN (1, -1) THEN s ELSE '' END
     ELSE split_part(s, d, i) END`,
  `CREATE OR REPLACE MACRO plinth_strpos(s, t) AS
     CAST(CASE WHEN t = '' THEN CASE WHEN s IS NOT NULL THEN 1 END ELSE instr(s, t) END AS INTEGER)`,
  // Positions before the first character count toward the length, as in PostgreSQL.
  `CREATE OR REPLACE MACRO plinth_substr(s, start, n) AS CASE
     WHEN s IS NULL OR start IS NULL OR n IS NULL THEN NULL
     WHEN n < 0 THEN error('Execution error: negative count not allowed: ' || n)
     ELSE substr(s, plinth_count(greatest(start, 1)), plinth_count(greatest(
       CAST(start AS HUGEINT) + n - greatest(start, 1), 0))) END`,
  `CREATE OR REPLACE MACRO plinth_pieces_to(s, d, n) AS CASE
     WHEN s IS NULL OR d IS NULL OR n IS NULL THEN NULL
     WHEN n = 0 OR d = '' THEN []
     WHEN n > 0 THEN list_slice(string_split(s, d), 1, n)
     ELSE list_slice(string_split(s, d), n, -1) END`,
];

function plainArgs(call: FunctionCall, { args: kinds, sought }: Plain): string[] {
  const optionalFrom = kinds.indexOf('?');
  const letters = kinds.replace('?', '');
  expectArgCount(call, optionalFrom === -1 ? letters.length : optionalFrom, letters.length);
  const args = call.args.map((_, index) =>
    letters[index] === 's' ? textArg(call, index) : wholeArg(call, index),
  );
  const texts = args.map(({ text }) => text);
  if (sought === undefined) return texts;
  const [within, index] = sought;
  return texts.with(index, soughtIn(texts[within] ?? '', args[index] as BoundExpr)); // as many as `kinds`
}

/** A position or count must be an integer; floats and strings are rejected. */
function wholeArg(call: FunctionCall, index: number): BoundExpr {
  const { type } = argAt(call, index);
  if (!isInteger(type) && type.kind !== 'null') throw badArguments(call);
  return intArg(call, index);
}
