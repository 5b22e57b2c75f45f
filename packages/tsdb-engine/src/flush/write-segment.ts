import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import { SEGMENT_FORMAT_VERSION, type Segment } from '@plinth/tsdb-model/segment.js';
import { quoteName, quoteString } from '@plinth/tsdb-model/text/quote.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import type { DictionaryLimit, SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import { timeCondition } from '../scan/sources.js';
import type { TableStore } from '../table/table-store.js';
import { type Partition, partitionsOf } from './partitions.js';
import type { SegmentRows } from './split-rows.js';

export async function partitionsOfRows(
  rows: string,
  duckDb: DuckDbHost,
  maxCount?: number,
): Promise<readonly Partition[]> {
  return await partitionsOf(async (widthNs, limit) => {
    const numbers = await duckDb.rows(
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
  readonly source: Pick<SegmentRows, 'kind' | 'rows'>;
  readonly partition: Partition;
  readonly columns: readonly Column[];
  readonly dictionaryLimit: DictionaryLimit;
  /** Upper bound of the row count of `source`. */
  readonly rowCount: number;
  readonly files: SegmentFiles;
}): Promise<Segment | undefined> {
  const { store, seqs, source, partition, columns, files } = options;
  const tags = [...store.schema.columns.values()].filter(
    (column) => column.kind === 'tag' && store.series.table.columnOf(column.name) !== undefined,
  );
  const inPartition = partition.widthNs === 0n ? '' : ` WHERE ${partitionCondition(partition)}`;
  const time = store.schema.columns.get('time');
  const written = await files.writeSegment({
    tableUuid: store.schema.uuid,
    select: sortedRowsText({
      rows: `${source.rows}${inPartition}`,
      values: [
        ...columns.map((column) => quoteName(column.physicalName)),
        ...(source.kind === 'overlay' ? ['_seq'] : []),
      ],
      seriesTable: quoteName(store.series.table.name),
      tags: tags.map((tag) => ({
        name: quoteName(tag.physicalName),
        values: fewValues(store.series.index.tagValues(tag.name)),
      })),
      hasMoreSeriesThanRows: store.series.index.count > options.rowCount,
    }),
    fieldIds: new Map(
      [...(time === undefined ? [] : [time]), ...tags, ...columns].map((c) => [
        c.physicalName,
        c.id,
      ]),
    ),
    dictionaryLimit: options.dictionaryLimit,
  });
  if (written === undefined) return undefined;
  return {
    ...written,
    tableId: store.tableId,
    kind: source.kind,
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
 * Tags with few values are cast to ENUM once per series. The file's dictionaries are the same, and no string is looked up
 * per row, which took most of the time.
 */
function sortedRowsText(options: {
  /** SQL text for FROM and WHERE. */
  readonly rows: string;
  /** Quoted column names. */
  readonly values: readonly string[];
  readonly seriesTable: string;
  /** Tag columns: their quoted names, and their values if there are few. */
  readonly tags: readonly { readonly name: string; readonly values: string | undefined }[];
  /** Most series have no such row, so the series with such rows are looked up first. */
  readonly hasMoreSeriesThanRows: boolean;
}): string {
  const values = ['"time"', ...options.values].join(', ');
  const sorted = `SELECT _series, ${values} FROM ${options.rows} ORDER BY _series, "time"`;
  const inOrder = `SELECT lag(_series, 0) OVER () AS _series, ${values} FROM (${sorted})`;
  if (options.tags.length === 0) return inOrder;
  const used = options.hasMoreSeriesThanRows
    ? ` WHERE _series IN (SELECT _series FROM ${options.rows})`
    : '';
  // A series that is not among these rows may have been added in the meantime with other values; its NULL
  // is never read.
  const columns = options.tags.map(({ name, values }) =>
    values === undefined ? name : `TRY_CAST(${name} AS ENUM(${values})) AS ${name}`,
  );
  const series = `SELECT _series, ${columns.join(', ')} FROM ${options.seriesTable}${used}`;
  const tagsOfRow = `SELECT struct_pack(${options.tags.map(({ name }) => `${name} := s.${name}`).join(', ')}) FROM (${series}) s WHERE s._series = r._series`;
  const withTags = `SELECT r.*, (${tagsOfRow}) AS _series_tags FROM (${inOrder}) r`;
  return `SELECT _series, ${options.tags.map(({ name }) => `_series_tags.${name}`).join(', ')}, ${values} FROM (${withTags})`;
}

/** Every row group of the file stores all of them. */
const MAX_ENUM_VALUES = 256;
const MAX_ENUM_LENGTH = 4096;

/**
 * Returns the values as a list of literals, if it is short. A string with NUL cannot be written as
 * a literal.
 */
function fewValues(values: readonly string[]): string | undefined {
  if (values.length === 0 || values.length > MAX_ENUM_VALUES) return undefined;
  if (values.some((value) => value.includes('\0'))) return undefined;
  const length = values.reduce((sum, value) => sum + value.length, 0);
  return length > MAX_ENUM_LENGTH ? undefined : values.map(quoteString).join(', ');
}

function partitionCondition(partition: Partition): string {
  const last = partition.startNs + partition.widthNs - 1n;
  return timeCondition(
    partition.startNs < MIN_TIME_NS ? MIN_TIME_NS : partition.startNs,
    last > MAX_TIME_NS ? MAX_TIME_NS : last,
  );
}
