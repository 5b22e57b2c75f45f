import type { SqlType } from './sql-literals.js';

/** A function name and its argument types; `args` is `*` for `count(*)`. */
export interface Signature {
  readonly name: string;
  readonly args: readonly ArgumentType[] | '*';
}

/**
 * `count`: a small integer, because results grow with it. `percentile`: a fraction, or none. `same`: the result type
 * of the call.
 */
export type ArgumentType = SqlType | 'any' | 'count' | 'percentile' | 'same';

const LETTERS: Readonly<Record<string, ArgumentType>> = {
  '=': 'same',
  a: 'any',
  b: 'boolean',
  c: 'count',
  d: 'decimal',
  D: 'date',
  f: 'float',
  i: 'integer',
  I: 'interval',
  l: 'list',
  m: 'map',
  p: 'percentile',
  s: 'struct',
  t: 'text',
  T: 'time',
};

/** Parses `name:letters ...`, with a letter for each argument. */
function signatures(text: string): readonly Signature[] {
  return text
    .trim()
    .split(/\s+/)
    .map((entry) => {
      const [name = '', letters = ''] = entry.split(':');
      const args = Array.from(letters, (letter) => LETTERS[letter] ?? 'any');
      return { name, args: letters === '*' ? '*' : args };
    });
}

/** By result type; a function in `ANY_RESULT` has the type of an argument. */
export const FUNCTIONS: Readonly<Partial<Record<SqlType, readonly Signature[]>>> = {
  boolean: signatures(`
    isnan:f iszero:f contains:tt ends_with:tt starts_with:tt regexp_like:tt regexp_like:ttt arrays_overlap:ll
    array_contains:la array_has:la array_has_all:ll array_has_any:ll array_empty:l`),
  date: signatures(`current_date: make_date:iii to_date:t to_date:i to_date:tt date_trunc:tD`),
  decimal: signatures(`abs:d round:d round:di ceil:d floor:d trunc:d`),
  float: signatures(`
    abs:f acos:f acosh:f asin:f asinh:f atan:f atanh:f atan2:ff cbrt:f ceil:f cos:f cosh:f cot:f degrees:f exp:f
    floor:f ln:f log:f log:ff log10:f log2:f nanvl:ff pi: power:ff radians:f random: round:f round:fi signum:f sin:f
    sinh:f sqrt:f tan:f tanh:f trunc:f trunc:fi array_distance:ll date_part:tT date_part:tD date_part:tI`),
  integer: signatures(`
    abs:i factorial:i gcd:ii lcm:ii power:ii round:i ascii:t bit_length:t char_length:t length:t find_in_set:tt
    instr:tt strpos:tt levenshtein:tt octet_length:t regexp_count:tt regexp_count:tti regexp_count:ttit
    regexp_instr:tt regexp_instr:tti cardinality:l cardinality:m to_unixtime:t to_unixtime:T array_length:l
    array_length:li array_ndims:l array_position:la array_position:lai`),
  list: signatures(`
    make_array:aaa make_list:aa range:cc range:ccc generate_series:cc generate_series:ccc generate_series:TTI
    flatten:l string_to_array:tt string_to_array:ttt regexp_match:tt regexp_match:ttt map_entries:m map_extract:mt
    map_keys:m map_values:m array_append:la array_cat:ll array_concat:ll array_dims:l array_distinct:l
    array_except:ll array_intersect:ll array_pop_back:l array_pop_front:l array_positions:la array_prepend:al
    array_push_back:la array_remove:la array_remove_all:la array_remove_n:lai array_repeat:ac array_replace:laa
    array_replace_all:laa array_replace_n:laai array_resize:lc array_resize:lca array_reverse:l array_slice:lii
    array_slice:liii array_sort:l array_sort:ltt array_union:ll list_sort:lt`),
  map: signatures(`map:ll map:ta make_map:ta make_map:tata`),
  struct: signatures(`named_struct:ta named_struct:tata struct:aa row:aa`),
  text: signatures(`
    btrim:t btrim:tt trim:t chr:i concat:tt concat:ait concat_ws:ttt initcap:t left:ti right:ti lower:t upper:t
    lpad:tc lpad:tct rpad:tc rpad:tct ltrim:t ltrim:tt rtrim:t overlay:tti overlay:ttii repeat:tc replace:ttt
    reverse:t split_part:tti substr:ti substr:tii substring:tii substr_index:tti to_hex:i translate:ttt uuid:
    encode:tt decode:tt digest:tt md5:t sha224:t sha256:t sha512:t regexp_replace:ttt regexp_replace:tttt
    array_to_string:lt array_to_string:ltt to_char:Tt to_char:Dt date_format:Tt arrow_typeof:a version:`),
  time: signatures(`
    date_bin:IT date_bin:ITT date_bin_wallclock:IT date_trunc:tT now: current_time: from_unixtime:i to_timestamp:t
    to_timestamp:i to_timestamp:tt to_timestamp_seconds:i to_timestamp_millis:i to_timestamp_micros:i
    to_timestamp_nanos:i to_timestamp_seconds:t to_local_time:T tz:T tz:Tt`),
};

export const ANY_RESULT = signatures(`
  coalesce:=== nullif:== nvl:== ifnull:== nvl2:a== greatest:=== least:=== get_field:st get_field:mt unnest:l unnest:s
  array_any_value:l array_element:li array_extract:li array_max:l array_min:l
`);

export const AGGREGATES = signatures(`
  count:a count:* sum:i sum:f sum:d sum:a min:a max:a avg:f avg:i avg:d median:f median:i array_agg:a string_agg:tt
  bit_and:i bit_or:i bit_xor:i bool_and:b bool_or:b first_value:a last_value:a nth_value:ac grouping:a corr:ff
  covar:ff covar_pop:ff stddev:f stddev_pop:f var:f var_pop:f regr_slope:ff regr_r2:ff regr_count:ff
  regr_intercept:ff regr_sxy:ff approx_distinct:a approx_median:f approx_percentile_cont:fp
  approx_percentile_cont_with_weight:ffp percentile_cont:fp selector_first:aT selector_last:fT selector_min:fT
  selector_max:iT selector_last:fTt
`);

export const WINDOW_FUNCTIONS = signatures(`
  row_number: rank: dense_rank: percent_rank: cume_dist: ntile:c lag:a lag:ac lag:aca lead:ac first_value:a
  last_value:a nth_value:ac difference:f derivative:fIT non_negative_difference:f non_negative_derivative:f
`);
