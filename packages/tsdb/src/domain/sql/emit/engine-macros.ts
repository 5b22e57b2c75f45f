/** What the planner's texts rely on, besides the macros of the functions. */
export const PLANNER_MACROS: readonly string[] = [
  `CREATE OR REPLACE MACRO plinth_divide(a, b) AS
     CASE WHEN b = 0 THEN error('Arrow error: Divide by zero error') ELSE a // b END`,
  `CREATE OR REPLACE MACRO plinth_modulo(a, b) AS
     CASE WHEN b = 0 THEN error('Arrow error: Divide by zero error') ELSE a % b END`,
  `CREATE OR REPLACE MACRO plinth_bad_cast(value, type) AS
     error('Cast error: Cannot cast string ''' || value || ''' to value of ' || type || ' type')`,
  `CREATE OR REPLACE MACRO plinth_text_to_integer(value, fallback) AS
     CASE WHEN value IS NULL OR (regexp_full_match(value, '[+-]?[0-9]+') AND TRY_CAST(value AS HUGEINT) IS NOT NULL)
     THEN CAST(value AS HUGEINT) ELSE fallback END`,
  `CREATE OR REPLACE MACRO plinth_text_to_float(value, fallback) AS
     CASE WHEN value IS NULL OR TRY_CAST(value AS DOUBLE) IS NOT NULL THEN CAST(value AS DOUBLE) ELSE fallback END`,
  `CREATE OR REPLACE MACRO plinth_text_to_timestamp(value, fallback) AS
     CASE WHEN value IS NULL OR TRY_CAST(value AS TIMESTAMP_NS) IS NOT NULL
     THEN CAST(value AS TIMESTAMP_NS) ELSE fallback END`,
  // Seconds, then as many groups of three digits as are needed.
  `CREATE OR REPLACE MACRO plinth_fraction_text(ns) AS
     CASE WHEN ns = 0 THEN '' WHEN ns % 1000000 = 0 THEN '.' || lpad(CAST(ns // 1000000 AS VARCHAR), 3, '0')
     WHEN ns % 1000 = 0 THEN '.' || lpad(CAST(ns // 1000 AS VARCHAR), 6, '0')
     ELSE '.' || lpad(CAST(ns AS VARCHAR), 9, '0') END`,
  `CREATE OR REPLACE MACRO plinth_timestamp_text(ns, suffix) AS
     strftime(make_timestamp_ns(ns), '%Y-%m-%dT%H:%M:%S')
     || plinth_fraction_text((ns % 1000000000 + 1000000000) % 1000000000) || suffix`,
  `CREATE OR REPLACE MACRO plinth_float_text(value) AS
     CASE WHEN isnan(value) THEN 'NaN' ELSE replace(CAST(value AS VARCHAR), 'e+', 'e') END`,
  `CREATE OR REPLACE MACRO plinth_time_of_day(ns) AS
     (ns % 86400000000000 + 86400000000000) % 86400000000000`,
  `CREATE OR REPLACE MACRO plinth_interval_ns(i) AS
     (i.months * 30::BIGINT + i.days) * 86400000000000 + i.nanos`,
  `CREATE OR REPLACE MACRO plinth_add_interval(ns, i) AS
     plinth_add_months(ns, i.months) + i.days * 86400000000000 + i.nanos`,
  `CREATE OR REPLACE MACRO plinth_negate_interval(i) AS
     {'months': -i.months, 'days': -i.days, 'nanos': -i.nanos}`,
];
