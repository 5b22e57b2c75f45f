import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ManualClock } from '@plinth/kernel/testing';
import type { OpenSegment } from '../../table/table-segments.js';
import { ColumnCache } from '../cache/column-cache.js';
import { ColumnPreload, type PreloadTable } from './column-preload.js';

const MIB = 1024 * 1024;

/** Starts a preload of one segment. Returns it with the cache size that it may fill. */
function preloading(cacheMib: number, usedMib: number, writeIdleMs = () => 10_000) {
  const clock = new ManualClock();
  const cache = new ColumnCache({
    limitBytes: cacheMib * MIB,
    nowMs: () => clock.monotonicMs(),
  });
  cache.add({ sizeBytes: usedMib * MIB, lastUsedMs: 0, drop: () => undefined });
  const begun = { clock, cache, limitMib: undefined as number | undefined, preparedCount: 0 };
  const table: PreloadTable = {
    // the test reads no other property
    segments: [{ segment: { rowCount: 10_000, maxTime: 1n } } as OpenSegment],
    columnQueries: {
      prepare: async () => {
        begun.preparedCount++;
      },
      preload: async (_segment, { limitBytes }) => {
        begun.limitMib = limitBytes / MIB;
        return true;
      },
      hasManyCachedRanges: false,
      mergeCachedRanges: async () => undefined,
    },
  };
  const preload = new ColumnPreload({
    tables: () => [table],
    cache,
    clock,
    writeIdleMs,
    isFlushNear: () => false,
    onFailed: (error) => assert.fail(String(error)),
  });
  preload.start();
  return Object.assign(begun, { close: () => preload.close() });
}

async function limitOf(cacheMib: number, usedMib: number): Promise<number | undefined> {
  const begun = preloading(cacheMib, usedMib);
  await begun.clock.advanceMs(1000);
  await begun.close();
  return begun.limitMib;
}

it('reads the indexes of files without a query', async () => {
  const begun = preloading(64, 0);
  await begun.clock.advanceMs(1000);
  await begun.close();
  assert.equal(begun.preparedCount, 1);
});

it('preloads up to three quarters of a small cache, and a fixed amount of a large one', async () => {
  assert.equal(await limitOf(64, 0), 48);
  assert.equal(await limitOf(64, 40), 48);
  assert.equal(await limitOf(3072, 0), 256);
  assert.equal(await limitOf(3072, 1000), 1256);
});

it('lets queries go first for up to some seconds', async () => {
  const begun = preloading(64, 0);
  const { clock, cache } = begun;
  const askFor = async (seconds: number): Promise<void> => {
    for (let tenths = 0; tenths < 10 * seconds; tenths++) {
      cache.loads.noteQuery();
      await clock.advanceMs(100);
    }
  };
  await askFor(4);
  assert.equal(begun.limitMib, undefined);
  await askFor(2);
  assert.equal(begun.limitMib, 48);
  await begun.close();
});

it('lets queries go first that start after writes have ended', async () => {
  let wroteMs = 0;
  const begun = preloading(64, 0, () => clock.monotonicMs() - wroteMs);
  const { clock, cache } = begun;
  for (let seconds = 0; seconds < 14; seconds += 0.1) {
    if (seconds < 10) wroteMs = clock.monotonicMs();
    cache.loads.noteQuery();
    await clock.advanceMs(100);
  }
  assert.equal(begun.limitMib, undefined);
  for (let tenths = 0; tenths < 20; tenths++) {
    cache.loads.noteQuery();
    await clock.advanceMs(100);
  }
  assert.equal(begun.limitMib, 48);
  await begun.close();
});

it('starts when the queries have ended', async () => {
  const begun = preloading(64, 0);
  begun.cache.loads.noteQuery();
  await begun.clock.advanceMs(400);
  assert.equal(begun.limitMib, undefined);
  await begun.clock.advanceMs(700);
  assert.equal(begun.limitMib, 48);
  await begun.close();
});
