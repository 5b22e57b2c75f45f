import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import { flushTable } from '../flush/flush-table.js';
import { applyPostCommitUpdate } from '../table/post-commit-update.js';
import { batchOf, DAY, Model, type Row, readAll, withStorage } from '../testing/table-model.js';
import { chooseMerge } from './choose-merge.js';
import { mergeSegments } from './merge-segments.js';

it('returns the same rows while wide overlays are split and merged by day', async () => {
  await withStorage(async ({ duckDb, files, openStore }) => {
    const failures: unknown[] = [];
    const store = openStore((e) => failures.push(e));
    const model = new Model();
    let generation = 0;
    const flush = async (rows: readonly Row[]): Promise<void> => {
      generation++;
      store.append(generation, batchOf(rows, store), BigInt(generation));
      model.write(rows);
      const table = store.generation(generation);
      assert.ok(table);
      const { segments } = await flushTable(store, table, duckDb, files);
      const added = segments.map((s) => store.openVerified(s));
      await applyPostCommitUpdate(store.postCommitUpdate({ flushed: generation, added }));
    };
    /** Runs merges until none is due. Returns the kind of each. */
    const compact = async (maxBytes: number): Promise<readonly string[]> => {
      const kinds: string[] = [];
      for (;;) {
        const segments = store.segments.map((open) => open.segment);
        const isSkipped = (): boolean => false;
        const merge = chooseMerge({ segments, tombstones: [], isSkipped, maxBytes });
        if (merge === undefined) return kinds;
        kinds.push(merge.kind);
        const written = await mergeSegments({
          store,
          merge,
          duckDb,
          files,
          visibleFromNs: MIN_TIME_NS,
        });
        const added = written.map((s) => store.openVerified(s));
        await applyPostCommitUpdate(store.postCommitUpdate({ removed: merge.inputs, added }));
        assert.deepEqual(await readAll(store, duckDb), model.sorted());
      }
    };
    const overlays = () => store.segments.filter(({ segment }) => segment.kind === 'overlay');
    // More days than a flush creates segments for, so each file spans several.
    const rowOf = (day: number, a: bigint | undefined, b?: string): Row => {
      return { host: 'h1', time: BigInt(day) * DAY + 5n, a, b };
    };
    const days = Array.from({ length: 40 }, (_, i) => i);
    await flush(days.map((day) => rowOf(day, BigInt(day), 'x')));
    await flush(days.map((day) => rowOf(day, -1n)));
    await flush(days.filter((day) => day % 2 === 0).map((day) => rowOf(day, undefined, 'y')));
    assert.ok(overlays().length < 20);
    assert.ok((await compact(0)).every((kind) => kind === 'split'));
    assert.equal(overlays().length, 60); // 40 days of points, and every other point a second time
    await compact(1_000_000);
    assert.equal(overlays().length, 0);
    assert.deepEqual(await readAll(store, duckDb), model.sorted());
    await store.dispose();
    assert.deepEqual(failures, []);
  });
});
