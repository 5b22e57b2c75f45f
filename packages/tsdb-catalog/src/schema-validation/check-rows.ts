import { isValid } from '@plinth/tsdb-model/columns/row-batch.js';
import type { CatalogLimits } from '@plinth/tsdb-model/database/limits.js';
import { tableLimitMessage } from '@plinth/tsdb-model/database/limits.js';
import type { ParsedField, ParsedTable } from '@plinth/tsdb-model/parsed-body.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import { tagKeysAt } from '@plinth/tsdb-model/series/new-series.js';
import type { Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import type { RowRefusal } from '../catalog.js';
import type { Refusal } from '../schema/table-draft.js';
import { TableDraft } from '../schema/table-draft.js';

export type SeriesOf = (
  table: ParsedTable,
  series: number,
) => { readonly tagKeys: readonly string[] };

/** One table of a request after its rows are checked; the table limit is not applied yet. */
export interface CheckedTable {
  readonly parsed: ParsedTable;
  readonly draft: TableDraft;
  /** False if the table limit prevents its creation. */
  readonly mayExist: boolean;
  /** Ascending by row. */
  readonly refusals: readonly RowRefusal[];
}

/**
 * Number of row and missing-field checks per step. A rejected row takes a microsecond, because its
 * message is built.
 */
const CHECKS_PER_STEP = 8192;
/** Upper bound of the number of checks; most tables need fewer. */
export const checkCount = ({ rowCount, fields }: ParsedTable): number =>
  rowCount * (1 + fields.length);
/** Up to this many checks run without a yield. */
export const MAX_SYNC_CHECKS = 65536;

/**
 * Checks every row in line order; columns defined by earlier rows apply to later ones. Tables
 * affect each other only through the table limit, so each is checked separately, and the limit is
 * applied in the last step.
 */
export function* checkRows(check: {
  /** `undefined` if the database does not exist yet. */
  readonly database: DatabaseSchema | undefined;
  readonly tables: readonly ParsedTable[];
  readonly seriesOf: SeriesOf;
  readonly limits: CatalogLimits;
  /**
   * Called in the last step. Returns the number of active tables, including those being created,
   * and its limit.
   */
  readonly tableRoom: () => { readonly tableCount: number; readonly limit: number };
  /** Whether the name belongs to a deleted table. */
  readonly isDeleted?: (table: string) => boolean;
}): Steps<readonly CheckedTable[]> {
  const { database, limits } = check;
  const checkedTables: TableCheck[] = [];
  for (const parsed of check.tables) {
    const draft = new TableDraft(parsed.table, database?.tables.get(parsed.table), limits);
    const refusal = tableRefusal(parsed.table, check);
    checkedTables.push(
      refusal === undefined
        ? yield* checkTable(parsed, draft, check.seriesOf)
        : refuseTable(parsed, draft, refusal),
    );
  }
  return applyTableLimit(checkedTables, check.tableRoom());
}

interface TableCheck extends CheckedTable {
  /** Line of the first accepted row. */
  readonly firstAcceptedLine: number;
}

function* checkTable(
  parsed: ParsedTable,
  draft: TableDraft,
  seriesOf: SeriesOf,
): Steps<TableCheck> {
  const acceptedSeries = new Set<number>();
  let uncheckedFields = parsed.fields;
  let firstAcceptedLine = Number.POSITIVE_INFINITY;
  const refusals: RowRefusal[] = [];
  let checks = 0;
  for (let row = 0; row < parsed.rowCount; row++) {
    checks += 1 + uncheckedFields.length;
    if (checks >= CHECKS_PER_STEP) {
      checks = 0;
      yield;
    }
    const series = at(parsed.seriesNumbers, row);
    const tagKeys = acceptedSeries.has(series) ? NO_TAGS : tagKeysOf(parsed, series, seriesOf);
    const refusal = requireRow(draft, tagKeys, uncheckedFields, row);
    if (refusal !== undefined) {
      draft.rollbackRow();
      refusals.push({ row, ...refusal });
      continue;
    }
    draft.commitRow();
    acceptedSeries.add(series);
    if (firstAcceptedLine === Number.POSITIVE_INFINITY)
      firstAcceptedLine = at(parsed.lineNumbers, row);
    if (uncheckedFields.length > 0) {
      uncheckedFields = uncheckedFields.filter(
        (field) => draft.kindOf(field.name) !== field.data.type,
      );
    }
  }
  return { parsed, draft, mayExist: true, refusals, firstAcceptedLine };
}

/** Returns the reason if the table accepts no rows. */
function tableRefusal(
  table: string,
  {
    database,
    isDeleted,
  }: {
    readonly database: DatabaseSchema | undefined;
    readonly isDeleted?: (table: string) => boolean;
  },
): Refusal | undefined {
  // The name of a deleted table remains reserved until the table is removed from the catalog.
  if (isDeleted?.(table) === true) {
    const message = `cannot write to soft-deleted table '${table}' - it is marked for deletion`;
    return { message, reason: 'deleted_table' };
  }
  // A sender that still uses the old name would otherwise create a second table.
  const renamedTo = database?.formerTables?.get(table);
  if (renamedTo === undefined) return undefined;
  return { message: renamedTable(table, renamedTo), reason: 'renamed' };
}

export const renamedTable = (before: string, after: string): string =>
  `table '${before}' was renamed to '${after}'; write to '${after}', or free the former name with \`plinth table forget-name\``;

function refuseTable(parsed: ParsedTable, draft: TableDraft, refusal: Refusal): TableCheck {
  const refusals = Array.from(parsed.times, (_, row) => ({ row, ...refusal }));
  return { parsed, draft, mayExist: true, refusals, firstAcceptedLine: Number.POSITIVE_INFINITY };
}

const NO_TAGS: readonly string[] = [];

/** Checks tags before fields, in line order, because the first error is reported. */
function requireRow(
  draft: TableDraft,
  tagKeys: readonly string[],
  fields: readonly ParsedField[],
  row: number,
): Refusal | undefined {
  for (const tag of tagKeys) {
    const refusal = draft.require(tag, 'tag');
    if (refusal !== undefined) return refusal;
  }
  for (const field of fields) {
    if (!isValid(field.validity, row)) continue;
    const refusal = draft.require(field.name, field.data.type);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function applyTableLimit(
  tables: readonly TableCheck[],
  { tableCount, limit }: { readonly tableCount: number; readonly limit: number },
): readonly CheckedTable[] {
  const toCreate = tables
    .filter((table) => table.draft.base === undefined && table.draft.exists)
    .sort((a, b) => a.firstAcceptedLine - b.firstAcceptedLine);
  const room = Math.max(0, limit - tableCount);
  const created = new Set(toCreate.slice(0, room));
  const last = toCreate[room - 1];
  if (room > 0 && last === undefined) return tables;
  // From this line on, no further table can be created.
  const fullFromLine = last === undefined ? 0 : last.firstAcceptedLine;
  const message = tableLimitMessage({ tableCount: tableCount + created.size, limit });
  return tables.map((table) =>
    table.draft.base !== undefined || created.has(table)
      ? table
      : { ...table, mayExist: false, refusals: refuseAfter(table, fullFromLine, message) },
  );
}

function refuseAfter(table: TableCheck, line: number, message: string): readonly RowRefusal[] {
  // Rows before that line were rejected for other reasons: a valid row would have created the
  // table.
  const refusals = table.refusals.filter(({ row }) => at(table.parsed.lineNumbers, row) < line);
  for (let row = refusals.length; row < table.parsed.rowCount; row++) {
    refusals.push({ row, message, reason: 'limit' });
  }
  return refusals;
}

function tagKeysOf(parsed: ParsedTable, series: number, seriesOf: SeriesOf): readonly string[] {
  const { newSeries, firstNewSeries } = parsed;
  const isNew = newSeries !== undefined && series >= firstNewSeries;
  return isNew ? tagKeysAt(newSeries, series - firstNewSeries) : seriesOf(parsed, series).tagKeys;
}

/** Row numbers are within the arrays, as `ParsedTable` guarantees. */
function at(values: Uint32Array | Uint8Array, index: number): number {
  return values[index] as number;
}
