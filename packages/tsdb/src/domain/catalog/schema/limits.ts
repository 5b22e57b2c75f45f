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

export function tableLimitMessage(at: { tableCount: number; limit: number }): string {
  return `Update to schema would exceed number of tables limit: attempted to create table but already have ${at.tableCount} table(s) (limit: ${at.limit})`;
}

export function columnLimitMessage(limit: number): string {
  return `Update to schema would exceed number of columns per table limit of ${limit} columns`;
}

export function tagLimitMessage(limit: number): string {
  return `Update to schema would exceed number of tag columns per table limit of ${limit} columns`;
}
