/** Characters of the name of a cache or a trigger. Source: tsdb-http, "Last value cache", "Triggers". */
export const MAX_NAME_LENGTH = 255;

/** Source: tsdb-http, "Limits". */
export interface CatalogLimits {
  /** Active databases, `_internal` not counted. */
  readonly databaseCount: number;
  /** Active tables over all databases. */
  readonly tableCount: number;
  /** Tags and fields of one table; `time` is exempt. */
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
 * What writers who are no administrators may fill: of all databases and tables nine tenths, so that administrators can still make
 * some; by the retention policies of one database a tenth of all databases, and by its tables half of all tables.
 */
export const WRITERS_PART = { all: 0.9, policiesOfDatabase: 0.1, tablesOfDatabase: 0.5 };

export function tableLimitMessage(at: { tableCount: number; limit: number }): string {
  return `Update to schema would exceed number of tables limit: attempted to create table but already have ${at.tableCount} table(s) (limit: ${at.limit})`;
}

export function columnLimitMessage(limit: number): string {
  return `Update to schema would exceed number of columns per table limit of ${limit} columns`;
}

export function tagLimitMessage(limit: number): string {
  return `Update to schema would exceed number of tag columns per table limit of ${limit} columns`;
}
