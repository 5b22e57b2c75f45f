import type { Column } from '../../../model/column.js';
import type { RowBlock } from '../../../storage/buffer/row-block.js';
import { isDirectKind } from './cached-rows.js';
import { ColumnBuilder } from './column-builder.js';
import type { Part, StoredColumn } from './part.js';
import { PartBuilder } from './part-builder.js';
import type { LoadedRows } from './table-columns.js';

interface BlockParts {
  readonly count: number;
  readonly part: Part | undefined;
  readonly columns: Map<number, StoredColumn | undefined>;
}

const NUMBERS = {
  float64: Float64Array,
  int64: undefined,
  uint64: undefined,
  bool: Int8Array,
} as const;

/** What was made of blocks that wait for the engine; it goes with them. */
const made = new WeakMap<RowBlock, BlockParts>();

/** The rows of a block as a part; `undefined` when they have no form in memory. */
export function blockRows(block: RowBlock, columns: readonly Column[]): LoadedRows | undefined {
  let parts = made.get(block);
  if (parts?.count !== block.count) {
    const builder = new PartBuilder(block.count);
    builder.add(block.series.subarray(0, block.count), block.times.subarray(0, block.count));
    parts = { count: block.count, part: builder.finish(), columns: new Map() };
    made.set(block, parts);
  }
  const { part, columns: stored } = parts;
  if (part === undefined) return undefined;
  for (const column of columns) {
    if (stored.has(column.id)) continue;
    const field = block.fields.get(column.id);
    if (field === undefined) {
      stored.set(column.id, undefined);
      continue;
    }
    if ('cells' in field.values || !isDirectKind(column.kind)) return undefined;
    const mayLack = field.validCount < block.count;
    const builder = new ColumnBuilder({ numbers: NUMBERS[column.kind], mayLack }, block.count);
    const isPresent = mayLack ? field.validity : undefined;
    builder.add(field.values.subarray(0, block.count), block.count, isPresent);
    const finished = builder.finish(part.order);
    if (finished === undefined) return undefined;
    stored.set(column.id, finished);
  }
  return { part, column: (id) => stored.get(id) };
}
