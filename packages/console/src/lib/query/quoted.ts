/** What stands for itself in a statement: texts, names, comments, patterns of InfluxQL. */
export const QUOTED = {
  sql: String.raw`'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/`,
  influxql: String.raw`'(?:[^'\\]|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*"|--[^\n]*|\/\*[\s\S]*?\*\/|(?<=~\s*)\/(?:[^/\\]|\\[\s\S])*\/`,
} as const;
