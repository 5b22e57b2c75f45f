import type { ParsedField, ParsedTable } from '../../../model/parsed-body.js';
import type { DatabaseSchema } from '../../../model/schema.js';
import { tagKeysAt } from '../../../model/series/new-series.js';
import type { Steps } from '../../../model/time-sliced-task.js';
import type { RowRefusal } from '../catalog.js';
import type { CatalogLimits } from '../schema/limits.js';
import { tableLimitMessage } from '../schema/limits.js';
import type { Refusal } from '../schema/table-draft.js';
import { TableDraft } from '../schema/table-draft.js';

export type SeriesOf = (
  table: ParsedTable,
  series: number,
) => { readonly tagKeys: readonly string[] };

/** One table of a request, looked at row by row; nothing is decided for good yet. */
export interface CheckedTable {
  readonly parsed: ParsedTable;
  readonly draft: TableDraft;
  /** False when the limit of tables keeps the table from being created. */
  readonly mayExist: boolean;
  /** Ascending by row. */
  readonly refusals: readonly RowRefusal[];
}

/** Looks at rows and at fields that the schema lacks. A row that is refused takes a microsecond: its reason is worded. */
const LOOKS_A_STEP = 8192;
/** Of the wide row that the schema has nothing of; most are over sooner. */
export const looksAt = ({ rowCount, fields }: ParsedTable): number =>
  rowCount * (1 + fields.length);
/** So many may be done without a pause. */
export const FEW_LOOKS = 65536;

/**
 * Checks every row in the order of the lines; what earlier rows define holds for later ones. Tables only meet in
 * the limit of tables, so each is checked alone first and the limit is applied afterwards, in the last step.
 */
export function* checkRows(check: {
  /** `undefined`: the database does not exist yet. */
  readonly database: DatabaseSchema | undefined;
  readonly tables: readonly ParsedTable[];
  readonly seriesOf: SeriesOf;
  readonly limits: CatalogLimits;
  /** Asked in the last step: how many active tables there are, those being created included, and how many there may be. */
  readonly tableRoom: () => { readonly tableCount: number; readonly limit: number };
  /** Whether a deleted table has the name. */
  readonly isDeleted?: (table: string) => boolean;
}): Steps<readonly CheckedTable[]> {
  const { database, limits } = check;
  const alone: CheckedAlone[] = [];
  for (const parsed of check.tables) {
    const draft = new TableDraft(parsed.table, database?.tables.get(parsed.table), limits);
    const isDeleted = check.isDeleted?.(parsed.table) === true;
    alone.push(
      isDeleted ? refuseTable(parsed, draft) : yield* checkTable(parsed, draft, check.seriesOf),
    );
  }
  return applyTableLimit(alone, check.tableRoom());
}

interface CheckedAlone extends CheckedTable {
  /** Line of the first row that was taken. */
  readonly firstTakenLine: number;
}

function* checkTable(
  parsed: ParsedTable,
  draft: TableDraft,
  seriesOf: SeriesOf,
): Steps<CheckedAlone> {
  const settledSeries = new Set<number>();
  let openFields = parsed.fields;
  let firstTakenLine = Number.POSITIVE_INFINITY;
  const refusals: RowRefusal[] = [];
  let looks = 0;
  for (let row = 0; row < parsed.rowCount; row++) {
    looks += 1 + openFields.length;
    if (looks >= LOOKS_A_STEP) {
      looks = 0;
      yield;
    }
    const series = at(parsed.series, row);
    const tagKeys = settledSeries.has(series) ? NO_TAGS : tagKeysOf(parsed, series, seriesOf);
    const refusal = requireRow(draft, tagKeys, openFields, row);
    if (refusal !== undefined) {
      draft.forgetRow();
      refusals.push({ row, ...refusal });
      continue;
    }
    draft.keepRow();
    settledSeries.add(series);
    if (firstTakenLine === Number.POSITIVE_INFINITY) firstTakenLine = at(parsed.lineNumbers, row);
    if (openFields.length > 0) {
      openFields = openFields.filter((field) => draft.kindOf(field.name) !== field.data.type);
    }
  }
  return { parsed, draft, mayExist: true, refusals, firstTakenLine };
}

/** The name that a table got when it was deleted is taken until nothing is left of it. */
function refuseTable(parsed: ParsedTable, draft: TableDraft): CheckedAlone {
  const message = `cannot write to soft-deleted table '${parsed.table}' - it is marked for deletion`;
  const refusals = Array.from(parsed.times, (_, row) => ({ row, message, isLimit: false }));
  return { parsed, draft, mayExist: true, refusals, firstTakenLine: Number.POSITIVE_INFINITY };
}

const NO_TAGS: readonly string[] = [];

/** Tags before fields, as they stand in a line: the first fault is the one that is told. */
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
    if (!hasValue(field, row)) continue;
    const refusal = draft.require(field.name, field.data.type);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function applyTableLimit(
  tables: readonly CheckedAlone[],
  { tableCount, limit }: { readonly tableCount: number; readonly limit: number },
): readonly CheckedTable[] {
  const toCreate = tables
    .filter((table) => table.draft.base === undefined && table.draft.exists)
    .sort((a, b) => a.firstTakenLine - b.firstTakenLine);
  const room = Math.max(0, limit - tableCount);
  const created = new Set(toCreate.slice(0, room));
  const last = toCreate[room - 1];
  if (room > 0 && last === undefined) return tables;
  // From this line on no table can be created any more.
  const fullFromLine = last === undefined ? 0 : last.firstTakenLine;
  const message = tableLimitMessage({ tableCount: tableCount + created.size, limit });
  return tables.map((table) =>
    table.draft.base !== undefined || created.has(table)
      ? table
      : { ...table, mayExist: false, refusals: refuseAfter(table, fullFromLine, message) },
  );
}

function refuseAfter(table: CheckedAlone, line: number, message: string): readonly RowRefusal[] {
  // A row before that line has a fault of its own: a good one would have made the table.
  const refusals = table.refusals.filter(({ row }) => at(table.parsed.lineNumbers, row) < line);
  for (let row = refusals.length; row < table.parsed.rowCount; row++) {
    refusals.push({ row, message, isLimit: true });
  }
  return refusals;
}

function tagKeysOf(parsed: ParsedTable, series: number, seriesOf: SeriesOf): readonly string[] {
  const { newSeries, firstNewSeries } = parsed;
  const isNew = newSeries !== undefined && series >= firstNewSeries;
  return isNew ? tagKeysAt(newSeries, series - firstNewSeries) : seriesOf(parsed, series).tagKeys;
}

function hasValue(field: ParsedField, row: number): boolean {
  return field.validity === undefined || (at(field.validity, row >> 3) & (1 << (row & 7))) !== 0;
}

/** Rows are within the arrays by the contract of `ParsedTable`. */
function at(values: Uint32Array | Uint8Array, index: number): number {
  return values[index] as number;
}
