import { EVERY_AUTO, writeBuilderQuery } from './builder/builder-query.js';
import { quoteName } from './identifiers.js';
import { type Language, RANGE_CONDITION } from './macros.js';

/** The query of the Plot button: one field over time, with a line for each combination of tags. */
export function plotQuery(
  options: { readonly table: string; readonly field: string; readonly tags: readonly string[] },
  language: Language,
): string {
  const { table, field, tags } = options;
  if (language === 'sql') {
    const fields = [{ name: field, aggregate: 'avg' }] as const;
    return writeBuilderQuery({ table, fields, conditions: [], groupBy: tags, every: EVERY_AUTO });
  }
  const name = (text: string): string => quoteName(text, language);
  const groups = ['time(${interval})', ...tags.map(name)].join(', ');
  return `SELECT mean(${name(field)}) FROM ${name(table)}\nWHERE ${RANGE_CONDITION}\nGROUP BY ${groups} fill(null)`;
}

export const sampleQuery = (table: string): string =>
  `SELECT * FROM ${quoteName(table, 'sql')}\nORDER BY time DESC\nLIMIT 100`;
