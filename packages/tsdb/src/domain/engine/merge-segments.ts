import type { Column } from '../../model/column.js';
import type { DuckDbHost } from '../../storage/duckdb/duckdb-host.js';
import { quoteName } from '../../storage/duckdb/quote.js';
import type { Segment } from '../../storage/segments/segment.js';
import type { SegmentFiles } from '../../storage/segments/segment-files.js';
import { chunksOfRows, writeSegment } from './flush-table.js';
import { parquetFrom } from './sources.js';
import type { TableStore } from './table-store.js';

/**
 * Writes the points of the inputs, merged, as new unique segments. With overlays among the inputs, every segment that an
 * overlay may overwrite must be there, too: the result of a point is complete then.
 */
export async function mergeSegments(options: {
  readonly store: TableStore;
  readonly inputs: readonly Segment[];
  readonly host: DuckDbHost;
  readonly files: SegmentFiles;
}): Promise<readonly Segment[]> {
  const { store, inputs, host, files } = options;
  for (const segment of inputs) await files.verify(segment);
  await store.seriesTable.handOver(store.schema);
  const ids = new Set(inputs.flatMap((segment) => [...segment.columnIds]));
  const columns = [...store.schema.columns.values()].filter((column) => ids.has(column.id));
  const rows = inputs.some((segment) => segment.kind === 'overlay')
    ? overlaidRows(inputs, columns, files)
    : `(${inputs.map((segment) => rowsOf(segment, columns, files, [])).join(' UNION ALL ')})`;
  const segments: Segment[] = [];
  const seqs = {
    minSeq: inputs.reduce((min, s) => (s.minSeq < min ? s.minSeq : min), inputs[0]?.minSeq ?? 0n),
    maxSeq: inputs.reduce((max, s) => (s.maxSeq > max ? s.maxSeq : max), 0n),
  };
  const level = Math.max(...inputs.map((segment) => segment.level)) + 1;
  for (const chunk of await chunksOfRows(rows, host)) {
    const part = { kind: 'unique', rows } as const;
    const segment = await writeSegment({ store, seqs, level, part, chunk, columns, files });
    if (segment !== undefined) segments.push(segment);
  }
  return segments;
}

function rowsOf(
  segment: Segment,
  columns: readonly Column[],
  files: SegmentFiles,
  order: readonly string[],
): string {
  const list = [
    '_series',
    '"time"',
    ...columns.map((column) => {
      const name = quoteName(column.physicalName);
      return segment.columnIds.has(column.id) ? name : `NULL AS ${name}`;
    }),
    ...order,
  ];
  return `SELECT ${list.join(', ')} FROM ${parquetFrom([files.pathOf(segment.objectName)])}`;
}

/** Each field of a point takes the value of its latest write; unique segments come before all overlays. */
function overlaidRows(
  inputs: readonly Segment[],
  columns: readonly Column[],
  files: SegmentFiles,
): string {
  const all = inputs.map((segment) =>
    rowsOf(
      segment,
      columns,
      files,
      segment.kind === 'overlay' ? ['1 AS _rank', '_seq'] : ['0 AS _rank', '0::BIGINT AS _seq'],
    ),
  );
  const latest = columns.map((column) => {
    const name = quoteName(column.physicalName);
    return `last(${name} ORDER BY _rank, _seq) FILTER (${name} IS NOT NULL) AS ${name}`;
  });
  return `(SELECT ${['_series', '"time"', ...latest].join(', ')} FROM (${all.join(' UNION ALL ')}) GROUP BY _series, "time")`;
}
