import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BlockMemory } from './block-memory.js';
import { RecentBlocks } from './recent-blocks.js';
import { RowBlock } from './row-block.js';

const ROWS = 16_384;

describe('RecentBlocks', () => {
  it('keeps no rows without queries', () => {
    const memory = new BlockMemory();
    const recent = new RecentBlocks(memory);
    recent.add(full(memory), ROWS);
    assert.deepEqual([recent.rowCount, recent.blocks], [0, []]);
  });

  it('keeps the last 65,536 rows while queries read them, and none after that many rows without a query', () => {
    const memory = new BlockMemory();
    const recent = new RecentBlocks(memory);
    const blocks = Array.from({ length: 11 }, () => full(memory));
    blocks.forEach((block, i) => {
      if (i < 6) recent.noteQuery(i * ROWS);
      recent.add(block, (i + 1) * ROWS);
      if (i === 5) assert.deepEqual(recent.blocks, blocks.slice(2, 6));
      if (i === 7) assert.deepEqual(recent.blocks, blocks.slice(4, 8));
    });
    assert.deepEqual([recent.rowCount, recent.blocks], [0, []]);
  });

  it('keeps no more rows than the limit of all tables allows', () => {
    const memory = new BlockMemory();
    const all = Array.from({ length: 40 }, () => new RecentBlocks(memory));
    for (const recent of all) {
      recent.noteQuery(0);
      for (let i = 1; i <= 4; i++) recent.add(full(memory), i * 1000);
    }
    const kept = all.flatMap(({ blocks }) => blocks);
    const sizeBytes = kept.reduce((sum, block) => sum + block.sizeBytes, 0);
    assert.ok(kept.length > 0 && sizeBytes <= 32 * 1024 * 1024, `${sizeBytes} bytes`);
    for (const recent of all) recent.clear();
    const last = new RecentBlocks(memory);
    last.noteQuery(0);
    last.add(full(memory), ROWS);
    assert.equal(last.blocks.length, 1, 'what was given back is there for others');
  });
});

function full(memory: BlockMemory): RowBlock {
  const block = new RowBlock(ROWS, memory);
  block.count = ROWS;
  return block;
}
