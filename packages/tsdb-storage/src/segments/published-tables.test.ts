import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { NodeFileSystem, openRelationalStore, SystemClock } from '@plinth/kernel';
import { temporaryFolder } from '@plinth/kernel/testing';
import type { Segment } from '@plinth/tsdb-model/segment.js';
import type { PublishedRecord } from './published-tables.js';
import { SEGMENT_MIGRATIONS } from './segment-migrations.js';
import { SegmentRegistry } from './segment-registry.js';
import { SegmentsChanged } from './segments-changed.js';

const segment = (id: string, kind: Segment['kind'] = 'unique', tableId = 1): Segment => ({
  ...{ id, tableId, objectName: `tsdb/${id}`, kind, formatVersion: 1 },
  ...{ partitionStartNs: 0n, partitionWidthNs: 0n, minTime: 0n, maxTime: 0n },
  ...{ minSeries: 0n, maxSeries: 0n, minSeq: 1n, maxSeq: 1n, rowCount: 1, sizeBytes: 1 },
  ...{ checksum: 0, modifiedMs: undefined, level: 0, columnIds: new Set<number>() },
});
const record = (version: number, keepsFiles = true): PublishedRecord => ({
  ...{ tableId: 1, version, filesDigest: `${version}`, publishedMs: version, keepsFiles },
  history: '{}',
});

/** A registry with the segments a, b and the overlay o of table 1, and c of table 2. */
async function registryOf(context: TestContext): Promise<SegmentRegistry> {
  const dir = await temporaryFolder();
  const path = join(dir, 'plinth.db');
  const fileSystem = new NodeFileSystem();
  const store = await openRelationalStore({ path, clock: new SystemClock(), fileSystem });
  context.after(() => store.close());
  await store.migrate('tsdb_segments', SEGMENT_MIGRATIONS);
  const registry = new SegmentRegistry(store);
  const segments = [segment('a'), segment('b'), segment('o', 'overlay'), segment('c', 'unique', 2)];
  await registry.apply({ ...NOTHING, addSegments: segments });
  return registry;
}
const NOTHING = { addSegments: [], removeSegments: [], addSeriesFiles: [], removeSeriesFiles: [] };
const remove = (registry: SegmentRegistry, ...ids: string[]): Promise<void> =>
  registry.apply({ ...NOTHING, removeSegments: ids });

it('keeps a removed segment until the version without it has expired', async (context) => {
  const registry = await registryOf(context);
  const { published } = registry;
  await published.commit(record(1), { segmentCount: 2, keepUntilMs: 100 });
  await remove(registry, 'a', 'o', 'c');
  assert.equal(await published.release('tsdb/a'), true);
  assert.equal(await published.release('tsdb/o'), false, 'overlays are not published');
  assert.equal(await published.release('tsdb/c'), false, 'the table is not published');
  assert.deepEqual(await published.expired(1e15), [], 'the newest version may list it');
  await published.commit(record(2), { segmentCount: 1, keepUntilMs: 200 });
  assert.deepEqual(await published.expired(199), []);
  assert.deepEqual(await published.expired(200), ['tsdb/a']);
  await published.forget(['tsdb/a']);
  assert.deepEqual(await published.expired(1e15), []);
});

it('does not remove a kept file that a query reads', async (context) => {
  const registry = await registryOf(context);
  const { published } = registry;
  await published.commit(record(1), { segmentCount: 2, keepUntilMs: 1 });
  await remove(registry, 'a');
  await published.commit(record(2), { segmentCount: 1, keepUntilMs: 2 });
  assert.deepEqual(await published.expired(1e15), []);
  await published.release('tsdb/a');
  assert.deepEqual(await published.expired(1e15), ['tsdb/a']);
});

it('rejects a version if the table has other segments', async (context) => {
  const registry = await registryOf(context);
  const { published } = registry;
  const commit = published.commit(record(1), { segmentCount: 3, keepUntilMs: 1 });
  await assert.rejects(commit, SegmentsChanged);
  assert.equal(await published.find(1), undefined);
});

it('keeps no files with keep_ms 0, and none of a withdrawn table', async (context) => {
  const registry = await registryOf(context);
  const { published } = registry;
  await published.commit(record(1, false), { segmentCount: 2, keepUntilMs: 1 });
  await remove(registry, 'a');
  assert.equal(await published.release('tsdb/a'), false);
  await published.commit(record(2), { segmentCount: 1, keepUntilMs: 1 });
  await published.withdraw(record(2), 1);
  await remove(registry, 'b');
  assert.equal(await published.release('tsdb/b'), false);
  const found = await published.find(1);
  assert.deepEqual([found?.version, found?.history], [2, ''], 'the version remains reserved');
});
