import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { LocalObjectStore, NodeFileSystem, SystemClock, SystemRandom } from '@plinth/kernel';
import fc from 'fast-check';
import type { Column } from '../../../model/column.js';
import type { BatchField, RowBatch } from '../../../model/row-batch.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '../../../model/scan.js';
import type { TableSchema } from '../../../model/schema.js';
import { DuckDbHost } from '../../../storage/duckdb/duckdb-host.js';
import { SegmentFiles } from '../../../storage/segments/segment-files.js';
import { registerEngineFunctions } from '../../sql/functions/index.js';
import { ColumnCache } from '../direct/column-cache.js';
import { chooseMerge, type Merge } from '../flush/choose-merge.js';
import { flushTable } from '../flush/flush-table.js';
import { mergeSegments } from '../flush/merge-segments.js';
import { publish } from './publication.js';
import { TableStore } from './table-store.js';

const HOST: Column = { id: 1, name: 'host', kind: 'tag', physicalName: 'host' };
const TIME: Column = { id: 2, name: 'time', kind: 'time', physicalName: 'time' };
const A: Column = { id: 3, name: 'a', kind: 'int64', physicalName: 'a' };
const B: Column = { id: 4, name: 'b', kind: 'utf8', physicalName: 'b' };

const SCHEMA: TableSchema = {
  id: 7,
  uuid: '0190e4f4-0000-7000-8000-000000000007',
  databaseId: 1,
  name: 't',
  columns: new Map([A, B, HOST, TIME].map((column) => [column.name, column])),
  seriesKey: ['host'],
  seriesSeed: 99n,
  version: 1,
};

interface Row {
  readonly host: string;
  readonly time: bigint;
  readonly a: bigint | undefined;
  readonly b: string | undefined;
}

type Step =
  | { readonly kind: 'write'; readonly rows: readonly Row[] }
  | {
      readonly kind: 'flush' | 'compact';
      /** For a merge of overlays. */
      readonly maxBytes: number;
      /** Writes that come while it runs. */
      readonly meanwhile: readonly (readonly Row[])[];
    }
  | { readonly kind: 'check' };

const DAY = 86_400_000_000_000n;
const rowArb: fc.Arbitrary<Row> = fc
  .record({
    host: fc.constantFrom('h1', "h'2", 'h\u0000'),
    // Few distinct times, so that points are written again; some on another day and before 1970.
    time: fc.oneof(fc.bigInt(0n, 6n), fc.constantFrom(-1n, -DAY, DAY - 1n, DAY, 40n * DAY)),
    a: fc.option(fc.bigInt(-3n, 3n), { nil: undefined }),
    b: fc.option(fc.constantFrom('', 'x', 'ä long text beyond twelve bytes'), { nil: undefined }),
  })
  .filter((row) => row.a !== undefined || row.b !== undefined);
const rowsArb = fc.array(rowArb, { minLength: 1, maxLength: 8 });
const meanwhileArb = fc.array(rowsArb, { maxLength: 6 });
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
  { weight: 3, arbitrary: fc.constant({ kind: 'check' as const }) },
);

function batchOf(rows: readonly Row[], store: TableStore): RowBatch {
  const series = Uint32Array.from(rows, (row) => store.index.resolve(['host'], [row.host]));
  const validity = (has: (row: Row) => boolean): Uint8Array | undefined => {
    if (rows.every(has)) return undefined;
    const bits = new Uint8Array((rows.length + 7) >> 3);
    rows.forEach((row, i) => {
      if (has(row)) bits[i >> 3] = (bits[i >> 3] ?? 0) | (1 << (i & 7));
    });
    return bits;
  };
  const fields: BatchField[] = [];
  if (rows.some((row) => row.a !== undefined)) {
    const values = BigInt64Array.from(rows, (row) => row.a ?? 0n);
    fields.push({
      column: A,
      data: { type: 'int64', values },
      validity: validity((r) => r.a !== undefined),
    });
  }
  if (rows.some((row) => row.b !== undefined)) {
    const texts = rows.map((row) => Buffer.from(row.b ?? ''));
    const offsets = new Uint32Array(rows.length + 1);
    texts.forEach((text, i) => {
      offsets[i + 1] = (offsets[i] ?? 0) + text.length;
    });
    fields.push({
      column: B,
      data: { type: 'utf8', offsets, bytes: Buffer.concat(texts) },
      validity: validity((r) => r.b !== undefined),
    });
  }
  return {
    rowCount: rows.length,
    series,
    times: BigInt64Array.from(rows, (row) => row.time),
    fields,
  };
}

/** What the table must hold: later writes win field by field. */
class Model {
  readonly points = new Map<string, { a: bigint | null; b: string | null }>();

  write(rows: readonly Row[]): void {
    for (const row of rows) {
      const key = `${row.host} ${row.time}`;
      const before = this.points.get(key) ?? { a: null, b: null };
      this.points.set(key, { a: row.a ?? before.a, b: row.b ?? before.b });
    }
  }

  /** Points with the greatest time of their host. */
  lastRows(): string[] {
    const last = new Map<string, bigint>();
    for (const key of this.points.keys()) {
      const [host = '', time = ''] = key.split(' ');
      const known = last.get(host);
      if (known === undefined || BigInt(time) > known) last.set(host, BigInt(time));
    }
    return this.sorted().filter((text) => {
      const [host = '', time = ''] = text.split(' ');
      return last.get(host) === BigInt(time);
    });
  }

  sorted(): string[] {
    return [...this.points].map(([key, { a, b }]) => `${key} ${a} ${b}`).sort();
  }
}

async function readAll(
  store: TableStore,
  host: DuckDbHost,
  lastRowsOnly = false,
): Promise<string[]> {
  const scan = await store.prepareScan(
    {
      table: SCHEMA,
      columns: ['host', 'time', 'a', 'b'],
      minTimeNs: MIN_TIME_NS,
      maxTimeNs: MAX_TIME_NS,
      tagConditions: [],
      lastRowsOnly,
    },
    MIN_TIME_NS,
  );
  try {
    const rows = await host.rows(`SELECT host, epoch_ns("time"), a, b FROM ${scan.text}`);
    return rows.map(([h, t, a, b]) => `${h} ${t} ${a} ${b}`).sort();
  } finally {
    scan.release();
  }
}

describe('a table', () => {
  it('holds what was written, whatever the order of writes, flushes and compactions', async () => {
    await withEngine(async ({ host, files, openStore }) => {
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
                await store.checkLateRows();
              }
            })();
            await Promise.all([work, writing]);
          };
          for (const step of steps) {
            if (step.kind === 'write') {
              write(step.rows);
            } else if (step.kind === 'flush') {
              const table = store.generation(generation);
              generation++;
              if (table === undefined) continue;
              const flushing = flushTable(store, table, host, files);
              await during(flushing, step.meanwhile.slice(0, 3));
              const { segments } = await flushing;
              const replacing = publish(
                store.publication({
                  flushed: generation - 1,
                  added: segments.map((s) => store.openVerified(s)),
                }),
              );
              await during(replacing, step.meanwhile.slice(3));
            } else if (step.kind === 'compact') {
              const segments = store.segments.map((open) => open.segment);
              // So little that some overlays have to be split.
              const maxBytes = step.maxBytes;
              const isAside = (): boolean => false;
              const merge: Merge = chooseMerge({ segments, tombstones: [], isAside, maxBytes }) ?? {
                kind: 'merge',
                inputs: segments,
              };
              if (merge.inputs.length === 0) continue;
              const added = await mergeSegments({
                store,
                merge,
                host,
                files,
                visibleFromNs: MIN_TIME_NS,
              });
              const replacing = publish(
                store.publication({
                  removed: merge.inputs,
                  added: added.map((s) => store.openVerified(s)),
                }),
              );
              await during(replacing, step.meanwhile);
            } else {
              assert.deepEqual(await readAll(store, host), model.sorted());
            }
          }
          assert.deepEqual(await readAll(store, host), model.sorted());
          assert.deepEqual(await readAll(store, host, true), model.lastRows());
          nextGeneration = generation + 1;
          await store.dispose();
          assert.deepEqual(failures, []);
        }),
        { numRuns: 60, includeErrorInReport: true },
      );
    });
  });

  it('is stored by series and time with the tags of each row, however many series and rows there are', async () => {
    await withEngine(async ({ host, files, openStore }) => {
      const failures: unknown[] = [];
      const store = openStore((e) => failures.push(e));
      const flush = async (rows: readonly Row[]): Promise<void> => {
        const generation = nextGeneration++;
        for (let from = 0; from < rows.length; from += 10_000)
          store.append(generation, batchOf(rows.slice(from, from + 10_000), store), 1n);
        const table = store.generation(generation);
        assert.ok(table);
        const { segments } = await flushTable(store, table, host, files);
        assert.equal(segments.length, 1);
        const path = files.pathOf(segments[0]?.objectName ?? '');
        const read = `read_parquet('${path}', file_row_number = true)`;
        const stored = await host.rows(
          `SELECT _series, host, epoch_ns("time"), a FROM ${read} ORDER BY file_row_number`,
        );
        const seriesOf = (row: Row): bigint =>
          store.index.idOf(store.index.resolve(['host'], [row.host]));
        const wanted = rows
          .map((row) => ({ series: seriesOf(row), row }))
          .sort((x, y) => Number(x.series - y.series) || Number(x.row.time - y.row.time));
        assert.deepEqual(
          stored.map((cells) => cells.join(' ')),
          wanted.map(({ series, row }) => `${series} ${row.host} ${row.time} ${row.a}`),
        );
        await publish(
          store.publication({
            flushed: generation,
            added: segments.map((s) => store.openVerified(s)),
          }),
        );
      };
      // Several row groups, and the rows of a series far apart; then fewer rows than series.
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

  it('finds points written twice while a write begins the next generation', async () => {
    await withEngine(async ({ host, openStore }) => {
      const failures: unknown[] = [];
      const store = openStore((e) => failures.push(e));
      const generation = nextGeneration;
      const row = (name: string, a: bigint): Row => ({ host: name, time: 5n, a, b: undefined });
      store.append(generation, batchOf([row('h1', 1n)], store), 1n);
      store.append(generation, batchOf([row('h1', 2n)], store), 2n);
      const looking = readAll(store, host);
      // Late rows go to the engine before main rows: this stands between the two.
      await setImmediate();
      await host.withWriter(async () => {
        await setImmediate();
        store.append(generation + 1, batchOf([row('h2', 3n)], store), 3n);
      });
      const seen = await looking;
      assert.ok(seen.includes('h1 5 2 null'), seen.join());
      assert.deepEqual(await readAll(store, host), ['h1 5 2 null', 'h2 5 3 null']);
      nextGeneration += 2;
      await store.dispose();
      assert.deepEqual(failures, []);
    });
  });
});

/** An engine over a folder of its own, which is gone afterwards. */
async function withEngine(
  work: (parts: {
    readonly host: DuckDbHost;
    readonly files: SegmentFiles;
    openStore(onError: (error: unknown) => void): TableStore;
  }) => Promise<void>,
): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'plinth-table-'));
  const host = new DuckDbHost({
    dataDir: dir,
    spillDir: join(dir, 'spill'),
    memoryLimitBytes: 512 * 1024 * 1024,
    threads: 2,
    idleConnections: 2,
    register: registerEngineFunctions,
  });
  const fileSystem = new NodeFileSystem();
  const random = new SystemRandom(new SystemClock());
  const objects = await LocalObjectStore.open({ fileSystem, root: join(dir, 'objects'), random });
  const files = new SegmentFiles({ host, objects, fileSystem, random, tempDir: dir });
  const cache = new ColumnCache({ limitBytes: 2 ** 20, nowMs: () => Date.now() });
  try {
    await work({
      host,
      files,
      openStore: (onError) =>
        new TableStore({
          schema: SCHEMA,
          host,
          files,
          cache,
          onDamaged: (_, e) => onError(e),
          onError,
        }),
    });
  } finally {
    await host.close();
    await rm(dir, { recursive: true });
  }
}

/** Engine tables are named by generation: runs must not share one. */
let nextGeneration = 0;
