import type { ParsedTable } from '@plinth/tsdb-model/parsed-body.js';
import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import type { ValidatedTable } from '../catalog.js';
import type { SeriesOf } from './check-rows.js';

const NO_REFUSALS: ValidatedTable['refusals'] = [];

/**
 * The common case: every table, field and tag exists with its type. Costs one lookup per field and
 * per tag of a new tag set.
 * @param hasUnknownTags whether the catalog may lack tags of the parser's known tag sets, so that
 *   the tags of all rows must be checked.
 * @returns `undefined` if something is missing or has another type.
 */
export function validateKnown(
  database: DatabaseSchema,
  tables: readonly ParsedTable[],
  seriesOf: SeriesOf,
  hasUnknownTags: (table: string) => boolean,
): readonly ValidatedTable[] | undefined {
  const validated: ValidatedTable[] = [];
  for (const parsed of tables) {
    const schema = database.tables.get(parsed.table);
    if (schema === undefined || !hasFields(schema, parsed) || !hasTagsOfNewSeries(schema, parsed)) {
      return undefined;
    }
    if (hasUnknownTags(parsed.table) && !hasTagsOfRows(schema, parsed, seriesOf)) return undefined;
    validated.push({ parsed, schema, refusals: NO_REFUSALS });
  }
  return validated;
}

function hasFields(schema: TableSchema, parsed: ParsedTable): boolean {
  for (const field of parsed.fields) {
    if (schema.columns.get(field.name)?.kind !== field.data.type) return false;
  }
  return true;
}

/** Whether the table has all tags of the new tag sets. */
export function hasTagsOfNewSeries(schema: TableSchema, parsed: ParsedTable): boolean {
  for (const tagKeys of parsed.newSeries?.tagKeySets ?? []) {
    if (!hasTags(schema, tagKeys)) return false;
  }
  return true;
}

function hasTagsOfRows(schema: TableSchema, parsed: ParsedTable, seriesOf: SeriesOf): boolean {
  const seen = new Set<number>();
  for (const series of parsed.seriesNumbers) {
    if (series >= parsed.firstNewSeries || seen.has(series)) continue;
    seen.add(series);
    if (!hasTags(schema, seriesOf(parsed, series).tagKeys)) return false;
  }
  return true;
}

function hasTags(schema: TableSchema, tagKeys: readonly string[]): boolean {
  for (const tag of tagKeys) {
    if (schema.columns.get(tag)?.kind !== 'tag') return false;
  }
  return true;
}
