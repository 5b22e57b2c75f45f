import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { caseCount } from '@plinth/kernel/testing';
import { MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { Segment } from '@plinth/tsdb-model/segment.js';
import fc from 'fast-check';
import { chooseMerge, type Merge } from '../compaction/choose-merge.js';
import { mergeSegments } from '../compaction/merge-segments.js';
import { flushTable } from '../flush/flush-table.js';
import {
  batchOf,
  DAY,
  type Deletion,
  Model,
  type Row,
  readAll,
  tombstoneOf,
  withStorage,
} from '../testing/table-model.js';
import { applyPostCommitUpdate } from './post-commit-update.js';

type Step =
  | { readonly kind: 'write'; readonly rows: readonly Row[] }
  | {
      readonly kind: 'flush' | 'compact';
      /** Size limit for a merge of overlays. */
      readonly maxBytes: number;
      /** Writes that arrive during the step. */
      readonly meanwhile: readonly (readonly Row[])[];
    }
  | { readonly kind: 'delete'; readonly deletion: Deletion }
  | { readonly kind: 'check' };

const HOSTS = ['h1', "h'2", 'h\u0000'] as const;
// Few distinct timestamps, so that points repeat. Some are on another day and before 1970.
const timeArb = fc.oneof(fc.bigInt(0n, 6n), fc.constantFrom(-1n, -DAY, DAY - 1n, DAY, 40n * DAY));
const rowArb: fc.Arbitrary<Row> = fc
  .record({
    host: fc.constantFrom(...HOSTS),
    time: timeArb,
    a: fc.option(fc.bigInt(-3n, 3n), { nil: undefined }),
    b: fc.option(fc.constantFrom('', 'x', 'ä long text beyond twelve bytes'), { nil: undefined }),
  })
  .filter((row) => row.a !== undefined || row.b !== undefined);
const rowsArb = fc.array(rowArb, { minLength: 1, maxLength: 8 });
const meanwhileArb = fc.array(rowsArb, { maxLength: 6 });
const deletionArb: fc.Arbitrary<Deletion> = fc
  .record({
    host: fc.constantFrom(undefined, ...HOSTS),
    times: fc.tuple(timeArb, timeArb),
    fields: fc.constantFrom<Deletion['fields']>(undefined, ['a'], ['b'], ['a', 'b']),
  })
  .map(({ times: [x, y], ...rest }) => ({
    ...rest,
    minTime: x < y ? x : y,
    maxTime: x < y ? y : x,
  }));
const stepArb: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: rowsArb.map((rows) => ({ kind: 'write' as const, rows })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom('flush' as const, 'compact' as const),
        fc.constantFrom(0, 1500, 3000, 1_000_000),
        meanwhileArb,
      )
      .map(([kind, maxBytes, meanwhile]) => ({ kind, maxBytes, meanwhile })),
  },
  {
    weight: 2,
    arbitrary: deletionArb.map((deletion) => ({ kind: 'delete' as const, deletion })),
  },
  { weight: 3, arbitrary: fc.constant({ kind: 'check' as const }) },
);

describe('a table', () => {
  it('contains what was not deleted after any order of writes, deletions, flushes and compactions', async () => {
    await withStorage(async ({ duckDb, files, openStore }) => {
      await fc.assert(
        fc.asyncProperty(fc.array(stepArb, { minLength: 1, maxLength: 25 }), async (steps) => {
          const failures: unknown[] = [];
          const store = openStore((e) => failures.push(e));
          const model = new Model();
          let generation = nextGeneration;
          let seq = 1n;
          const write = (rows: readonly Row[]): void => {
            store.append(generation, batchOf(rows, store), seq++);
            model.write(rows);
          };
          const during = async (work: Promise<unknown>, batches: readonly (readonly Row[])[]) => {
            const writing = (async () => {
              for (const rows of batches) {
                await setImmediate();
                write(rows);
                await store.repeated.checkLateRows();
              }
            })();
            await Promise.all([work, writing]);
          };
          for (const step of steps) {
            if (step.kind === 'write') {
              write(step.rows);
            } else if (step.kind === 'delete') {
              store.tombstones.confirm(tombstoneOf(step.deletion, seq++));
              model.delete(step.deletion);
            } else if (step.kind === 'flush') {
              const table = store.generation(generation);
              generation++;
              if (table === undefined) continue;
              const flushing = flushTable(store, table, duckDb, files);
              await during(flushing, step.meanwhile.slice(0, 3));
              const { segments } = await flushing;
              const replacing = applyPostCommitUpdate(
                store.postCommitUpdate({
                  flushed: generation - 1,
                  added: segments.map((s) => store.openVerified(s)),
                }),
              );
              await during(replacing, step.meanwhile.slice(3));
            } else if (step.kind === 'compact') {
              const segments = store.segments.map((open) => open.segment);
              // The limit is so small that some overlays must be split.
              const maxBytes = step.maxBytes;
              const isSkipped = (): boolean => false;
              const merge: Merge = chooseMerge({
                segments,
                tombstones: store.tombstones.all,
                isSkipped,
                maxBytes,
              }) ?? {
                kind: 'merge',
                inputs: segments,
              };
              if (merge.inputs.length === 0) continue;
              const added = await mergeSegments({
                store,
                merge,
                duckDb,
                files,
                visibleFromNs: MIN_TIME_NS,
              });
              const replacing = applyPostCommitUpdate(
                store.postCommitUpdate({
                  removed: merge.inputs,
                  added: added.map((s) => store.openVerified(s)),
                }),
              );
              await during(replacing, step.meanwhile);
            } else {
              assert.deepEqual(await readAll(store, duckDb), model.sorted());
            }
          }
          assert.deepEqual(await readAll(store, duckDb), model.sorted());
          assert.deepEqual(await readAll(store, duckDb, true), model.lastRows());
          nextGeneration = generation + 1;
          await store.dispose();
          assert.deepEqual(failures, []);
        }),
        { numRuns: caseCount(60), includeErrorInReport: true },
      );
    });
  });

  it('leaves deleted values out of new files', async () => {
    await withStorage(async ({ duckDb, files, openStore }) => {
      const store = openStore((error) => assert.ifError(error));
      const stored = async (segments: readonly Segment[]): Promise<string[]> => {
        const paths = segments.map(({ objectName }) => `'${files.pathOf(objectName)}'`);
        const rows = await duckDb.rows(
          `SELECT epoch_ns("time"), a, b FROM read_parquet([${paths.join()}]) ORDER BY 1`,
        );
        return rows.map((cells) => cells.join(' '));
      };
      const deleteA = (time: bigint, seq: bigint): void => {
        const deletion = { host: undefined, minTime: time, maxTime: time, fields: ['a'] } as const;
        store.tombstones.confirm(tombstoneOf(deletion, seq));
      };
      const generation = nextGeneration++;
      const rows = [1n, 2n, 3n, 4n].map(
        (time): Row => ({ host: 'h1', time, a: time * 10n, b: time === 4n ? undefined : 'x' }),
      );
      store.append(generation, batchOf(rows, store), 1n);
      deleteA(2n, 2n);
      const table = store.generation(generation);
      assert.ok(table);
      const { segments } = await flushTable(store, table, duckDb, files);
      assert.deepEqual(await stored(segments), ['1 10 x', '2  x', '3 30 x', '4 40 ']);
      const added = segments.map((s) => store.openVerified(s));
      await applyPostCommitUpdate(store.postCommitUpdate({ flushed: generation, added }));
      const choose = () =>
        chooseMerge({ segments, tombstones: store.tombstones.all, isSkipped: () => false });
      assert.equal(choose(), undefined, 'the deletion is carried out in the file');
      deleteA(3n, 3n);
      deleteA(4n, 4n);
      const merge = choose();
      assert.ok(merge);
      const merging = { store, merge, duckDb, files, visibleFromNs: MIN_TIME_NS };
      assert.deepEqual(await stored(await mergeSegments(merging)), ['1 10 x', '2  x', '3  x']);
      await store.dispose();
    });
  });

  it('is stored by series and time with the tags of each row', async () => {
    await withStorage(async ({ duckDb, files, openStore }) => {
      const failures: unknown[] = [];
      const store = openStore((e) => failures.push(e));
      const flush = async (rows: readonly Row[]): Promise<void> => {
        const generation = nextGeneration++;
        for (let from = 0; from < rows.length; from += 10_000)
          store.append(generation, batchOf(rows.slice(from, from + 10_000), store), 1n);
        const table = store.generation(generation);
        assert.ok(table);
        const { segments } = await flushTable(store, table, duckDb, files);
        assert.equal(segments.length, 1);
        const path = files.pathOf(segments[0]?.objectName ?? '');
        const read = `read_parquet('${path}', file_row_number = true)`;
        const stored = await duckDb.rows(
          `SELECT _series, host, epoch_ns("time"), a FROM ${read} ORDER BY file_row_number`,
        );
        const seriesOf = (row: Row): bigint =>
          store.series.index.idOf(store.series.index.resolve(['host'], [row.host]));
        const wanted = rows
          .map((row) => ({ series: seriesOf(row), row }))
          .sort((x, y) => Number(x.series - y.series) || Number(x.row.time - y.row.time));
        assert.deepEqual(
          stored.map((cells) => cells.join(' ')),
          wanted.map(({ series, row }) => `${series} ${row.host} ${row.time} ${row.a}`),
        );
        await applyPostCommitUpdate(
          store.postCommitUpdate({
            flushed: generation,
            added: segments.map((s) => store.openVerified(s)),
          }),
        );
      };
      // First several row groups in which the rows of a series are far apart, then fewer rows than
      // series.
      const rowOf = (i: number, series: number): Row => {
        return {
          host: `h${(i * 7919) % series}`,
          time: BigInt(i),
          a: BigInt(i % 977),
          b: undefined,
        };
      };
      await flush(Array.from({ length: 130_000 }, (_, i) => rowOf(i, 20_000)));
      await flush(Array.from({ length: 15_000 }, (_, i) => rowOf(130_000 + i, 12_000)));
      await store.dispose();
      assert.deepEqual(failures, []);
    });
  });

  it('finds points written twice while a write starts the next generation', async () => {
    await withStorage(async ({ duckDb, openStore }) => {
      const failures: unknown[] = [];
      const store = openStore((e) => failures.push(e));
      const generation = nextGeneration;
      const row = (name: string, a: bigint): Row => ({ host: name, time: 5n, a, b: undefined });
      store.append(generation, batchOf([row('h1', 1n)], store), 1n);
      store.append(generation, batchOf([row('h1', 2n)], store), 2n);
      const looking = readAll(store, duckDb);
      // Late rows are moved to DuckDB before main rows: this write comes between the two.
      await setImmediate();
      await duckDb.withWriter(async () => {
        await setImmediate();
        store.append(generation + 1, batchOf([row('h2', 3n)], store), 3n);
      });
      const seen = await looking;
      assert.ok(seen.includes('h1 5 2 null'), seen.join());
      assert.deepEqual(await readAll(store, duckDb), ['h1 5 2 null', 'h2 5 3 null']);
      nextGeneration += 2;
      await store.dispose();
      assert.deepEqual(failures, []);
    });
  });
});

/** DuckDB tables are named by generation, so runs must not share one. */
let nextGeneration = 0;
