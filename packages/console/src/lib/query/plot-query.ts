import { quoteName } from './identifiers.js';
import { type Language, RANGE_CONDITION } from './macros.js';

/** The query of the Plot button: one field over time, with a line for each combination of tags. */
export function plotQuery(
  options: { readonly table: string; readonly field: string; readonly tags: readonly string[] },
  language: Language,
): string {
  const name = (text: string): string => quoteName(text, language);
  const tags = options.tags.map(name);
  if (language === 'influxql') {
    const groups = ['time(${interval})', ...tags].join(', ');
    return `SELECT mean(${name(options.field)}) FROM ${name(options.table)}\nWHERE ${RANGE_CONDITION}\nGROUP BY ${groups} fill(null)`;
  }
  const columns = [
    'date_bin(${interval}, time) AS time',
    ...tags,
    `avg(${name(options.field)}) AS ${name(options.field)}`,
  ].join(', ');
  const groups = ['1', ...tags].join(', ');
  return `SELECT ${columns}\nFROM ${name(options.table)}\nWHERE ${RANGE_CONDITION}\nGROUP BY ${groups}\nORDER BY 1`;
}

export const sampleQuery = (table: string): string =>
  `SELECT * FROM ${quoteName(table, 'sql')}\nORDER BY time DESC\nLIMIT 100`;
