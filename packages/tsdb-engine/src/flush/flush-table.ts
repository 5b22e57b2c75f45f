import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { Segment, SeriesFile } from '@plinth/tsdb-model/segment.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import { isOutOfMemory } from '@plinth/tsdb-storage/duckdb/instance/memory-watch.js';
import type { SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import type { GenerationTable } from '../table/generation-table.js';
import type { TableStore } from '../table/table-store.js';
import { deletedUpTo } from '../table/tombstones.js';
import { chooseDictionaryLimit } from './choose-dictionary-limit.js';
import { type SegmentRows, splitRows } from './split-rows.js';
import { partitionsOfRows, writeSegment } from './write-segment.js';

export interface FlushedTable {
  readonly segments: readonly Segment[];
  readonly seriesFile: SeriesFile | undefined;
  /** Number of the table's series that are stored once the change is registered. */
  readonly storedSeries: number;
}

/**
 * Writes a closed generation of one table as segments, one file per partition, sorted by (series,
 * time). Points written more than once within the generation are merged. Points that also exist in
 * older segments go to overlay segments.
 */
export async function flushTable(
  store: TableStore,
  table: GenerationTable,
  duckDb: DuckDbHost,
  files: SegmentFiles,
): Promise<FlushedTable> {
  await store.repeated.checkLateRows();
  await table.main.moveToDuckDb();
  return await store.series.withSeriesTable(store.schema, () =>
    writeTable(store, table, duckDb, files),
  );
}

async function writeTable(
  store: TableStore,
  table: GenerationTable,
  duckDb: DuckDbHost,
  files: SegmentFiles,
): Promise<FlushedTable> {
  const columns = columnsOf(table);
  await store.tombstones.whenSettled();
  const tombstones = store.tombstones.all;
  // Runs exclusively, because a compaction must not remove the files that are being read.
  const sources = await store.exclusive(() =>
    splitRows({ store, table, columns, duckDb, tombstones }),
  );
  const dictionaryLimit = await chooseDictionaryLimit(files, table.rowCount, {
    from: table.mainSource().from,
    rowCount: table.main.rowCount,
    columns: table.main.columns,
  });
  const { minSeq } = table;
  const maxSeq = deletedUpTo(tombstones, table.maxSeq);
  return await removedOnFailure(files, async (segments) => {
    for (const source of sources) {
      for (const partition of await partitionsOfRows(source.rows, duckDb)) {
        const write = (rows: string): Promise<Segment | undefined> =>
          writeSegment({
            store,
            // The new files already exclude the rows of these deletions.
            seqs: { minSeq, maxSeq },
            level: 0,
            source: { kind: source.kind, rows },
            partition,
            columns,
            dictionaryLimit,
            rowCount: table.rowCount,
            files,
          });
        segments.push(...(await writeInPieces(source.rows, { write, files })));
      }
    }
    checkCount(sources, segments);
    for (const source of sources) await source.drop();
    return { segments, ...(await writeNewSeries(store, files)) };
  });
}

/**
 * Detects lost rows by count if no rows were merged or omitted. The rows are still available for a
 * retry.
 */
function checkCount(sources: readonly SegmentRows[], segments: readonly Segment[]): void {
  const [source, ...others] = sources;
  if (source?.rowCount === undefined || others.length > 0) return;
  const written = segments.reduce((sum, { rowCount }) => sum + rowCount, 0);
  if (written !== source.rowCount)
    throw new Error(`DuckDB wrote only ${written} of ${source.rowCount} rows`);
}

/**
 * Numbers of files into which the rows of a partition are divided if DuckDB lacks the memory to
 * sort them together.
 */
const PIECE_COUNTS = [1, 4, 16, 64];

/**
 * Distributes points by their key, so that no two files contain the same point. A merge combines
 * the files again.
 */
async function writeInPieces(
  rows: string,
  to: {
    readonly write: (rows: string) => Promise<Segment | undefined>;
    readonly files: SegmentFiles;
  },
): Promise<readonly Segment[]> {
  const writePieces = (count: number): Promise<readonly Segment[]> =>
    removedOnFailure(to.files, async (segments) => {
      for (let piece = 0; piece < count; piece++) {
        const ofPiece = `(SELECT * FROM ${rows} WHERE hash(_series, "time") % ${count} = ${piece})`;
        const segment = await to.write(count === 1 ? rows : ofPiece);
        if (segment !== undefined) segments.push(segment);
      }
      return segments;
    });
  for (const count of PIECE_COUNTS.slice(0, -1)) {
    try {
      return await writePieces(count);
    } catch (error) {
      if (!isOutOfMemory(error)) throw error;
    }
  }
  return await writePieces(PIECE_COUNTS.at(-1) as number);
}

/** Removes the files in `written` if `work`, which adds them, fails: a retry writes new ones. */
export async function removedOnFailure<T>(
  files: SegmentFiles,
  work: (written: Segment[]) => Promise<T>,
): Promise<T> {
  const written: Segment[] = [];
  try {
    return await work(written);
  } catch (error) {
    await files.removeUnregistered(written);
    throw error;
  }
}

function columnsOf(table: GenerationTable): readonly Column[] {
  const byId = new Map<number, Column>();
  for (const column of [...table.main.columns, ...table.late.columns]) byId.set(column.id, column);
  return [...byId.values()];
}

async function writeNewSeries(
  store: TableStore,
  files: SegmentFiles,
): Promise<{ readonly seriesFile: SeriesFile | undefined; readonly storedSeries: number }> {
  const from = store.series.storedCount;
  const to = store.series.index.count;
  if (from === to) return { seriesFile: undefined, storedSeries: to };
  const written = await store.series.withSeriesTable(store.schema, () =>
    files.writeSeries({
      tableUuid: store.schema.uuid,
      select: `SELECT * FROM ${store.series.table.rangeText(from, to)}`,
      seriesCount: to - from,
    }),
  );
  return {
    seriesFile: { ...written, tableId: store.tableId, seriesCount: to - from },
    storedSeries: to,
  };
}
