/** Macros that the planner uses in addition to the macros of the functions. */
export const PLANNER_MACROS: readonly string[] = [
  `CREATE OR REPLACE MACRO plinth_divided(divisor, is_present, quotient) AS
     CASE WHEN divisor = 0 AND is_present THEN error('Arrow error: Divide by zero error') ELSE quotient END`,
  // DuckDB rejects the smallest integer % -1; the result is 0, as for all integers.
  `CREATE OR REPLACE MACRO plinth_modulo(a, b) AS a % CASE WHEN b = -1 THEN 1 ELSE b END`,
  // Bits beyond the type are lost, as in Arrow; DuckDB's own operator rejects them.
  `CREATE OR REPLACE MACRO plinth_wrap_bits(value, bits, is_signed) AS CASE
     WHEN is_signed AND value >= 1::HUGEINT << (bits - 1) THEN value - (1::HUGEINT << bits) ELSE value END`,
  `CREATE OR REPLACE MACRO plinth_shift_left(a, n, bits, is_signed) AS list_transform(
     [CAST(a AS HUGEINT) * (1::HUGEINT << CAST(n & (bits - 1) AS HUGEINT))],
     lambda value: plinth_wrap_bits(
       (value % (1::HUGEINT << bits) + (1::HUGEINT << bits)) % (1::HUGEINT << bits), bits, is_signed))[1]`,
  `CREATE OR REPLACE MACRO plinth_bad_cast(value, type) AS
     error('Cast error: Cannot cast ' || CASE WHEN type = 'Boolean' THEN 'value' ELSE 'string' END || ' ''' || value || ''' to value of ' || type || ' type')`,
  `CREATE OR REPLACE MACRO plinth_text_to_integer(value, least, most, fallback) AS
     CASE WHEN value IS NULL OR (regexp_full_match(value, '\\s*[+-]?[0-9]+\\s*') AND TRY_CAST(value AS HUGEINT) BETWEEN least AND most)
     THEN CAST(value AS HUGEINT) ELSE fallback END`,
  `CREATE OR REPLACE MACRO plinth_text_to_float(value, fallback) AS
     CASE WHEN value IS NULL OR TRY_CAST(value AS DOUBLE) IS NOT NULL THEN CAST(value AS DOUBLE) ELSE fallback END`,
  `CREATE OR REPLACE MACRO plinth_text_to_boolean(value, fallback) AS CASE WHEN value IS NULL THEN NULL
     WHEN lower(trim(value)) IN ('t', 'tr', 'tru', 'true', 'y', 'ye', 'yes', 'on', '1') THEN true
     WHEN lower(trim(value)) IN ('f', 'fa', 'fal', 'fals', 'false', 'n', 'no', 'of', 'off', '0') THEN false
     ELSE fallback END`,
  `CREATE OR REPLACE MACRO plinth_text_to_time(value, fallback) AS CASE WHEN value IS NULL THEN NULL
     ELSE coalesce(epoch_ns(TRY_CAST('1970-01-01 ' || value AS TIMESTAMP_NS)), fallback) END`,
  // DuckDB parses offsets but neither zone names nor wall-clock time of zones other than UTC.
  `CREATE OR REPLACE MACRO plinth_text_to_timestamp(value, zone, fallback) AS
     CASE WHEN value IS NULL OR (zone IN ('UTC', '+00:00') AND TRY_CAST(value AS TIMESTAMP_NS) IS NOT NULL)
     THEN CAST(value AS TIMESTAMP_NS)
     ELSE coalesce(make_timestamp_ns(plinth_time_in_zone(value, zone)), fallback) END`,
  // Seconds, then the required number of three-digit groups.
  `CREATE OR REPLACE MACRO plinth_fraction_text(ns) AS
     CASE WHEN ns = 0 THEN '' WHEN ns % 1000000 = 0 THEN '.' || lpad(CAST(ns // 1000000 AS VARCHAR), 3, '0')
     WHEN ns % 1000 = 0 THEN '.' || lpad(CAST(ns // 1000 AS VARCHAR), 6, '0')
     ELSE '.' || lpad(CAST(ns AS VARCHAR), 9, '0') END`,
  `CREATE OR REPLACE MACRO plinth_timestamp_text(ns, suffix) AS
     strftime(make_timestamp(plinth_micros(ns)), '%Y-%m-%dT%H:%M:%S')
     || plinth_fraction_text((ns % 1000000000 + 1000000000) % 1000000000) || suffix`,
  `CREATE OR REPLACE MACRO plinth_float_text(value) AS
     CASE WHEN isnan(value) THEN 'NaN' ELSE regexp_replace(replace(CAST(value AS VARCHAR), 'e+', 'e'), 'e(-?)0', 'e\\1') END`,
  `CREATE OR REPLACE MACRO plinth_time_of_day(ns) AS
     (ns % 86400000000000 + 86400000000000) % 86400000000000`,
  `CREATE OR REPLACE MACRO plinth_interval_ns(i) AS
     (i.months * 30::BIGINT + i.days) * 86400000000000 + i.nanos`,
  `CREATE OR REPLACE MACRO plinth_whole_days(i) AS
     CASE WHEN i IS NOT NULL THEN {'months': i.months, 'days': i.days, 'nanos': i.nanos - i.nanos % 86400000000000} END`,
  // Zero parts are omitted. Source: Arrow, display of MonthDayNano intervals and durations.
  `CREATE OR REPLACE MACRO plinth_seconds_text(ns) AS
     CASE WHEN ns < 0 THEN '-' ELSE '' END || CAST(abs(ns) // 1000000000 AS VARCHAR) || '.'
     || lpad(CAST(abs(ns) % 1000000000 AS VARCHAR), 9, '0') || ' secs'`,
  `CREATE OR REPLACE MACRO plinth_interval_text(i) AS CASE
     WHEN i IS NULL THEN NULL
     WHEN i.months = 0 AND i.days = 0 AND i.nanos = 0 THEN '0 secs'
     ELSE concat_ws(' ',
       CASE WHEN i.months <> 0 THEN i.months || ' mons' END,
       CASE WHEN i.days <> 0 THEN i.days || ' days' END,
       CASE WHEN i.nanos // 3600000000000 <> 0 THEN (i.nanos // 3600000000000) || ' hours' END,
       CASE WHEN i.nanos // 60000000000 % 60 <> 0 THEN (i.nanos // 60000000000 % 60) || ' mins' END,
       CASE WHEN i.nanos % 60000000000 <> 0 THEN plinth_seconds_text(i.nanos % 60000000000) END) END`,
  `CREATE OR REPLACE MACRO plinth_duration_text(ns) AS
     (ns // 86400000000000) || ' days ' || (ns // 3600000000000 % 24) || ' hours '
     || (ns // 60000000000 % 60) || ' mins ' || plinth_seconds_text(ns % 60000000000)`,
  `CREATE OR REPLACE MACRO plinth_time_text(ns) AS
     lpad(CAST(ns // 3600000000000 AS VARCHAR), 2, '0') || ':' || lpad(CAST(ns // 60000000000 % 60 AS VARCHAR), 2, '0')
     || ':' || lpad(CAST(ns // 1000000000 % 60 AS VARCHAR), 2, '0') || plinth_fraction_text(ns % 1000000000)`,
  `CREATE OR REPLACE MACRO plinth_add_days(ns, i) AS
     plinth_add_months(ns, i.months) + i.days * 86400000000000`,
  `CREATE OR REPLACE MACRO plinth_add_intervals(a, b) AS CASE WHEN a IS NOT NULL AND b IS NOT NULL THEN
     {'months': a.months + b.months, 'days': a.days + b.days, 'nanos': a.nanos + b.nanos} END`,
  `CREATE OR REPLACE MACRO plinth_negate_interval(i) AS
     CASE WHEN i IS NOT NULL THEN {'months': -i.months, 'days': -i.days, 'nanos': -i.nanos} END`,
  `CREATE OR REPLACE MACRO plinth_multiply_interval(i, n) AS CASE WHEN i IS NOT NULL AND n IS NOT NULL THEN
     {'months': CAST(i.months * n AS INTEGER), 'days': CAST(i.days * n AS INTEGER), 'nanos': CAST(i.nanos * n AS BIGINT)} END`,
];
