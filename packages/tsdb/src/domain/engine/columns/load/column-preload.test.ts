import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ManualClock } from '@plinth/kernel/testing';
import type { OpenSegment } from '../../table/table-segments.js';
import { ColumnCache } from '../cache/column-cache.js';
import { ColumnPreload, type PreloadTable } from './column-preload.js';

const MIB = 1024 * 1024;

/** What a load ahead may take together with what is there. */
async function limitOf(cacheMib: number, usedMib: number): Promise<number | undefined> {
  const clock = new ManualClock();
  const cache = new ColumnCache({
    limitBytes: cacheMib * MIB,
    nowMs: () => clock.monotonicMs(),
  });
  cache.add({ sizeBytes: usedMib * MIB, lastUsedMs: 0, drop: () => undefined });
  let limit: number | undefined;
  const table: PreloadTable = {
    segments: [{ segment: { rowCount: 10_000, maxTime: 1n } } as OpenSegment], // nothing else is looked at
    inMemory: {
      preload: async (_segment, { limitBytes }) => {
        limit = limitBytes / MIB;
        return true;
      },
      isScattered: false,
      gather: async () => undefined,
    },
  };
  const preload = new ColumnPreload({
    tables: () => [table],
    cache,
    clock,
    writeIdleMs: () => 10_000,
    isFlushNear: () => false,
    onFailed: (error) => assert.fail(String(error)),
  });
  preload.start();
  await clock.advanceMs(1000);
  await preload.close();
  return limit;
}

it('fills three quarters of a small cache ahead of queries, and of a large one what newer segments need', async () => {
  assert.equal(await limitOf(64, 0), 48);
  assert.equal(await limitOf(64, 40), 48);
  assert.equal(await limitOf(3072, 0), 256);
  assert.equal(await limitOf(3072, 1000), 1256);
});
