/** Words that a statement may begin or go on with. */
const WORDS =
  'SELECT FROM WHERE GROUP BY ORDER LIMIT OFFSET AND OR AS SHOW TABLES COLUMNS DATABASES MEASUREMENTS TAG FIELD KEYS VALUES WITH KEY SERIES EXPLAIN DISTINCT time now() count mean avg sum min max first last'.split(
    ' ',
  );

/** What the last word of a line may become, and that word: the form that readline asks for. */
export function complete(line: string, names: readonly string[]): [readonly string[], string] {
  const [word = ''] = /[\w."]*$/.exec(line) ?? [];
  if (word === '') return [[], word];
  const start = word.replace(/^"/, '').toLowerCase();
  const hits = [...names, ...WORDS].filter((name) => name.toLowerCase().startsWith(start));
  return [[...new Set(hits)].sort(), word];
}
