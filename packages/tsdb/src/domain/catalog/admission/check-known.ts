import type { ParsedTable } from '../../../model/parsed-body.js';
import type { DatabaseSchema, TableSchema } from '../../../model/schema.js';
import type { AdmittedTable } from '../catalog.js';
import type { SeriesOf } from './check-rows.js';

const NO_REFUSALS: AdmittedTable['refusals'] = [];

/**
 * The usual request: every table, field and tag is known with its type. Costs one look-up per field and per tag of
 * a new tag set, nothing per row unless `isDoubtful` says that the parser's known tag sets cannot be trusted.
 * @returns `undefined` when something is unknown or does not fit.
 */
export function admitKnown(
  database: DatabaseSchema,
  tables: readonly ParsedTable[],
  seriesOf: SeriesOf,
  isUnverified: (table: string) => boolean,
): readonly AdmittedTable[] | undefined {
  const admitted: AdmittedTable[] = [];
  for (const parsed of tables) {
    const schema = database.tables.get(parsed.table);
    if (schema === undefined || !hasFields(schema, parsed) || !hasNewTags(schema, parsed)) {
      return undefined;
    }
    if (isUnverified(parsed.table) && !hasTagsOfRows(schema, parsed, seriesOf)) return undefined;
    admitted.push({ parsed, schema, refusals: NO_REFUSALS });
  }
  return admitted;
}

function hasFields(schema: TableSchema, parsed: ParsedTable): boolean {
  for (const field of parsed.fields) {
    if (schema.columns.get(field.name)?.kind !== field.data.type) return false;
  }
  return true;
}

/** Whether all tags of the tag sets met for the first time are tags of the table. */
export function hasNewTags(schema: TableSchema, parsed: ParsedTable): boolean {
  for (const tagKeys of parsed.newSeries?.shapes ?? []) {
    if (!hasTags(schema, tagKeys)) return false;
  }
  return true;
}

function hasTagsOfRows(schema: TableSchema, parsed: ParsedTable, seriesOf: SeriesOf): boolean {
  const seen = new Set<number>();
  for (const series of parsed.series) {
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
