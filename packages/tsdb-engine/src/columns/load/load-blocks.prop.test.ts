import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { RowBatch } from '@plinth/tsdb-model/columns/row-batch.js';
import { runThrough } from '@plinth/tsdb-model/time-sliced-task.js';
import { BlockMemory } from '@plinth/tsdb-storage/buffer/block-memory.js';
import { RowBlock } from '@plinth/tsdb-storage/buffer/row-block.js';
import fc from 'fast-check';
import { CachedRows } from '../cache/cached-rows.js';
import { ColumnCache } from '../cache/column-cache.js';
import { timeAt } from '../cache/part.js';
import { loadBlocks, timesOfBlocks } from './load-blocks.js';
import { blocksOf, type RowSource } from './row-source.js';

const BLOCK_ROWS = 16;
const column = (id: number, kind: Column['kind']): Column => ({
  id,
  name: `f${id}`,
  physicalName: `f${id}`,
  kind,
});
const FLOAT = column(1, 'float64');
const INT = column(2, 'int64');
const BOOL = column(3, 'bool');
const COLUMNS = [FLOAT, INT, BOOL];

interface Row {
  readonly series: number;
  readonly time: bigint;
  readonly values: readonly (number | undefined)[];
}

const value = (numbers: fc.Arbitrary<number>): fc.Arbitrary<number | undefined> =>
  fc.option(numbers, { nil: undefined });
const row: fc.Arbitrary<Row> = fc.record({
  series: fc.nat(4),
  time: fc.bigInt(-(2n ** 31n), 2n ** 31n - 1n),
  values: fc.tuple(
    value(fc.double({ noNaN: true })),
    value(fc.integer({ min: -(2 ** 40), max: 2 ** 40 })),
    value(fc.nat(1)),
  ),
});
const rowsAndRange = fc
  .array(row, { minLength: 1, maxLength: 60 })
  .chain((rows) => fc.tuple(fc.constant(rows), fc.nat(rows.length - 1), fc.nat(rows.length)));

describe('loadBlocks', () => {
  it('loads any range of buffered rows by series and time', () => {
    fc.assert(
      fc.property(rowsAndRange, ([rows, from, count]) => {
        const to = Math.min(rows.length, from + count + 1);
        const blocks = blocksOf(sourceOf(rows), { from, to });
        assert.ok(blocks !== undefined);
        const range = { from, to, rows: new CachedRows(newCache()), isMerged: false };
        runThrough(loadBlocks(range, blocks, COLUMNS));
        const { part } = range.rows;
        assert.ok(part !== undefined);
        const found: string[] = [];
        part.runSeries.forEach((series, run) => {
          for (let at = part.runStarts[run] as number; at < (part.runEnds[run] as number); at++) {
            const cells = COLUMNS.map(({ id }) => {
              const stored = range.rows.column(id);
              const bits = stored?.validity?.[at >> 3] ?? 255;
              return (bits & (1 << (at & 7))) === 0 ? undefined : stored?.values[at];
            });
            found.push(textOf({ series, time: timeAt(part, at), values: cells }));
          }
        });
        const written = rows.slice(from, to);
        assert.deepEqual(found.toSorted(), written.map(textOf).toSorted());
        const times = written.map(({ time }) => time).toSorted((a, b) => (a < b ? -1 : 1));
        assert.deepEqual(timesOfBlocks(blocks), { min: times[0], max: times.at(-1) });
      }),
    );
  });
});

// `+ 0` turns a negative zero into zero.
const textOf = ({ series, time, values }: Row): string =>
  `${series} ${time} ${values.map((each) => (each === undefined ? '-' : each + 0)).join(' ')}`;

const newCache = (): ColumnCache => new ColumnCache({ limitBytes: 1e9, nowMs: () => 0 });

/** All rows are in blocks, one block per write. */
function sourceOf(rows: readonly Row[]): RowSource {
  const memory = new BlockMemory();
  const blocks: RowBlock[] = [];
  for (const each of rows) {
    let block = blocks.at(-1);
    if (block === undefined || block.free === 0) {
      block = new RowBlock(BLOCK_ROWS, memory);
      blocks.push(block);
    }
    block.append(batchOf(each), 0, 1, 1n);
  }
  return {
    key: {},
    kind: 'buffer',
    from: '',
    rowNumber: '',
    rowCount: rows.length,
    duckDbRows: 0,
    blocks,
    blocksFrom: 0,
    minTime: 0n,
    maxTime: 0n,
    hasColumn: () => false,
    pin: () => assert.fail('nothing is read from DuckDB'),
  };
}

function batchOf({ series, time, values: [float, int, bool] }: Row): RowBatch {
  const fields: RowBatch['fields'][number][] = [];
  if (float !== undefined)
    fields.push({
      ...ALL,
      column: FLOAT,
      data: { type: 'float64', values: Float64Array.of(float) },
    });
  if (int !== undefined)
    fields.push({
      ...ALL,
      column: INT,
      data: { type: 'int64', values: BigInt64Array.of(BigInt(int)) },
    });
  if (bool !== undefined)
    fields.push({ ...ALL, column: BOOL, data: { type: 'bool', values: Uint8Array.of(bool) } });
  const times = BigInt64Array.of(time);
  return { rowCount: 1, seriesOrdinals: Uint32Array.of(series), times, fields };
}

const ALL = { validity: undefined };
