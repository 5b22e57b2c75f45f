/** Converts a `LIKE` or `ILIKE` pattern that is not constant to a regular expression. */
export const LIKE_MACROS: readonly string[] = [
  `CREATE OR REPLACE MACRO plinth_like_regexp(pattern, escape) AS '(?s)' || array_to_string(list_transform(
     regexp_extract_all(pattern, '(?s)' || CASE WHEN escape = '' THEN '' ELSE regexp_escape(escape) || '.?|' END || '.'),
     lambda step: CASE WHEN step = '%' AND escape <> '%' THEN '.*' WHEN step = '_' AND escape <> '_' THEN '.'
       WHEN escape = '' OR NOT starts_with(step, escape) THEN regexp_escape(step)
       WHEN step = escape THEN regexp_escape(step)
       ELSE regexp_escape(substr(step, 2)) END), '')`,
  `CREATE OR REPLACE MACRO plinth_like(s, pattern, escape) AS CASE WHEN s IS NULL OR pattern IS NULL THEN NULL
     ELSE regexp_full_match(plinth_regexp_text(s, pattern), plinth_like_regexp(pattern, escape)) END`,
];
