import { EVERY_AUTO } from './builder/builder-query.js';
import { writeBuilderQuery } from './builder/write-builder-query.js';
import { quoteName } from './identifiers.js';
import type { Language } from './macros.js';

/** Returns the query for the Plot button: one field over time, with a line for each combination of tags. */
export function plotQuery(
  options: { readonly table: string; readonly field: string; readonly tags: readonly string[] },
  language: Language,
): string {
  const { table, field, tags } = options;
  const fields = [{ name: field, aggregate: 'avg' }] as const;
  const query = { table, fields, conditions: [], groupBy: tags, every: EVERY_AUTO };
  return writeBuilderQuery(query, language);
}

export const sampleQuery = (table: string): string =>
  `SELECT * FROM ${quoteName(table, 'sql')}\nORDER BY time DESC\nLIMIT 100`;
