import type { Column } from '../../../../model/columns/column.js';
import type { RowBlock } from '../../../../storage/buffer/row-block.js';
import type { SegmentObject } from '../../../../storage/segments/reader/segment-reader.js';

/** The file of a segment. */
export interface RowFile extends SegmentObject {
  /** Keeps it until what is returned is called. */
  pin(): () => void;
  /** Resolves when it is what was written. */
  verify(): Promise<void>;
}

/** Where rows of a table are: a segment, or rows of a generation. */
export interface RowSource {
  /** Stands for the source as long as it lives. */
  readonly key: object;
  /** What stands in FROM. */
  readonly from: string;
  /** Its column with the number of the row, from 0 on. */
  readonly rowNumber: string;
  readonly kind: 'segment' | 'buffer';
  /** Of a segment. */
  readonly file?: RowFile;
  /** All rows; a buffer table's grow. */
  readonly rowCount: number;
  /** The first rows, which the engine can read. */
  readonly engineRows: number;
  /** The last rows, from `blocksFrom` to the end, as they were written; some may be in the engine as well. */
  readonly blocks: readonly RowBlock[];
  readonly blocksFrom: number;
  readonly minTime: bigint;
  readonly maxTime: bigint;
  /** What the engine can read. */
  readonly hasColumn: (id: number) => boolean;
  /** Keeps the source for the time of a load and makes sure that it can be read. Returns what lets it go. */
  readonly hold: () => Promise<() => void>;
}

/** Rows of a source by their numbers, without the last. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

/** Rows `[from, to)` of a block. */
export interface BlockRange extends RowRange {
  readonly block: RowBlock;
}

/** The blocks with the rows of a range; `undefined`: some of them are in the engine alone. */
export function blocksOf(source: RowSource, range: RowRange): readonly BlockRange[] | undefined {
  const isWhole = range.from >= source.blocksFrom && source.blocks.length > 0;
  return isWhole ? blocksWithin(source, range) : undefined;
}

/** The blocks with those rows of a range that have not left them. */
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

/** Those that a row of the range may have: the engine knows a field when it has got a block with it. */
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
