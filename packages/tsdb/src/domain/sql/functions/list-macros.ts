import type { BoundExpr } from '../bound-expr.js';

/**
 * Longest lists that `range`, `array_repeat` and `array_resize` make. The engine's memory limit does not see the lists
 * of the 2,048 rows that each of its threads works on; a list of constants is made once for all rows.
 */
const MAX_CONSTANT_LIST_LENGTH = 1024 * 1024;
export const MAX_LIST_LENGTH = 32 * 1024;

/** Elements of one list times elements of the other that are compared: about 4 ms a row, which nothing interrupts. */
const MAX_COMPARED = 4 * 1024 * 1024;
/** Longest list of which some occurrences of an element are taken: about 10 ms a row. */
const MAX_COUNTED_LENGTH = 1024;
/** Pieces times their bytes, where the text between them is known only when the row is read: each is copied again and again. */
const MAX_JOINED = 4 * 1024 * 1024;

const comparing = (a: string, b: string): string =>
  `CASE WHEN CAST(len(${a}) AS HUGEINT) * len(${b}) > ${MAX_COMPARED}
     THEN error('Resources exhausted: lists of ' || len(${a}) || ' and ' || len(${b}) ||
       ' elements are compared; one times the other may be ${MAX_COMPARED}')`;
const counted = (text: string): string =>
  `CASE WHEN len(l) > ${MAX_COUNTED_LENGTH}
     THEN error('Resources exhausted: a list of ' || len(l) || ' elements; some of its equal elements are found in at most ${MAX_COUNTED_LENGTH}')
     ELSE ${text} END`;

/** The greatest length of a list made from `args`. */
export function maxListLength(args: readonly BoundExpr[]): number {
  return args.every((arg) => arg.constant !== undefined)
    ? MAX_CONSTANT_LIST_LENGTH
    : MAX_LIST_LENGTH;
}

/** What the texts of `LISTS` rely on. */
export const LIST_MACROS: readonly string[] = [
  `CREATE OR REPLACE MACRO plinth_list_length(n, most) AS CASE WHEN n > most
     THEN error('Execution error: list of ' || n || ' elements is too long') ELSE n END`,
  // `size` elements each: lists of lists multiply.
  `CREATE OR REPLACE MACRO plinth_repeat_count(n, size, most) AS CASE
     WHEN CAST(n AS HUGEINT) * greatest(coalesce(size, 1), 1) > most
     THEN error('Execution error: list of ' || n || ' elements is too long') ELSE greatest(n, 0) END`,
  // Places of the first occurrences, in order; NULL is a value like others.
  `CREATE OR REPLACE MACRO plinth_list_unique(l) AS
     ${comparing('l', 'l')} ELSE list_filter(l, lambda x, i: list_position(l, x) = i) END`,
  `CREATE OR REPLACE MACRO plinth_list_union(a, b) AS CASE WHEN a IS NULL OR b IS NULL THEN NULL
     ELSE plinth_list_unique(list_concat(a, b)) END`,
  `CREATE OR REPLACE MACRO plinth_list_has_all(a, b) AS ${comparing('a', 'b')} WHEN a IS NULL OR b IS NULL THEN NULL
     ELSE len(list_filter(b, lambda x: list_position(a, x) IS NULL)) = 0 END`,
  `CREATE OR REPLACE MACRO plinth_list_has_any(a, b) AS ${comparing('a', 'b')} WHEN a IS NULL OR b IS NULL THEN NULL
     ELSE len(list_filter(b, lambda x: list_position(a, x) IS NOT NULL)) > 0 END`,
  `CREATE OR REPLACE MACRO plinth_list_except(a, b) AS ${comparing('a', 'b')} WHEN b IS NULL THEN NULL ELSE
     list_filter(plinth_list_unique(a), lambda x: list_position(b, x) IS NULL) END`,
  `CREATE OR REPLACE MACRO plinth_list_intersect(a, b) AS ${comparing('a', 'b')} WHEN b IS NULL THEN NULL ELSE
     list_filter(plinth_list_unique(a), lambda x: list_position(b, x) IS NOT NULL) END`,
  `CREATE OR REPLACE MACRO plinth_list_position(l, e, start) AS
     CAST(list_position(list_slice(l, start, len(l)), e) + start - 1 AS UBIGINT)`,
  `CREATE OR REPLACE MACRO plinth_list_positions(l, e) AS list_transform(
     list_filter(range(1, len(l) + 1), lambda i: list_extract(l, i) IS NOT DISTINCT FROM e),
     lambda i: CAST(i AS UBIGINT))`,
  // How often the element occurs up to a place tells whether that place is among the first n.
  `CREATE OR REPLACE MACRO plinth_list_rank(l, e, i) AS
     len(list_filter(list_slice(l, 1, i), lambda y: y IS NOT DISTINCT FROM e))`,
  `CREATE OR REPLACE MACRO plinth_list_remove(l, e, n) AS CASE WHEN e IS NOT NULL THEN
     ${counted('list_filter(l, lambda x, i: x IS DISTINCT FROM e OR plinth_list_rank(l, e, i) > n)')} END`,
  `CREATE OR REPLACE MACRO plinth_list_remove_all(l, e) AS
     CASE WHEN e IS NOT NULL THEN list_filter(l, lambda x: x IS DISTINCT FROM e) END`,
  `CREATE OR REPLACE MACRO plinth_list_replace(l, a, b, n) AS ${counted(`list_transform(l,
     lambda x, i: CASE WHEN x IS NOT DISTINCT FROM a AND plinth_list_rank(l, a, i) <= n THEN b ELSE x END)`)}`,
  `CREATE OR REPLACE MACRO plinth_list_replace_all(l, a, b) AS
     list_transform(l, lambda x: CASE WHEN x IS NOT DISTINCT FROM a THEN b ELSE x END)`,
  // The engine's own join takes only a literal between the parts.
  `CREATE OR REPLACE MACRO plinth_join(parts, d) AS CASE WHEN len(parts) = 0 THEN ''
     WHEN CAST(len(parts) AS HUGEINT) * list_sum(list_transform(parts, lambda part: strlen(part) + strlen(d))) > ${MAX_JOINED}
     THEN error('Resources exhausted: ' || len(parts) ||
       ' pieces of text are joined; their number times their bytes may be ${MAX_JOINED} unless what stands between them is a literal')
     ELSE list_reduce(parts, lambda joined, part: joined || d || part) END`,
  `CREATE OR REPLACE MACRO plinth_present_texts(l, absent) AS
     list_filter(list_transform(l, lambda x: coalesce(CAST(x AS VARCHAR), absent)), lambda x: x IS NOT NULL)`,
  `CREATE OR REPLACE MACRO plinth_text_to_list(s, d, absent) AS list_transform(
     CASE WHEN s IS NULL THEN NULL WHEN s = '' THEN [] WHEN d IS NULL THEN string_split(s, '') WHEN d = '' THEN [s]
     ELSE string_split(s, d) END,
     lambda x: CASE WHEN x = absent THEN NULL ELSE x END)`,
  `CREATE OR REPLACE MACRO plinth_range(a, b, step, most) AS CASE
     WHEN step = 0 THEN error('Execution error: step can''t be 0 for function range(start [, stop, step])')
     WHEN (CAST(b AS HUGEINT) - a) // step > most THEN error('Execution error: range is too long')
     ELSE range(CAST(a AS BIGINT), CAST(b AS BIGINT), CAST(step AS BIGINT)) END`,
];
