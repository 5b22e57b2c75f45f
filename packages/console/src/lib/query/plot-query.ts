import { quoteName } from './identifiers.js';
import { type Language, RANGE_CONDITION } from './macros.js';

/** The query of the Plot button: one field over time, with a line for each combination of tags. */
export function plotQuery(
  at: { readonly table: string; readonly field: string; readonly tags: readonly string[] },
  language: Language,
): string {
  const name = (text: string): string => quoteName(text, language);
  const tags = at.tags.map(name);
  if (language === 'influxql') {
    const groups = ['time(${interval})', ...tags].join(', ');
    return `SELECT mean(${name(at.field)}) FROM ${name(at.table)}\nWHERE ${RANGE_CONDITION}\nGROUP BY ${groups} fill(null)`;
  }
  const columns = [
    'date_bin(${interval}, time) AS time',
    ...tags,
    `avg(${name(at.field)}) AS ${name(at.field)}`,
  ].join(', ');
  const groups = ['1', ...tags].join(', ');
  return `SELECT ${columns}\nFROM ${name(at.table)}\nWHERE ${RANGE_CONDITION}\nGROUP BY ${groups}\nORDER BY 1`;
}

export const sampleQuery = (table: string): string =>
  `SELECT * FROM ${quoteName(table, 'sql')}\nORDER BY time DESC\nLIMIT 100`;
