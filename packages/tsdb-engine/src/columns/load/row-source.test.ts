import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { BlockMemory } from '@plinth/tsdb-storage/buffer/block-memory.js';
import { RowBlock } from '@plinth/tsdb-storage/buffer/row-block.js';
import { blocksOf, presentColumns, type RowSource } from './row-source.js';

const BLOCK_ROWS = 8;
const column = (id: number): Column => ({
  id,
  name: `f${id}`,
  physicalName: `f${id}`,
  kind: 'float64',
});
const [KNOWN, NEW, ABSENT] = [column(1), column(2), column(3)];

it('includes a field of buffered rows after earlier rows have left their blocks', () => {
  const memory = new BlockMemory();
  const last = blockOf(NEW, memory);
  const half: RowSource = {
    key: {},
    kind: 'buffer',
    from: '',
    rowNumber: '',
    rowCount: 2 * BLOCK_ROWS,
    duckDbRows: BLOCK_ROWS,
    blocks: [last],
    blocksFrom: BLOCK_ROWS,
    minTime: 0n,
    maxTime: 0n,
    hasColumn: (id) => id === KNOWN.id,
    pin: () => assert.fail('nothing is read from DuckDB'),
  };
  const all = { from: 0, to: 2 * BLOCK_ROWS };
  assert.equal(blocksOf(half, all), undefined);
  assert.deepEqual(presentColumns(half, all, [KNOWN, NEW, ABSENT]), [KNOWN, NEW]);
  const first = { from: 0, to: BLOCK_ROWS };
  assert.deepEqual(presentColumns(half, first, [KNOWN, NEW, ABSENT]), [KNOWN]);
});

function blockOf(field: Column, memory: BlockMemory): RowBlock {
  const block = new RowBlock(BLOCK_ROWS, memory);
  const batch = {
    rowCount: BLOCK_ROWS,
    seriesOrdinals: new Uint32Array(BLOCK_ROWS),
    times: new BigInt64Array(BLOCK_ROWS),
    fields: [
      {
        column: field,
        data: { type: 'float64', values: new Float64Array(BLOCK_ROWS) },
        validity: undefined,
      },
    ],
  } as const;
  block.append(batch, 0, BLOCK_ROWS, 1n);
  return block;
}
