import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import {
  SEGMENT_FORMAT_VERSION,
  type Segment,
  type SeriesFile,
} from '@plinth/tsdb-model/segment.js';
import { quoteName, quoteString } from '@plinth/tsdb-model/text/quote.js';
import { TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import { isOutOfMemory } from '@plinth/tsdb-storage/duckdb/instance/memory-watch.js';
import type { Numbered, SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import { type Source, timeCondition } from '../scan/sources.js';
import type { GenerationTable } from '../table/generation-table.js';
import type { TableStore } from '../table/table-store.js';
import { deletedSeries, deletedUpTo, survivesText, type Tombstone } from '../table/tombstones.js';
import { chooseNumbered } from './choose-numbered.js';
import { type Partition, partitionsOf } from './partitions.js';

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
  host: DuckDbHost,
  files: SegmentFiles,
): Promise<FlushedTable> {
  await store.repeated.deduplicateLateRows();
  await table.main.moveToDuckDb();
  return await store.series.withSeriesTable(store.schema, () =>
    writeTable(store, table, host, files),
  );
}

async function writeTable(
  store: TableStore,
  table: GenerationTable,
  host: DuckDbHost,
  files: SegmentFiles,
): Promise<FlushedTable> {
  const columns = columnsOf(table);
  await store.tombstones.settled();
  const tombstones = store.tombstones.all;
  // Runs exclusively, because a compaction must not remove the files that are being read.
  const parts = await store.exclusive(() => splitRows({ store, table, columns, host, tombstones }));
  const numbered = await chooseNumbered(files, table.rowCount, {
    from: table.mainSource().from,
    rowCount: table.main.rowCount,
    columns: table.main.columns,
  });
  const { minSeq } = table;
  const maxSeq = deletedUpTo(tombstones, table.maxSeq);
  return await removedOnFailure(files, async (segments) => {
    for (const part of parts) {
      for (const partition of await partitionsOfRows(part.rows, host)) {
        const write = (rows: string): Promise<Segment | undefined> =>
          writeSegment({
            store,
            // The new files already exclude the rows of these deletions.
            seqs: { minSeq, maxSeq },
            level: 0,
            part: { kind: part.kind, rows },
            partition,
            columns,
            numbered,
            rowCount: table.rowCount,
            files,
          });
        segments.push(...(await writeInPieces(part.rows, { write, files })));
      }
    }
    checkCount(parts, segments);
    for (const part of parts) await part.drop();
    return { segments, ...(await writeNewSeries(store, files)) };
  });
}

/**
 * Detects lost rows by count if no rows were merged or omitted. The rows are still available for a
 * retry.
 */
function checkCount(parts: readonly Part[], segments: readonly Segment[]): void {
  const [part, ...others] = parts;
  if (part?.rowCount === undefined || others.length > 0) return;
  const written = segments.reduce((sum, { rowCount }) => sum + rowCount, 0);
  if (written !== part.rowCount)
    throw new Error(`DuckDB wrote only ${written} of ${part.rowCount} rows`);
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
    // Files that cannot be removed now are removed at the next start.
    for (const { objectName } of written) await files.remove(objectName).catch(() => undefined);
    throw error;
  }
}

interface Part {
  readonly kind: Segment['kind'];
  /** SQL text for FROM with `_series, "time"`, the columns, and `_seq` in overlays. */
  readonly rows: string;
  /** The row count, if it is known because every row is written. */
  readonly rowCount?: number;
  drop(): Promise<void>;
}

function columnsOf(table: GenerationTable): readonly Column[] {
  const byId = new Map<number, Column>();
  for (const column of [...table.main.columns, ...table.late.columns]) byId.set(column.id, column);
  return [...byId.values()];
}

const NOTHING_TO_DROP = async (): Promise<void> => undefined;

async function splitRows(from: {
  readonly store: TableStore;
  readonly table: GenerationTable;
  readonly columns: readonly Column[];
  readonly host: DuckDbHost;
  readonly tombstones: readonly Tombstone[];
}): Promise<readonly Part[]> {
  const { store, table, columns, host, tombstones } = from;
  const deleted = await new TimeSlicedTask().run(deletedSeries(tombstones, store.series));
  const survives = survivesText(tombstones, deleted, { hasSeqColumn: true });
  const where = survives === undefined ? '' : ` WHERE ${survives}`;
  const names = columns.map((column) => quoteName(column.physicalName));
  const list = (source: Source, order: string[]): string =>
    `SELECT ${[
      '_series',
      '"time"',
      ...columns.map((c) =>
        source.hasColumn(c.id) ? quoteName(c.physicalName) : `NULL AS ${quoteName(c.physicalName)}`,
      ),
      ...order,
    ].join(', ')} FROM ${source.from}${where}`;
  const main = table.mainSource();
  const late = table.lateSource();
  const both = [
    ...(table.main.rowCount > 0
      ? [list(main, ['0 AS _seq_rank', '_seq', '0::BIGINT AS _seq_order'])]
      : []),
    ...(table.late.rowCount > 0
      ? [list(late, ['1 AS _seq_rank', '_seq', `(${late.order})::BIGINT AS _seq_order`])]
      : []),
  ].join(' UNION ALL ');
  const minTime = table.main.minTime < table.late.minTime ? table.main.minTime : table.late.minTime;
  const maxTime = table.main.maxTime > table.late.maxTime ? table.main.maxTime : table.late.maxTime;
  if (!store.repeated.keys.touches(minTime, maxTime)) {
    const known = survives === undefined ? { rowCount: table.rowCount } : {};
    return [{ kind: 'unique', rows: `(${both})`, ...known, drop: NOTHING_TO_DROP }];
  }
  const duplicates = quoteName(store.repeated.keys.name);
  const match = 'a._series = d._series AND a."time" = d."time"';
  const latest = names.map(
    (name) =>
      `last(${name} ORDER BY _seq_rank, _seq, _seq_order) FILTER (${name} IS NOT NULL) AS ${name}`,
  );
  const merged = `${table.main.name}_merged`;
  const older = store
    .segmentSources(minTime, maxTime)
    .map(
      (source) =>
        `SELECT _series, "time" FROM ${source.from} WHERE ${timeCondition(minTime, maxTime)}`,
    );
  const isOlder =
    older.length === 0
      ? 'false'
      : `EXISTS (SELECT 1 FROM (${older.join(' UNION ALL ')}) o WHERE o._series = m._series AND o."time" = m."time")`;
  await host.withWriter(async (connection) => {
    await connection.run(`DROP TABLE IF EXISTS ${quoteName(merged)}`);
    await connection.run(
      `CREATE TABLE ${quoteName(merged)} AS SELECT *, ${isOlder} AS _seq_is_older FROM (SELECT ${['_series', '"time"', ...latest, 'max(_seq) AS _seq'].join(', ')} FROM (${both}) a SEMI JOIN ${duplicates} d ON ${match} GROUP BY _series, "time") m`,
    );
  });
  const key = ['_series', '"time"', ...names].join(', ');
  // Compared with the merged points, not with the current duplicates: a query may find more duplicates in the
  // meantime, which would be in no part.
  const once = `SELECT ${key} FROM (${both}) a ANTI JOIN ${quoteName(merged)} d ON ${match}`;
  const mergedRows = (flag: string): string =>
    `SELECT ${key}, _seq FROM ${quoteName(merged)} WHERE ${flag}`;
  return [
    {
      kind: 'unique',
      rows: `(${once} UNION ALL SELECT ${key} FROM ${quoteName(merged)} WHERE NOT _seq_is_older)`,
      drop: NOTHING_TO_DROP,
    },
    {
      kind: 'overlay',
      rows: `(${mergedRows('_seq_is_older')})`,
      drop: () =>
        host.withWriter(async (connection) => {
          await connection.run(`DROP TABLE IF EXISTS ${quoteName(merged)}`);
        }),
    },
  ];
}

/** Returns the partitions of the rows. */
export async function partitionsOfRows(
  rows: string,
  host: DuckDbHost,
  maxCount?: number,
): Promise<readonly Partition[]> {
  return await partitionsOf(async (widthNs, limit) => {
    const numbers = await host.rows(
      // Only integers: a double cannot represent the last nanoseconds before midnight.
      `SELECT DISTINCT CASE WHEN t >= 0 THEN t // ${widthNs} ELSE -(-(t + 1) // ${widthNs}) - 1 END FROM (SELECT epoch_ns("time") AS t FROM ${rows}) LIMIT ${limit}`,
    );
    return numbers.map(([number]) => BigInt(String(number)));
  }, maxCount);
}

/** Writes the rows of one partition, sorted by (series, time); `undefined` if there are none. */
export async function writeSegment(options: {
  readonly store: TableStore;
  readonly seqs: { readonly minSeq: bigint; readonly maxSeq: bigint };
  readonly level: number;
  readonly part: Pick<Part, 'kind' | 'rows'>;
  readonly partition: Partition;
  readonly columns: readonly Column[];
  readonly numbered: Numbered;
  /** Upper bound of the part's row count. */
  readonly rowCount: number;
  readonly files: SegmentFiles;
}): Promise<Segment | undefined> {
  const { store, seqs, part, partition, columns, files } = options;
  const tags = [...store.schema.columns.values()].filter(
    (column) => column.kind === 'tag' && store.series.table.columnOf(column.name) !== undefined,
  );
  const inPartition = partition.widthNs === 0n ? '' : ` WHERE ${partitionCondition(partition)}`;
  const time = store.schema.columns.get('time');
  const written = await files.writeSegment({
    tableUuid: store.schema.uuid,
    select: sortedRowsText({
      rows: `${part.rows}${inPartition}`,
      values: [
        ...columns.map((column) => quoteName(column.physicalName)),
        ...(part.kind === 'overlay' ? ['_seq'] : []),
      ],
      seriesTable: quoteName(store.series.table.name),
      tags: tags.map((tag) => ({
        name: quoteName(tag.physicalName),
        values: fewValues(store.series.index.tagValues(tag.name)),
      })),
      isFewSeries: store.series.index.count > options.rowCount,
    }),
    fieldIds: new Map(
      [...(time === undefined ? [] : [time]), ...tags, ...columns].map((c) => [
        c.physicalName,
        c.id,
      ]),
    ),
    numbered: options.numbered,
  });
  if (written === undefined) return undefined;
  return {
    ...written,
    tableId: store.tableId,
    kind: part.kind,
    formatVersion: SEGMENT_FORMAT_VERSION,
    partitionStartNs: partition.startNs,
    partitionWidthNs: partition.widthNs,
    minSeq: seqs.minSeq,
    maxSeq: seqs.maxSeq,
    level: options.level,
    columnIds: new Set(columns.map((column) => column.id)),
  };
}

/**
 * Rows sorted by (series, time), with their tags. DuckDB keeps all rows in memory while it sorts,
 * so tags are joined afterwards. With ten tags, this needs a fifth of the memory.
 * Two means preserve the order up to the file:
 * - A window function over all rows (here one that returns each row's own series) is computed in
 *   one thread, as is everything after it. Several threads would each collect row groups until the
 *   previous ones are written.
 * - Tags are a scalar subquery: DuckDB never swaps the sides of that join, as it would if it
 *   expected fewer rows than series.
 * Tags with few values are numbered once per series. The file's dictionaries are the same, and no string is looked up
 * per row, which took most of the time.
 */
function sortedRowsText(of: {
  /** SQL text for FROM, and WHERE. */
  readonly rows: string;
  /** Quoted column names. */
  readonly values: readonly string[];
  readonly seriesTable: string;
  /** Tag columns: their quoted names, and their values if there are few. */
  readonly tags: readonly { readonly name: string; readonly values: string | undefined }[];
  /** Most series have no such row, so the series with such rows are looked up first. */
  readonly isFewSeries: boolean;
}): string {
  const values = ['"time"', ...of.values].join(', ');
  const sorted = `SELECT _series, ${values} FROM ${of.rows} ORDER BY _series, "time"`;
  const inOrder = `SELECT lag(_series, 0) OVER () AS _series, ${values} FROM (${sorted})`;
  if (of.tags.length === 0) return inOrder;
  const used = of.isFewSeries ? ` WHERE _series IN (SELECT _series FROM ${of.rows})` : '';
  // A series that is not among these rows may have been added in the meantime with other values; its NULL
  // is never read.
  const columns = of.tags.map(({ name, values }) =>
    values === undefined ? name : `TRY_CAST(${name} AS ENUM(${values})) AS ${name}`,
  );
  const series = `SELECT _series, ${columns.join(', ')} FROM ${of.seriesTable}${used}`;
  const tagsOfRow = `SELECT struct_pack(${of.tags.map(({ name }) => `${name} := s.${name}`).join(', ')}) FROM (${series}) s WHERE s._series = r._series`;
  const withTags = `SELECT r.*, (${tagsOfRow}) AS _series_tags FROM (${inOrder}) r`;
  return `SELECT _series, ${of.tags.map(({ name }) => `_series_tags.${name}`).join(', ')}, ${values} FROM (${withTags})`;
}

/** Every row group of the file stores all of them. */
const MAX_NUMBERED_VALUES = 256;
const MAX_NUMBERED_LENGTH = 4096;

/**
 * Returns the values as a list of literals, if it is short. A string with NUL cannot be written as
 * a literal.
 */
function fewValues(values: readonly string[]): string | undefined {
  if (values.length === 0 || values.length > MAX_NUMBERED_VALUES) return undefined;
  if (values.some((value) => value.includes('\0'))) return undefined;
  const length = values.reduce((sum, value) => sum + value.length, 0);
  return length > MAX_NUMBERED_LENGTH ? undefined : values.map(quoteString).join(', ');
}

function partitionCondition(partition: Partition): string {
  const last = partition.startNs + partition.widthNs - 1n;
  return timeCondition(
    partition.startNs < MIN_TIME_NS ? MIN_TIME_NS : partition.startNs,
    last > MAX_TIME_NS ? MAX_TIME_NS : last,
  );
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
