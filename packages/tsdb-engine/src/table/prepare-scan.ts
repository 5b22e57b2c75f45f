import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { ScanRequest } from '@plinth/tsdb-model/scan.js';
import type { TimeSpan } from '@plinth/tsdb-model/segment.js';
import { TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import { type DeletedSeries, deletedSeries, deletionSql } from '../scan/deletion-sql.js';
import type { Pinned } from '../scan/pinned.js';
import type { PreparedScan } from '../scan/prepared-scan.js';
import type { RepeatedKeys } from '../scan/repeated-keys.js';
import { groupsText, type ScanTextOptions, scanText, seriesBetween } from '../scan/scan-text.js';
import { segmentSources } from '../scan/segment-sources.js';
import { type SelectedSeries, selectSeries } from '../scan/select-series.js';
import type { Source } from '../scan/sources.js';
import type { ScanSlice, TimeSlice } from '../scan/time-slices.js';
import { type CheckedGeneration, generationSources } from './generations.js';
import type { TableComponents } from './table-components.js';
import type { OpenSegment } from './table-segments.js';
import { type Tombstone, tombstonesOfSegment } from './tombstones.js';

/**
 * Makes everything written before the call readable, and returns how to read it.
 * @param signal aborts the verification of files that were not read before.
 */
export async function prepareScan(
  components: TableComponents,
  request: ScanRequest,
  visibleFromNs: bigint,
  signal?: AbortSignal,
): Promise<PreparedScan> {
  const minTime = request.minTimeNs > visibleFromNs ? request.minTimeNs : visibleFromNs;
  const bounds = { minTime, maxTime: request.maxTimeNs };
  // Without the loop, late rows that arrived during the check would be missing from the snapshot.
  do await components.repeated.checkLateRows();
  while (request.onSnapshot !== undefined && !components.repeated.areLateRowsChecked);
  request.onSnapshot?.();
  const snapshot = takeSnapshot(components, bounds);
  for (const pin of snapshot.pins) pin.pin();
  const release = (): void => {
    for (const pin of snapshot.pins) pin.unpin();
  };
  try {
    const { generations, segments, tombstones } = snapshot;
    for (const { table } of generations) await table.main.moveToDuckDb();
    // A scan without tags does not wait for the series, which may not be loaded yet.
    if (tombstones.length > 0 || readsTags(request)) await components.series.whenIndexed();
    const task = new TimeSlicedTask(signal && { signal });
    const selected = await task.run(selectSeries(components.series.index, request.tagConditions));
    // Sending a million series to DuckDB takes a second. It is skipped if the index has all tags of
    // the result.
    const areTagsKnown = selected.onlySeries !== undefined || selected.share === 0;
    if (tombstones.length > 0 || (readsTags(request) && !areTagsKnown))
      await components.series.copyToDuckDb(components.schema());
    await components.segments.verifyAll(segments, signal);
    const invalidate = (): void => components.segments.invalidate(segments);
    const deleted = await task.run(deletedSeries(tombstones, components.series));
    const selection = { bounds, selected, deleted };
    return { ...sourcesOf(components, request, selection, snapshot), invalidate, release };
  } catch (error) {
    release();
    throw error;
  }
}

/** The data that a scan reads. */
interface TableSnapshot {
  readonly generations: readonly CheckedGeneration[];
  readonly segments: readonly OpenSegment[];
  readonly repeatedKeys: RepeatedKeys;
  readonly tombstones: readonly Tombstone[];
  readonly pins: readonly Pinned[];
}

/**
 * Collected in one step without an await, because late rows that are checked afterwards belong to a
 * later set of repeated points.
 */
function takeSnapshot(components: TableComponents, { minTime, maxTime }: TimeSlice): TableSnapshot {
  const generations = components.generations.checked.filter(({ table }) => table.rowCount > 0);
  const segments = components.segments.touching(minTime, maxTime);
  const { repeated, series, tombstones } = components;
  return {
    generations,
    segments,
    repeatedKeys: repeated.keys,
    tombstones: tombstones.between(minTime, maxTime),
    pins: [
      ...generations.map(({ table }) => table.pinned),
      ...segments.map((open) => open.pinned),
      repeated.pinned,
      series.pinned,
    ],
  };
}

/** All parts of a query read one snapshot of the tables: it does not see later additions. */
function sourcesOf(
  components: TableComponents,
  request: ScanRequest,
  selection: {
    readonly bounds: TimeSlice;
    readonly selected: SelectedSeries;
    readonly deleted: DeletedSeries;
  },
  { generations, segments, repeatedKeys, tombstones }: TableSnapshot,
): Required<Omit<PreparedScan, 'invalidate' | 'release'>> {
  const { table } = components.series;
  const { bounds, deleted } = selection;
  const columns = request.columns.flatMap((name) => request.table.columns.get(name) ?? []);
  const tagNames = new Map(columns.map(({ name }) => [name, table.columnOf(name)]));
  const seriesTable = {
    name: table.name,
    columnOf: (tag: string): string | undefined => tagNames.get(tag),
  };
  const stored = [...components.schema().columns.values()];
  const buffers = generationSources(generations).map((source) => {
    const present = new Set(columns.flatMap(({ id }) => (source.hasColumn(id) ? [id] : [])));
    return {
      ...withoutDeleted(source, { tombstones, deleted, stored }),
      hasColumn: (id: number) => present.has(id),
    };
  });
  const { share, ...selected } = selection.selected;
  const columnsOf = (tags: readonly string[]): string[] =>
    tags.flatMap((tag) => tagNames.get(tag) ?? []);
  const optionsOf = (
    slice: ScanSlice,
    isSlice: boolean,
    lateMaterializedTags: readonly string[],
  ): ScanTextOptions => {
    const touches = (source: TimeSlice): boolean =>
      source.minTime <= slice.maxTime && source.maxTime >= slice.minTime;
    const files = segments.map((open) => open.segment).filter(touches);
    const sources = [
      ...segmentSources(components.files, files, (segment) =>
        deletionSql(tombstonesOfSegment(tombstones, segment), deleted, {
          hasSeqColumn: false,
          fields: () => stored.filter(({ id }) => segment.columnIds.has(id)),
        }),
      ),
      ...buffers.filter(touches),
    ];
    const { series: range } = slice;
    const conditions = [
      selected.seriesCondition,
      range && seriesBetween(table.name, { ...range, columns: columnsOf(range.tags) }),
    ].filter((condition) => condition !== undefined);
    return {
      schema: request.table,
      columns: request.columns,
      sources,
      minTime: slice.minTime,
      maxTime: slice.maxTime,
      isSlice,
      onlySeries: selected.onlySeries,
      seriesCondition: conditions.length === 0 ? undefined : conditions.join(' AND '),
      seriesTable,
      lateMaterializedTags,
      repeatedKeys: repeatedKeys.touches(slice.minTime, slice.maxTime)
        ? repeatedKeys.name
        : undefined,
      lastRowsOnly: request.lastRowsOnly,
      withSeries: request.withSeries === true,
    };
  };
  const { textSizes } = components;
  const storedRows =
    segments.reduce((sum, { segment }) => sum + segment.rowCount, 0) +
    generations.reduce((sum, generation) => sum + generation.table.rowCount, 0);
  const whole = optionsOf(bounds, false, []);
  return {
    text: scanText(whole),
    hasUnion: whole.sources.length > 1 || whole.repeatedKeys !== undefined,
    segments: segments.map((open) => open.segment),
    sliceable: {
      bounds,
      spans: spansOf(generations, segments, share),
      stringBytes: textSizes.rowBytes(request, storedRows),
      noteStringBytes: (rowBytes) => textSizes.noteRead(request, rowBytes),
      scanTextOf: (slice, lateMaterializedTags) =>
        scanText(optionsOf(slice, true, lateMaterializedTags)),
      groupsBy: (all) => {
        const tags = all.filter((tag) => tagNames.get(tag) !== undefined);
        const isOne = tags.length === 0 || selected.onlySeries !== undefined || share === 0;
        if (isOne) return undefined;
        return { tags, text: groupsText(optionsOf(bounds, true, []), columnsOf(tags)) };
      },
    },
  };
}

/** @param share fraction of all series that the scan reads. */
function spansOf(
  generations: readonly CheckedGeneration[],
  segments: readonly OpenSegment[],
  share: number,
): TimeSpan[] {
  const spans = [
    ...segments.map(({ segment }) => segment),
    ...generations.flatMap(({ table: { main, late } }) => [main, late]),
  ];
  return spans
    .filter(({ rowCount }) => rowCount * share > 0)
    .map(({ minTime, maxTime, rowCount }) => ({ minTime, maxTime, rowCount: rowCount * share }));
}

const readsTags = ({ columns, table, tagConditions }: ScanRequest): boolean =>
  tagConditions.length > 0 || columns.some((name) => table.columns.get(name)?.kind === 'tag');

/** Returns the unflushed rows, without the deleted rows and values. */
function withoutDeleted(
  source: Source,
  {
    tombstones,
    deleted,
    stored,
  }: {
    readonly tombstones: readonly Tombstone[];
    readonly deleted: DeletedSeries;
    readonly stored: readonly Column[];
  },
): Source {
  const { remainingRows, deletedValues } = deletionSql(tombstones, deleted, {
    hasSeqColumn: true,
    fields: () => stored.filter(({ id }) => source.hasColumn(id)),
  });
  if (remainingRows === undefined) return source;
  const { where } = source;
  return {
    ...source,
    where: where === undefined ? remainingRows : `${where} AND ${remainingRows}`,
    deletedValues,
  };
}
