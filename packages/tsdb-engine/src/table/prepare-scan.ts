import type { ScanRequest } from '@plinth/tsdb-model/scan.js';
import type { TimeSpan } from '@plinth/tsdb-model/segment.js';
import { TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import { deletedSeries } from '../scan/deletion-sql.js';
import type { PreparedScan } from '../scan/prepared-scan.js';
import { scanText } from '../scan/scan-text.js';
import { ScanTexts, type Selection, type TableSnapshot } from '../scan/scan-texts.js';
import { selectSeries } from '../scan/select-series.js';
import type { TimeSlice } from '../scan/time-slices.js';
import type { GenerationSnapshot } from './generations.js';
import type { TableComponents } from './table-components.js';
import type { OpenSegment } from './table-segments.js';

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

/**
 * Collected in one step without an await, because late rows that are checked afterwards belong to a
 * later set of repeated points.
 */
function takeSnapshot(components: TableComponents, { minTime, maxTime }: TimeSlice): TableSnapshot {
  const generations = components.generations.snapshot().filter(({ table }) => table.rowCount > 0);
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
  selection: Selection,
  snapshot: TableSnapshot,
): Required<Omit<PreparedScan, 'invalidate' | 'release'>> {
  const { textSizes } = components;
  const { generations, segments } = snapshot;
  const { bounds, selected } = selection;
  const texts = new ScanTexts(components, request, selection, snapshot);
  const storedRows =
    segments.reduce((sum, { segment }) => sum + segment.rowCount, 0) +
    generations.reduce((sum, generation) => sum + generation.table.rowCount, 0);
  const whole = texts.optionsOf(bounds, { isSlice: false });
  return {
    text: scanText(whole),
    hasUnion: whole.sources.length > 1 || whole.repeatedKeys !== undefined,
    segments: segments.map((open) => open.segment),
    sliceable: {
      bounds,
      spans: spansOf(generations, segments, selected.share),
      stringBytes: textSizes.rowBytes(request, storedRows),
      noteStringBytes: (rowBytes) => textSizes.noteRead(request, rowBytes),
      scanTextOf: (slice, lateMaterializedTags) =>
        scanText(texts.optionsOf(slice, { isSlice: true, lateMaterializedTags })),
      groupsBy: (tags) => texts.groupsBy(tags),
    },
  };
}

/** @param share fraction of all series that the scan reads. */
function spansOf(
  generations: readonly GenerationSnapshot[],
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
