import type { BoundExpr } from '../../bound-expr.js';

/**
 * Maximum length of lists created by `range`, `array_repeat` and `array_resize`. DuckDB's memory
 * limit does not count the lists of the 2,048 rows that each thread processes. A list of constants
 * is created once for all rows.
 */
const MAX_CONSTANT_LIST_LENGTH = 1024 * 1024;
export const MAX_LIST_LENGTH = 32 * 1024;

/**
 * Maximum product of the lengths of two compared lists; the comparison takes about 4 ms per row,
 * without interruption.
 */
const MAX_COMPARED = 4 * 1024 * 1024;
/**
 * Maximum length of a list from which only some occurrences of an element are removed or replaced,
 * which takes about 10 ms per row.
 */
const MAX_COUNTED_LENGTH = 1024;
/**
 * Maximum number of pieces times their bytes for a separator that is not constant, because DuckDB
 * copies each piece repeatedly.
 */
const MAX_JOINED = 4 * 1024 * 1024;

/**
 * Evaluates `body` over arguments that are computed once; within a lambda, DuckDB recomputes them
 * for each element.
 */
export function once(args: readonly string[], body: string): string {
  const fields = args.map((arg) => `'${arg}': ${arg}`).join(', ');
  return `list_transform([{${fields}}], lambda q: ${body})[1]`;
}

const comparing = (a: string, b: string): string =>
  `CASE WHEN CAST(len(${a}) AS HUGEINT) * len(${b}) > ${MAX_COMPARED}
     THEN error('Resources exhausted: lists of ' || len(${a}) || ' and ' || len(${b}) ||
       ' elements are compared; the product of both lengths may be at most ${MAX_COMPARED}')`;
const counted = (text: string): string =>
  `CASE WHEN len(q.l) > ${MAX_COUNTED_LENGTH}
     THEN error('Resources exhausted: a list of ' || len(q.l) || ' elements; at most ${MAX_COUNTED_LENGTH} are allowed for a limited number of removals or replacements')
     ELSE ${text} END`;

/** Returns the maximum length of a list created from `args`. */
export function maxListLength(args: readonly BoundExpr[]): number {
  return args.every((arg) => arg.constant !== undefined)
    ? MAX_CONSTANT_LIST_LENGTH
    : MAX_LIST_LENGTH;
}

/** Macros that `LISTS` uses. */
export const LIST_MACROS: readonly string[] = [
  `CREATE OR REPLACE MACRO plinth_list_length(n, most) AS CASE WHEN n > most
     THEN error('Execution error: list of ' || n || ' elements is too long') ELSE n END`,
  // `size` is the length of the repeated item, because nested lists multiply.
  `CREATE OR REPLACE MACRO plinth_repeat_count(n, size, most) AS CASE
     WHEN CAST(n AS HUGEINT) * greatest(coalesce(size, 1), 1) > most
     THEN error('Execution error: list of ' || n || ' elements is too long') ELSE greatest(n, 0) END`,
  // Keeps first occurrences in order; NULL counts as a value.
  `CREATE OR REPLACE MACRO plinth_list_unique(l) AS ${once(
    ['l'],
    `${comparing('q.l', 'q.l')} ELSE list_filter(q.l, lambda x, i: list_position(q.l, x) = i) END`,
  )}`,
  `CREATE OR REPLACE MACRO plinth_list_union(a, b) AS CASE WHEN a IS NULL OR b IS NULL THEN NULL
     ELSE plinth_list_unique(list_concat(a, b)) END`,
  `CREATE OR REPLACE MACRO plinth_list_has_all(a, b) AS ${once(
    ['a', 'b'],
    `${comparing('q.a', 'q.b')} WHEN q.a IS NULL OR q.b IS NULL THEN NULL
     ELSE len(list_filter(q.b, lambda x: list_position(q.a, x) IS NULL)) = 0 END`,
  )}`,
  `CREATE OR REPLACE MACRO plinth_list_has_any(a, b) AS ${once(
    ['a', 'b'],
    `${comparing('q.a', 'q.b')} WHEN q.a IS NULL OR q.b IS NULL THEN NULL
     ELSE len(list_filter(q.b, lambda x: list_position(q.a, x) IS NOT NULL)) > 0 END`,
  )}`,
  ...[
    ['except', 'IS NULL'],
    ['intersect', 'IS NOT NULL'],
  ].map(
    ([name, test]) =>
      `CREATE OR REPLACE MACRO plinth_list_${name}(a, b) AS ${once(
        ['a', 'b'],
        `${comparing('q.a', 'q.b')} WHEN q.b IS NULL THEN NULL
       ELSE plinth_list_unique(list_filter(q.a, lambda x: list_position(q.b, x) ${test})) END`,
      )}`,
  ),
  `CREATE OR REPLACE MACRO plinth_list_position(l, e, start) AS
     CAST(list_position(list_slice(l, start, len(l)), e) + start - 1 AS UBIGINT)`,
  `CREATE OR REPLACE MACRO plinth_list_positions(l, e) AS ${once(
    ['l', 'e'],
    `list_transform(list_filter(list_transform(q.l, lambda x, i: CASE WHEN x IS NOT DISTINCT FROM q.e THEN i END),
       lambda i: i IS NOT NULL), lambda i: CAST(i AS UBIGINT))`,
  )}`,
  // Counts occurrences of the element up to an index, to find out whether it is among the first n.
  `CREATE OR REPLACE MACRO plinth_list_rank(l, e, i) AS
     len(list_filter(list_slice(l, 1, i), lambda y: y IS NOT DISTINCT FROM e))`,
  `CREATE OR REPLACE MACRO plinth_list_remove(l, e, n) AS ${once(
    ['l', 'e', 'n'],
    `CASE WHEN q.e IS NOT NULL THEN ${counted('list_filter(q.l, lambda x, i: x IS DISTINCT FROM q.e OR plinth_list_rank(q.l, q.e, i) > q.n)')} END`,
  )}`,
  `CREATE OR REPLACE MACRO plinth_list_remove_all(l, e) AS ${once(
    ['l', 'e'],
    'CASE WHEN q.e IS NOT NULL THEN list_filter(q.l, lambda x: x IS DISTINCT FROM q.e) END',
  )}`,
  `CREATE OR REPLACE MACRO plinth_list_replace(l, a, b, n) AS ${once(
    ['l', 'a', 'b', 'n'],
    counted(`list_transform(q.l, lambda x, i:
       CASE WHEN x IS NOT DISTINCT FROM q.a AND plinth_list_rank(q.l, q.a, i) <= q.n THEN q.b ELSE x END)`),
  )}`,
  `CREATE OR REPLACE MACRO plinth_list_replace_all(l, a, b) AS ${once(
    ['l', 'a', 'b'],
    'list_transform(q.l, lambda x: CASE WHEN x IS NOT DISTINCT FROM q.a THEN q.b ELSE x END)',
  )}`,
  // DuckDB's own join accepts only a literal separator.
  `CREATE OR REPLACE MACRO plinth_join(parts, d) AS CASE WHEN len(parts) = 0 THEN ''
     WHEN CAST(len(parts) AS HUGEINT) * list_sum(list_transform(parts, lambda part: strlen(part) + strlen(d))) > ${MAX_JOINED}
     THEN error('Resources exhausted: ' || len(parts) ||
       ' strings are joined; their number times their bytes may be at most ${MAX_JOINED} unless the separator is a literal')
     ELSE list_reduce(parts, lambda joined, part: joined || d || part) END`,
  `CREATE OR REPLACE MACRO plinth_present_texts(l, absent) AS
     list_filter(list_transform(l, lambda x: coalesce(CAST(x AS VARCHAR), absent)), lambda x: x IS NOT NULL)`,
  `CREATE OR REPLACE MACRO plinth_text_to_list(s, d, absent) AS ${once(
    ['s', 'd', 'absent'],
    `list_transform(
       CASE WHEN q.s IS NULL THEN NULL WHEN q.s = '' THEN [] WHEN q.d IS NULL THEN string_split(plinth_split_text(q.s, q.d), '')
         WHEN q.d = '' THEN [q.s] ELSE string_split(plinth_split_text(q.s, q.d), q.d) END,
       lambda x: CASE WHEN x = q.absent THEN NULL ELSE x END)`,
  )}`,
  // DuckDB checks all rows for NULLs, including rows that the branch excludes.
  `CREATE OR REPLACE MACRO plinth_list_distance(a, b) AS ${once(
    ['a', 'b'],
    `CASE WHEN len(q.a) <> len(q.b) THEN error('Execution error: Both arrays must have the same length')
     WHEN list_count(q.a) = len(q.a) AND list_count(q.b) = len(q.b)
       THEN CAST(list_distance(list_transform(q.a, lambda x: coalesce(x, 0)),
         list_transform(q.b, lambda x: coalesce(x, 0))) AS DOUBLE) END`,
  )}`,
  `CREATE OR REPLACE MACRO plinth_bounded_list(n, most, l) AS
     CASE WHEN n > most THEN error('Execution error: range is too long') ELSE l END`,
  `CREATE OR REPLACE MACRO plinth_range(a, b, step, most) AS CASE
     WHEN step = 0 THEN error('Execution error: step can''t be 0 for function range(start [, stop, step])')
     WHEN (CAST(b AS HUGEINT) - a) // step > most THEN error('Execution error: range is too long')
     ELSE range(CAST(a AS BIGINT), CAST(b AS BIGINT), CAST(step AS BIGINT)) END`,
];
