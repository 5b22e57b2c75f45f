import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { SeriesPoint, TagCondition } from '@plinth/tsdb-model/scan.js';
import { quoteName, quoteString } from '@plinth/tsdb-model/text/quote.js';
import { isStepEnd, type Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import type { DuckDbSeriesTable } from '../series/duckdb-series-table.js';
import type { SeriesIndex } from '../series/series-index.js';
import type { Tombstone } from '../table/tombstones.js';
import { selectSeries } from './select-series.js';
import { timeCondition } from './sources.js';

/** The series of a table, for tag conditions. The series table must contain all of them. */
export interface SeriesOfTable {
  readonly index: SeriesIndex;
  readonly table: Pick<DuckDbSeriesTable, 'name' | 'columnOf'>;
}

/**
 * The condition on the series of each deletion: `undefined` if every series matches, and the string
 * `false` if none matches.
 */
export type DeletedSeries = ReadonlyMap<Tombstone, string | undefined>;

/** A deletion may list tens of thousands of tag values, so its condition is built only once. */
export function* deletedSeries(
  tombstones: readonly Tombstone[],
  series: SeriesOfTable,
): Steps<DeletedSeries> {
  const texts = new Map<Tombstone, string | undefined>();
  for (const tombstone of tombstones) texts.set(tombstone, yield* seriesText(tombstone, series));
  return texts;
}

/** SQL conditions for the rows and values that tombstones remove from a source. */
export interface DeletionSql {
  /** Condition on the rows that remain; `undefined` if all do. */
  readonly remainingRows: string | undefined;
  /** By the id of a field: the condition on the rows whose value of this field was deleted. */
  readonly deletedValues: ReadonlyMap<number, string>;
}

export const NOTHING_DELETED: DeletionSql = { remainingRows: undefined, deletedValues: new Map() };

/**
 * Returns the conditions for the rows and values of a source that these tombstones remove.
 * @param seriesConditions contains the conditions of all of these tombstones.
 */
export function deletionSql(
  tombstones: readonly Tombstone[],
  seriesConditions: DeletedSeries,
  options: {
    /** True if the rows have a column `_seq`. Then only rows written before a deletion are affected. */
    readonly hasSeqColumn: boolean;
    /** Fields that the source has; others are NULL. Called only if values of fields were deleted. */
    readonly fields: () => readonly Column[];
  },
): DeletionSql {
  if (tombstones.length === 0) return NOTHING_DELETED;
  const covering = tombstones.flatMap((tombstone) => {
    const text = coveredText(tombstone, seriesConditions.get(tombstone), options);
    return text === undefined ? [] : [{ text, columnIds: tombstone.columnIds }];
  });
  const isOfValues = covering.some(({ columnIds }) => columnIds !== undefined);
  const fields = isOfValues ? options.fields() : [];
  const ofValues = covering.filter(({ columnIds }) =>
    fields.some(({ id }) => columnIds?.includes(id)),
  );
  const deletedValues = new Map<number, string>();
  const withoutValueTexts: string[] = [];
  for (const { id, physicalName } of fields) {
    const ofField = ofValues.filter(({ columnIds }) => columnIds?.includes(id));
    if (ofField.length > 0) deletedValues.set(id, anyOf(ofField));
    // A row that one of the deletions covers has no value of a field that all of them delete.
    if (ofField.length === ofValues.length) continue;
    const nullText = `${quoteName(physicalName)} IS NULL`;
    withoutValueTexts.push(ofField.length === 0 ? nullText : `(${nullText} OR ${anyOf(ofField)})`);
  }
  const gone = [
    ...covering.filter(({ columnIds }) => columnIds === undefined).map(({ text }) => text),
    ...(ofValues.length === 0
      ? []
      : [`(${[anyOf(ofValues), ...withoutValueTexts].join(' AND ')})`]),
  ];
  return {
    remainingRows: gone.length === 0 ? undefined : `NOT (${gone.join(' OR ')})`,
    deletedValues,
  };
}

/** Returns the same key for equal deletions. */
export const deletionKey = ({ remainingRows = '', deletedValues }: DeletionSql): string =>
  [remainingRows, ...Array.from(deletedValues, (entry) => entry.join(' '))].join('\n');

const anyOf = (all: readonly { readonly text: string }[]): string =>
  `(${all.map(({ text }) => text).join(' OR ')})`;

/** The condition on the rows that a deletion covers; `undefined` if there are none. */
function coveredText(
  tombstone: Tombstone,
  which: string | undefined,
  { hasSeqColumn }: { readonly hasSeqColumn: boolean },
): string | undefined {
  if (which === 'false') return undefined;
  const parts = [
    timeCondition(tombstone.minTimeNs, tombstone.maxTimeNs),
    ...(hasSeqColumn ? [`_seq < ${tombstone.seq}`] : []),
    ...(tombstone.fromSeq === undefined ? [] : [`_seq >= ${tombstone.fromSeq}`]),
    ...(which === undefined ? [] : [which]),
  ];
  return `(${parts.join(' AND ')})`;
}

function* seriesText(tombstone: Tombstone, series: SeriesOfTable): Steps<string | undefined> {
  if (tombstone.points !== undefined) return pointsText(tombstone.points);
  const texts: string[] = [];
  for (const conditions of tombstone.anyOf) {
    if (conditions.length === 0) return undefined;
    const { seriesCondition } = yield* selectSeries(series.index, conditions);
    if (seriesCondition === 'false') continue;
    texts.push(seriesCondition ?? (yield* joinedText(conditions, series.table)));
  }
  if (texts.length === 0) return 'false';
  return texts.length === 1 ? texts[0] : `(${texts.join(' OR ')})`;
}

/** DuckDB joins with the lists, which is much faster than a comparison per point. */
function pointsText(points: readonly SeriesPoint[]): string {
  const series = points.map((point) => point.seriesId).join(', ');
  const times = points.map((point) => point.timeNs).join(', ');
  const lists = `SELECT unnest([${series}]::BIGINT[]) AS s, unnest([${times}]::BIGINT[]) AS t`;
  return `(_series, epoch_ns("time")) IN (SELECT (s, t) FROM (${lists}))`;
}

/** Used if there are too many series to list them individually. */
function* joinedText(
  conditions: readonly TagCondition[],
  table: SeriesOfTable['table'],
): Steps<string> {
  const texts: string[] = [];
  for (const condition of conditions)
    texts.push(yield* tagText(condition, table.columnOf(condition.tag)));
  return `_series IN (SELECT _series FROM ${quoteName(table.name)} WHERE ${texts.join(' AND ')})`;
}

function* tagText(
  { op, values: deletedValues }: TagCondition,
  column: string | undefined,
): Steps<string> {
  const name = column === undefined ? 'NULL::VARCHAR' : quoteName(column);
  const texts: string[] = [];
  for (let i = 0; i < deletedValues.length; i++) {
    if (isStepEnd(i)) yield;
    const value = deletedValues[i];
    if (value !== undefined) texts.push(quoteString(value));
  }
  const isIn = [
    ...(texts.length === 0 ? [] : [`(${name} IS NOT NULL AND ${name} IN (${texts.join(', ')}))`]),
    ...(deletedValues.includes(undefined) ? [`${name} IS NULL`] : []),
  ];
  const text = isIn.length === 0 ? 'false' : `(${isIn.join(' OR ')})`;
  return op === 'in' ? text : `NOT ${text}`;
}
