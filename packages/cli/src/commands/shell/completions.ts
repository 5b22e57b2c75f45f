/** Keywords for completion. */
const WORDS =
  'SELECT FROM WHERE GROUP BY ORDER LIMIT OFFSET AND OR AS SHOW TABLES COLUMNS DATABASES MEASUREMENTS TAG FIELD KEYS VALUES WITH KEY SERIES EXPLAIN DISTINCT time now() count mean avg sum min max first last'.split(
    ' ',
  );

/** Completions of the last word, and that word, in readline's format. */
export function complete(line: string, names: readonly string[]): [readonly string[], string] {
  const [word = ''] = /[\w."]*$/.exec(line) ?? [];
  if (word === '') return [[], word];
  const start = word.replace(/^"/, '').toLowerCase();
  const hits = [...names, ...WORDS].filter((name) => name.toLowerCase().startsWith(start));
  return [[...new Set(hits)].sort(), word];
}
