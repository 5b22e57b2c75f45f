import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { grouped } from '@plinth/tsdb-model/grouped.js';
import { MAX_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { Segment } from '@plinth/tsdb-model/segment.js';
import { quoteName } from '@plinth/tsdb-model/text/quote.js';
import { TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import type { SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import { chooseDictionaryLimit, type SampleSource } from '../flush/choose-dictionary-limit.js';
import { removedOnFailure } from '../flush/flush-table.js';
import { MAX_SPLIT_PARTITIONS } from '../flush/partitions.js';
import { partitionsOfRows, writeSegment } from '../flush/write-segment.js';
import {
  type DeletedSeries,
  type DeletionSql,
  deletedSeries,
  deletionKey,
  deletionSql,
} from '../scan/deletion-sql.js';
import { latestValues, orderColumns, samePointCondition } from '../scan/latest-values.js';
import { mixedParquetFrom, parquetFrom, timeCondition, valueText } from '../scan/sources.js';
import type { TableStore } from '../table/table-store.js';
import { deletedUpTo, type Tombstone, tombstonesOfSegment } from '../table/tombstones.js';
import type { Merge } from './choose-merge.js';

/**
 * Writes the merged points of the inputs as new unique segments. If the inputs contain overlays,
 * they must also contain every segment that an overlay may overwrite, so that the resulting points
 * are complete. A split overlay stays an overlay, in several files that each span less time.
 */
export async function mergeSegments(options: Merging): Promise<readonly Segment[]> {
  const { store, merge, files } = options;
  for (const segment of merge.inputs) await files.verify(segment);
  return await store.series.withSeriesTable(store.schema, () => writeMerged(options));
}

interface Merging {
  readonly store: TableStore;
  readonly merge: Merge;
  readonly duckDb: DuckDbHost;
  readonly files: SegmentFiles;
  /** Rows before this time are outside the retention period and are dropped permanently. */
  readonly visibleFromNs: bigint;
}

async function writeMerged(options: Merging): Promise<readonly Segment[]> {
  const { store, duckDb, files } = options;
  const { kind, inputs, maxPartitions } = options.merge;
  const isSplit = kind === 'split';
  await store.tombstones.whenSettled();
  const tombstones = store.tombstones.all;
  const deleted = await new TimeSlicedTask().run(deletedSeries(tombstones, store.series));
  const ids = columnIdsOf(inputs);
  const columns = [...store.schema.columns.values()].filter((column) => ids.has(column.id));
  const rowsOf = (segments: readonly Segment[], order: readonly string[]): string =>
    rowsText(segments, {
      columns,
      files,
      order,
      deletionSqlOf: (segment) => deletedFrom(segment, options, { tombstones, deleted, columns }),
    });
  const isOverlaid = !isSplit && inputs.some((segment) => segment.kind === 'overlay');
  const all = `(${rowsOf(inputs, isSplit ? ['_seq'] : [])})`;
  const rows = isOverlaid ? overlaidRows(inputs, columns, rowsOf) : all;
  const seqs = {
    minSeq: inputs.reduce((min, s) => (s.minSeq < min ? s.minSeq : min), inputs[0]?.minSeq ?? 0n),
    // The new file already excludes the rows of these deletions.
    maxSeq: inputs.reduce(
      (max, s) => (s.maxSeq > max ? s.maxSeq : max),
      deletedUpTo(tombstones, 0n),
    ),
  };
  // A segment from which rows were only removed keeps its level.
  const level = Math.max(...inputs.map((segment) => segment.level)) + (inputs.length > 1 ? 1 : 0);
  const rowCount = inputs.reduce((sum, segment) => sum + segment.rowCount, 0);
  const dictionaryLimit = await chooseDictionaryLimit(
    files,
    rowCount,
    largestOf(inputs, { columns, files }),
  );
  return await removedOnFailure(files, async (segments) => {
    const partitions = await partitionsOfRows(
      all, // merging does not change timestamps
      duckDb,
      isSplit ? MAX_SPLIT_PARTITIONS : maxPartitions,
    );
    for (const partition of partitions) {
      const source = { kind: isSplit ? 'overlay' : 'unique', rows } as const;
      const segment = await writeSegment({
        store,
        seqs,
        level,
        source,
        partition,
        columns,
        dictionaryLimit,
        rowCount,
        files,
      });
      if (segment !== undefined) segments.push(segment);
    }
    return segments;
  });
}

function largestOf(
  inputs: readonly Segment[],
  options: { readonly columns: readonly Column[]; readonly files: SegmentFiles },
): SampleSource {
  const largest = inputs.reduce((a, b) => (b.rowCount > a.rowCount ? b : a));
  return {
    from: parquetFrom([options.files.pathOf(largest.objectName)]),
    rowCount: largest.rowCount,
    columns: options.columns.filter((column) => largest.columnIds.has(column.id)),
  };
}

/** Returns SQL for the rows and values deleted from a segment, including its expired rows. */
function deletedFrom(
  segment: Segment,
  { merge, visibleFromNs }: Merging,
  {
    tombstones,
    deleted,
    columns,
  }: {
    readonly tombstones: readonly Tombstone[];
    readonly deleted: DeletedSeries;
    readonly columns: readonly Column[];
  },
): DeletionSql {
  // The same condition for all segments, so that one scan reads them.
  const hasHidden = merge.inputs.some(({ minTime }) => minTime < visibleFromNs);
  const { remainingRows, deletedValues } = deletionSql(
    tombstonesOfSegment(tombstones, segment),
    deleted,
    {
      hasSeqColumn: false,
      fields: () => columns.filter(({ id }) => segment.columnIds.has(id)),
    },
  );
  const conditions = [
    ...(hasHidden ? [timeCondition(visibleFromNs, MAX_TIME_NS)] : []),
    ...(remainingRows === undefined ? [] : [remainingRows]),
  ];
  return {
    remainingRows: conditions.length === 0 ? undefined : conditions.join(' AND '),
    deletedValues,
  };
}

/**
 * Reads the rows of segments; those with the same deletions share one scan. DuckDB 1.5.6 runs out
 * of memory when it sorts a UNION ALL of several scans, but sorts one scan on disk.
 */
function rowsText(
  segments: readonly Segment[],
  options: {
    readonly columns: readonly Column[];
    readonly files: SegmentFiles;
    readonly order: readonly string[];
    readonly deletionSqlOf: (segment: Segment) => DeletionSql;
  },
): string {
  const inputs = segments.map((segment) => ({ segment, deleted: options.deletionSqlOf(segment) }));
  const alike = grouped(inputs, ({ deleted }) => deletionKey(deleted));
  const texts = Array.from(alike.values(), (group) => {
    const ids = columnIdsOf(group.map(({ segment }) => segment));
    const { remainingRows, deletedValues = new Map() } = group[0]?.deleted ?? {};
    const fields = options.columns.map((column) =>
      ids.has(column.id)
        ? valueText(column, deletedValues)
        : `NULL AS ${quoteName(column.physicalName)}`,
    );
    const list = ['_series', '"time"', ...fields, ...options.order].join(', ');
    const paths = group.map(({ segment }) => options.files.pathOf(segment.objectName));
    const where = remainingRows === undefined ? '' : ` WHERE ${remainingRows}`;
    return `SELECT ${list} FROM ${mixedParquetFrom(paths)}${where}`;
  });
  return texts.join(' UNION ALL ');
}

const columnIdsOf = (segments: readonly Segment[]): ReadonlySet<number> =>
  new Set(segments.flatMap(({ columnIds }) => [...columnIds]));

/**
 * Each field of a point takes the value of its latest write; unique segments count as older than
 * all overlays. Only points that occur in an overlay are grouped: DuckDB never spills a group, and
 * an ordered `last` keeps all of its rows.
 */
function overlaidRows(
  inputs: readonly Segment[],
  columns: readonly Column[],
  rowsOf: (segments: readonly Segment[], order: readonly string[]) => string,
): string {
  const isOverlay = ({ kind }: Segment): boolean => kind === 'overlay';
  const unique = inputs.filter((segment) => !isOverlay(segment));
  const overlays = rowsOf(inputs.filter(isOverlay), orderColumns({ kind: 'may_repeat' }));
  const names = columns.map(({ physicalName }) => quoteName(physicalName));
  const latest = latestValues(names, '_seq_rank, _seq');
  const merged = (rows: string): string =>
    `SELECT ${['_series', '"time"', ...latest].join(', ')} FROM (${rows}) GROUP BY _series, "time"`;
  if (unique.length === 0) return `(${merged(overlays)})`;
  const first = rowsOf(unique, orderColumns({ kind: 'unique' }));
  const again = `EXISTS (SELECT 1 FROM (${overlays}) o WHERE ${samePointCondition('o', 'u')})`;
  const once = `SELECT ${['_series', '"time"', ...names].join(', ')} FROM (${first}) u WHERE NOT ${again}`;
  return `(${once} UNION ALL ${merged(`SELECT * FROM (${first}) u WHERE ${again} UNION ALL ${overlays}`)})`;
}
