/** Matches the parts of a statement that are taken literally: strings, quoted names, comments and InfluxQL patterns. */
export const QUOTED = {
  sql: String.raw`'(?:[^']|'')*'|\$\$[\s\S]*?\$\$|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/`,
  influxql: String.raw`'(?:[^'\\]|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*"|--[^\n]*|\/\*[\s\S]*?\*\/|(?<=~\s*)\/(?:[^/\\]|\\[\s\S])*\/`,
} as const;
