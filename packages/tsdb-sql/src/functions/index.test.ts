import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ALL_FUNCTIONS } from './index.js';

/**
 * Every name in query-languages, "SQL functions" (5.1 to 5.8), by heading, except `sleep`, which is
 * intentionally missing.
 */
const SPECIFIED = `
  count sum min max avg mean median array_agg string_agg bit_and bit_or bit_xor bool_and bool_or
  first_value last_value nth_value grouping corr covar covar_samp covar_pop
  stddev stddev_samp stddev_pop var var_samp var_sample var_pop var_population
  regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
  approx_distinct approx_median approx_percentile_cont approx_percentile_cont_with_weight
  percentile_cont quantile_cont selector_first selector_last selector_min selector_max
  date_bin date_bin_wallclock date_trunc datetrunc date_part datepart extract now current_timestamp
  current_date today current_time from_unixtime to_unixtime to_timestamp to_timestamp_seconds
  to_timestamp_millis to_timestamp_micros to_timestamp_nanos to_date to_char date_format make_date
  to_local_time tz
  abs acos acosh asin asinh atan atanh atan2 cbrt ceil cos cosh cot degrees exp factorial floor gcd
  isnan iszero lcm ln log log10 log2 nanvl pi power pow radians random round signum sin sinh sqrt tan
  tanh trunc
  ascii bit_length btrim trim char_length character_length length chr concat concat_ws contains
  ends_with find_in_set initcap instr strpos position left right levenshtein lower upper lpad rpad
  ltrim rtrim octet_length overlay repeat replace reverse split_part starts_with substr substring
  substr_index substring_index to_hex translate uuid
  encode decode digest md5 sha224 sha256 sha384 sha512
  regexp_like regexp_match regexp_replace regexp_count regexp_instr
  coalesce nullif nvl ifnull nvl2 greatest least named_struct struct row get_field make_array
  make_list range generate_series arrays_overlap cardinality flatten string_to_array string_to_list
  unnest map make_map map_entries map_extract element_at map_keys map_values arrow_cast arrow_typeof
  version difference non_negative_difference derivative non_negative_derivative
  row_number rank dense_rank percent_rank cume_dist ntile lag lead`;

const OF_LISTS = `any_value append cat concat contains has dims distance distinct element extract empty
  except has_all has_any intersect length max min ndims pop_back pop_front position indexof positions
  prepend push_back push_front remove remove_all remove_n repeat replace replace_all replace_n resize
  reverse slice sort to_string join union`;

const words = (text: string) => text.trim().split(/\s+/);

describe('SQL functions', () => {
  const names = ALL_FUNCTIONS.flatMap((definition) => definition.names);

  it('include every name of the specification', () => {
    const lists = words(OF_LISTS).flatMap((name) => [`array_${name}`, `list_${name}`]);
    const missing = [...words(SPECIFIED), ...lists].filter((name) => !names.includes(name));
    assert.deepEqual(missing, []);
  });

  it('have each name once, in lower case', () => {
    assert.equal(new Set(names).size, names.length);
    assert.deepEqual(
      names.filter((name) => name !== name.toLowerCase()),
      [],
    );
  });
});
