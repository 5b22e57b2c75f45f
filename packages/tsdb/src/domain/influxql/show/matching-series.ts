import { MAX_TIME_NS, MIN_TIME_NS } from '../../../model/scan.js';
import type { TimeSlicedTask } from '../../../model/time-sliced-task.js';
import type { Expr } from '../ast/expressions.js';
import { rowPredicate } from '../execute/series/row-expr.js';
import { TableReader } from '../execute/series/table-reader.js';
import type { Session } from '../execute/session.js';
import type { TableSource } from '../plan/compile/source.js';
import { columnsOf } from '../plan/compile/source-columns.js';
import { buildFilter, type Filter, filterColumns } from '../plan/condition/filter.js';
import type { SplitCondition } from '../plan/condition/split-condition.js';
import { comparableOnly } from './comparable.js';

/** What reads the series of one statement. The runner is that of all tables: each of them may have few series. */
export interface SeriesReading {
  readonly session: Session;
  readonly runner: TimeSlicedTask;
  /** Comparisons of tags with what is no text are left out, as by 1.x. */
  readonly comparesTextsOnly: boolean;
}

/** Series that are looked at between two looks at the clock. */
const BATCH_SERIES = 64;

/** Tag names that series of a table have. */
export function tagKeys(source: TableSource): string[] {
  return [...source.table.columns.values()]
    .filter(({ kind }) => kind === 'tag')
    .map(({ name }) => name);
}

/**
 * Dense numbers of the series of a table that have a row which meets a condition, in small batches; other requests are served
 * between two of them.
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

/** False: all rows of the table were deleted. What was never written to counts as there. */
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
    isSmall: true,
    render: (scanText) => `SELECT 1 AS g0 FROM ${scanText(0)} r${where} LIMIT 1`,
  })) {
    if (rowCount > 0) return true;
  }
  return false;
}

const integer = (bits: 32 | 64) =>
  ({ name: 'g0', type: { kind: 'int', bits, signed: true }, source: undefined }) as const;
const INT32 = integer(32);
const INT64 = integer(64);

async function* indexedSeries(
  source: TableSource,
  filter: Filter | undefined,
  { session, runner }: SeriesReading,
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
    await runner.take();
    const to = Math.min(count, from + BATCH_SERIES);
    const batch: number[] = [];
    for (let dense = from; dense < to; dense++) {
      if (index.lastTimeOf(dense) < visibleFromNs) continue;
      if (isMet !== undefined) {
        const values = refs.map(({ name }) => index.tagValue(dense, name) ?? null);
        // A pattern may take a millisecond.
        if (runner.isSliceOver) await runner.take();
        if (!isMet(values, 0n)) continue;
      }
      batch.push(dense);
    }
    if (batch.length > 0) yield batch;
  }
}

/** Conditions on time or fields are for the engine. */
async function* storedSeries(
  source: TableSource,
  filter: Filter | undefined,
  range: { readonly min: bigint; readonly max: bigint },
  { session, runner }: SeriesReading,
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
    isSmall: true,
    render: (scanText) => `SELECT DISTINCT r._series AS g0 FROM ${scanText(0)} r${where}`,
  })) {
    const ids = columns[0]?.values as BigInt64Array; // of the one column, which is never NULL
    const words = new Int32Array(ids.buffer, ids.byteOffset, rowCount * 2);
    for (let from = 0; from < rowCount; from += BATCH_SERIES) {
      await runner.take();
      const batch: number[] = [];
      for (let row = from; row < Math.min(rowCount, from + BATCH_SERIES); row++)
        batch.push(index.denseOf(words[row * 2] as number, words[row * 2 + 1] as number));
      yield batch;
    }
  }
}
