import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { RowBlock } from '@plinth/tsdb-storage/buffer/row-block.js';
import type { SegmentObject } from '@plinth/tsdb-storage/segments/reader/segment-reader.js';

/** The file of a segment. */
export interface RowFile extends SegmentObject {
  /** Keeps the file until the returned function is called. */
  pin(): () => void;
  /** Resolves if the file's checksum is correct. */
  verify(): Promise<void>;
}

/** A source of rows of a table: a segment, or rows of a generation. */
export interface RowSource {
  /** Identifies the source while it exists. */
  readonly key: object;
  /** SQL text for FROM. */
  readonly from: string;
  /** Name of the column with the row number, from 0. */
  readonly rowNumber: string;
  readonly kind: 'segment' | 'buffer';
  /** Present only for segments. */
  readonly file?: RowFile;
  /** Number of all rows; grows for a buffer table. */
  readonly rowCount: number;
  /** Number of leading rows that DuckDB can read. */
  readonly duckDbRows: number;
  /**
   * The last rows, from `blocksFrom` to the end, as they were written. DuckDB may have some of them
   * as well.
   */
  readonly blocks: readonly RowBlock[];
  readonly blocksFrom: number;
  readonly minTime: bigint;
  readonly maxTime: bigint;
  /** Whether DuckDB can read the column. */
  readonly hasColumn: (id: number) => boolean;
  /** Pins the source for a load; a file is first verified. Returns the unpin function. */
  readonly pin: () => Promise<() => void>;
}

/** Row numbers of a source, from `from` to before `to`. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

/** Rows `[from, to)` of a block. */
export interface BlockRange extends RowRange {
  readonly block: RowBlock;
}

/** Returns the blocks with the rows of a range; `undefined` if some rows are only in DuckDB. */
export function blocksOf(source: RowSource, range: RowRange): readonly BlockRange[] | undefined {
  const isWhole = range.from >= source.blocksFrom && source.blocks.length > 0;
  return isWhole ? blocksWithin(source, range) : undefined;
}

/** Returns the blocks with those rows of a range that are still in blocks. */
function blocksWithin({ blocks, blocksFrom }: RowSource, range: RowRange): readonly BlockRange[] {
  const found: BlockRange[] = [];
  let start = blocksFrom;
  for (const block of blocks) {
    const from = Math.max(range.from - start, 0);
    const to = Math.min(range.to - start, block.count);
    if (from < to) found.push({ block, from, to });
    start += block.count;
  }
  return found;
}

/**
 * Returns the columns that a row of the range may have: DuckDB has a field once it has received a
 * block with it.
 */
export function presentColumns<T extends Pick<Column, 'id'>>(
  source: RowSource,
  range: RowRange,
  columns: readonly T[],
): readonly T[] {
  const blocks = blocksWithin(source, range);
  return columns.filter(
    ({ id }) => source.hasColumn(id) || blocks.some(({ block }) => block.fields.has(id)),
  );
}
