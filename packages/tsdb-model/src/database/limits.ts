/**
 * Maximum length of a cache or trigger name in characters. Source: tsdb-http, "Last value cache",
 * "Triggers".
 */
export const MAX_NAME_LENGTH = 255;

/** Maximum size of a name, tag value or string value. */
export const MAX_TEXT_BYTES = 1_048_576;

/** Maximum number of former names of one table, and of the columns of one table. */
export const MAX_FORMER_NAMES = 1000;

/** Source: tsdb-http, "Limits". */
export interface CatalogLimits {
  /** Active databases, without `_internal`. */
  readonly databaseCount: number;
  /** Active tables over all databases. */
  readonly tableCount: number;
  /** Tags and fields of one table, not including `time`. */
  readonly columnCountPerTable: number;
  readonly tagCountPerTable: number;
}

export const DEFAULT_CATALOG_LIMITS: CatalogLimits = {
  databaseCount: 1000,
  tableCount: 10_000,
  columnCountPerTable: 1000,
  tagCountPerTable: 4096,
};

/**
 * Fractions of the limits for writers who are not administrators. They may create nine tenths of
 * all databases and tables, so that administrators can still create some. The retention policies of
 * one database may be a tenth of all databases, and its tables half of all tables.
 */
export const WRITER_SHARE = { all: 0.9, policiesOfDatabase: 0.1, tablesOfDatabase: 0.5 };

export function tableLimitMessage(options: { tableCount: number; limit: number }): string {
  return `Update to schema would exceed number of tables limit: attempted to create table but already have ${options.tableCount} table(s) (limit: ${options.limit})`;
}

export function columnLimitMessage(limit: number): string {
  return `Update to schema would exceed number of columns per table limit of ${limit} columns`;
}

export function tagLimitMessage(limit: number): string {
  return `Update to schema would exceed number of tag columns per table limit of ${limit} columns`;
}
