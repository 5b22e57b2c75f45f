import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { MAX_INT64, MIN_INT64 } from '@plinth/tsdb-model/columns/int64.js';
import { STEP_ROWS, type Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import type { BlockField } from '@plinth/tsdb-storage/buffer/row-block.js';
import { isCacheableKind } from '../cache/cached-rows.js';
import { ColumnBuilder } from './column-builder.js';
import type { CachedRange } from './load-rows.js';
import { PartBuilder } from './part-builder.js';
import type { BlockRange } from './row-source.js';

const NUMBERS = {
  float64: Float64Array,
  int64: undefined,
  uint64: undefined,
  bool: Int8Array,
} as const;

/** Loads the missing columns of a range from the blocks that contain its rows, without DuckDB. */
export function* loadBlocks(
  { from, to, rows }: CachedRange,
  blocks: readonly BlockRange[],
  columns: readonly Column[],
): Steps<void> {
  const rowCount = to - from;
  let { part } = rows;
  if (part === undefined) {
    const builder = new PartBuilder(rowCount);
    for (const { block, ...range } of blocks)
      builder.add(
        block.seriesOrdinals.subarray(range.from, range.to),
        block.times.subarray(range.from, range.to),
      );
    part = yield* builder.finishInSteps();
    rows.setPart(part);
  }
  if (part === undefined) return;
  for (const column of columns) {
    if (rows.has(column.id)) continue;
    if (rowCount > STEP_ROWS) yield;
    rows.setColumn(column.id, columnOf(column, blocks, rowCount)?.finish(part.order));
  }
}

/** Returns `undefined` if values of this type cannot be kept in memory. */
function columnOf(
  { id, kind }: Column,
  blocks: readonly BlockRange[],
  rowCount: number,
): ColumnBuilder | undefined {
  if (!isCacheableKind(kind)) return undefined;
  const mayLack = blocks.some(({ block }) => (block.fields.get(id)?.validCount ?? 0) < block.count);
  const builder = new ColumnBuilder({ numbers: NUMBERS[kind], mayLack }, rowCount);
  for (const range of blocks) {
    const count = range.to - range.from;
    const field = range.block.fields.get(id);
    if (field === undefined) {
      builder.add(new Int8Array(count), count, new Uint8Array((count + 7) >> 3));
      continue;
    }
    if ('texts' in field.values) return undefined;
    const values = field.values.subarray(range.from, range.to);
    builder.add(values, count, mayLack ? presentBits(field, range) : undefined);
  }
  return builder;
}

/** Returns the bitmap of the rows of the range, least significant bit first. */
function presentBits({ validity }: BlockField, { from, to }: BlockRange): Uint8Array {
  const shift = from & 7;
  const bytes = validity.subarray(from >> 3);
  if (shift === 0) return bytes;
  const bits = new Uint8Array((to - from + 7) >> 3);
  for (let i = 0; i < bits.length; i++)
    bits[i] = ((bytes[i] as number) >> shift) | ((bytes[i + 1] ?? 0) << (8 - shift));
  return bits;
}

const TWO_32 = 2 ** 32;

/** Returns the minimum and maximum timestamp of the rows. */
export function timesOfBlocks(blocks: readonly BlockRange[]): {
  readonly min: bigint;
  readonly max: bigint;
} {
  let min = MAX_INT64;
  let max = MIN_INT64;
  for (const { block, from, to } of blocks) {
    const { times } = block;
    const words = new Int32Array(times.buffer, times.byteOffset, to * 2);
    // Doubles select the candidates for the exact comparison: a bigint per row would be an object.
    let minNear = Number.POSITIVE_INFINITY;
    let maxNear = Number.NEGATIVE_INFINITY;
    for (let row = from; row < to; row++) {
      const near = (words[row * 2 + 1] as number) * TWO_32 + ((words[row * 2] as number) >>> 0);
      if (near <= minNear) {
        minNear = near;
        const time = times[row] as bigint;
        if (time < min) min = time;
      }
      if (near >= maxNear) {
        maxNear = near;
        const time = times[row] as bigint;
        if (time > max) max = time;
      }
    }
  }
  return { min, max };
}
