import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { RequestedPasses } from './requested-passes.js';

const table = (id: number) => ({ id }) as TableSchema;

it('runs one pass at a time, and shares the next one', async () => {
  const passes: number[][] = [];
  const ends: (() => void)[] = [];
  const requests = new RequestedPasses(async (tables) => {
    passes.push(tables.map(({ id }) => id));
    await new Promise<void>((resolve) => ends.push(resolve));
  });
  const first = requests.request([table(1)]);
  await nextTick();
  const later = Array.from({ length: 50 }, (_, index) => requests.request([table(index % 3)]));
  await nextTick();
  assert.deepEqual(passes, [[1]]);
  ends[0]?.();
  await first;
  await nextTick();
  assert.deepEqual(passes, [[1], [0, 1, 2]]);
  ends[1]?.();
  await Promise.all(later);
  await requests.request([]);
  assert.equal(passes.length, 2);
});

it('reports a failed pass only to its requests', async () => {
  let count = 0;
  const requests = new RequestedPasses(async () => {
    if (count++ === 0) throw new Error('the disk is full');
  });
  const first = requests.request([table(1)]);
  await assert.rejects(first, /the disk is full/);
  await requests.request([table(1)]);
  assert.equal(count, 2);
});
