import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import type { Expr } from '../ast/expressions.js';
import { rowPredicate } from '../execute/series/row-expr.js';
import { TableReader } from '../execute/series/table-reader.js';
import type { Session } from '../execute/session.js';
import type { TableSource } from '../plan/compile/source.js';
import { columnsOf } from '../plan/compile/source-columns.js';
import { buildFilter, type Filter, filterColumns } from '../plan/condition/filter.js';
import type { SplitCondition } from '../plan/condition/split-condition.js';
import { comparableOnly } from './comparable.js';

/**
 * Context for reading series. The task is shared by all tables because each may have few series.
 */
export interface SeriesReading {
  readonly session: Session;
  readonly task: TimeSlicedTask;
  /** Ignores comparisons of tags with non-string values, as 1.x does. */
  readonly comparesTextsOnly: boolean;
}

/** Number of series processed between two checks of whether a yield is due. */
const BATCH_SERIES = 64;

/** Returns the tag names of a table. */
export function tagKeys(source: TableSource): string[] {
  return [...source.table.columns.values()]
    .filter(({ kind }) => kind === 'tag')
    .map(({ name }) => name);
}

/**
 * Yields the ordinals of series with a row that meets a condition, in small batches. It yields to
 * the event loop between batches.
 */
export async function* matchingSeries(
  source: TableSource,
  { rest, range }: SplitCondition,
  reading: SeriesReading,
): AsyncGenerator<readonly number[], void, undefined> {
  const { session } = reading;
  await session.indexed([source.table]);
  const filter = rest === undefined ? undefined : filterOf(rest, source, reading);
  const isOfTags = filter === undefined || filterColumns(filter).every(({ isTag }) => isTag);
  const { hasDeletions } = session.livenessOf(source.table);
  if (isOfTags && !hasDeletions && range.min === undefined && range.max === undefined) {
    yield* indexedSeries(source, filter, reading);
    return;
  }
  const bounds = { min: range.min ?? MIN_TIME_NS, max: range.max ?? MAX_TIME_NS };
  yield* storedSeries(source, filter, bounds, reading);
}

function filterOf(
  rest: Expr,
  source: TableSource,
  { comparesTextsOnly }: SeriesReading,
): Filter | undefined {
  const columns = columnsOf(source);
  const filter = buildFilter(comparesTextsOnly ? comparableOnly(rest, columns) : rest, columns);
  return filter.kind === 'constant' && filter.value ? undefined : filter;
}

/**
 * Returns false if all rows of the table were deleted. A table that was never written counts as
 * having rows.
 */
export async function hasRows(source: TableSource, session: Session): Promise<boolean> {
  if (!session.livenessOf(source.table).hasDeletions) return true;
  await session.indexed([source.table]);
  const reader = new TableReader(
    { source, filter: undefined, minNs: MIN_TIME_NS, maxNs: MAX_TIME_NS, groupTags: [] },
    session,
  );
  const where = reader.where();
  const scan = reader.scan();
  for await (const { rowCount } of session.read({
    scans: [scan],
    columns: [INT32],
    mayMaterialize: true,
    render: (scanText) => `SELECT 1 AS g0 FROM ${scanText(0)} r${where} LIMIT 1`,
  })) {
    if (rowCount > 0) return true;
  }
  return false;
}

const integer = (bits: 32 | 64) =>
  ({ name: 'g0', type: { kind: 'int', bits, signed: true }, tableColumnKind: undefined }) as const;
const INT32 = integer(32);
const INT64 = integer(64);

async function* indexedSeries(
  source: TableSource,
  filter: Filter | undefined,
  { session, task }: SeriesReading,
): AsyncGenerator<readonly number[], void, undefined> {
  const index = session.seriesOf(source.table);
  const refs = filter === undefined ? [] : filterColumns(filter);
  const isMet =
    filter === undefined
      ? undefined
      : rowPredicate(filter, (ref) => refs.findIndex(({ name }) => name === ref.name));
  const { visibleFromNs } = session.livenessOf(source.table);
  const { count } = index;
  for (let from = 0; from < count; from += BATCH_SERIES) {
    await task.yieldIfDue();
    const to = Math.min(count, from + BATCH_SERIES);
    const batch: number[] = [];
    for (let ordinal = from; ordinal < to; ordinal++) {
      if (index.lastTimeOf(ordinal) < visibleFromNs) continue;
      if (isMet !== undefined) {
        const values = refs.map(({ name }) => index.tagValue(ordinal, name) ?? null);
        // A regular expression may take a millisecond.
        if (task.isYieldDue) await task.yieldIfDue();
        if (!isMet(values, 0n)) continue;
      }
      batch.push(ordinal);
    }
    if (batch.length > 0) yield batch;
  }
}

/** Finds series with DuckDB, for conditions on time or fields. */
async function* storedSeries(
  source: TableSource,
  filter: Filter | undefined,
  range: { readonly min: bigint; readonly max: bigint },
  { session, task }: SeriesReading,
): AsyncGenerator<readonly number[], void, undefined> {
  const index = session.seriesOf(source.table);
  const reader = new TableReader(
    { source, filter, minNs: range.min, maxNs: range.max, groupTags: [] },
    session,
  );
  const where = reader.where();
  const scan = { ...reader.scan(), withSeries: true };
  for await (const { rowCount, columns } of session.read({
    scans: [scan],
    columns: [INT64],
    mayMaterialize: true,
    render: (scanText) => `SELECT DISTINCT r._series AS g0 FROM ${scanText(0)} r${where}`,
  })) {
    const ids = columns[0]?.values as BigInt64Array; // the only column, which is never NULL
    const words = new Int32Array(ids.buffer, ids.byteOffset, rowCount * 2);
    for (let from = 0; from < rowCount; from += BATCH_SERIES) {
      await task.yieldIfDue();
      const batch: number[] = [];
      for (let row = from; row < Math.min(rowCount, from + BATCH_SERIES); row++)
        batch.push(index.ordinalOf(words[row * 2] as number, words[row * 2 + 1] as number));
      yield batch;
    }
  }
}
