import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '@plinth/kernel/testing';
import type { OutputColumn } from '@plinth/tsdb-model/columns/result.js';
import { DuckDbHost, maxReadAhead } from './duckdb-host.js';
import type { DuckDbSettings } from './instance/duckdb-settings.js';
import type { Statements } from './statement-chunks.js';

const settingsIn = (folder: string): DuckDbSettings => ({
  dataDir: folder,
  spillDir: join(folder, 'spill'),
  memoryLimitBytes: 64 * 1048576,
  threads: 2,
  idleConnections: 2,
  register: async () => {},
});

describe('DuckDB with little memory', () => {
  let folder: string;
  let duckDb: DuckDbHost;
  before(async () => {
    folder = await temporaryFolder();
    duckDb = new DuckDbHost(settingsIn(folder));
  });
  after(() => duckDb.close());

  it('sorts more than its memory can hold', async () => {
    // 8,000,000 rows of 16 bytes and their keys.
    const text = `SELECT max(place) FROM (SELECT row_number() OVER (ORDER BY hash(n)) AS place, n
      FROM range(8000000) t(n))`;
    assert.deepEqual(await duckDb.rows(text), [[8_000_000n]]);
  });

  it('has a background thread that releases unused memory', async () => {
    const text = "SELECT value FROM duckdb_settings() WHERE name = 'allocator_background_threads'";
    assert.deepEqual(await duckDb.rows(text), [['true']]);
  });

  it('writes a file with any number of threads', async (context) => {
    for (const threads of [1, 2]) {
      const own = new DuckDbHost({ ...settingsIn(folder), threads });
      context.after(() => own.close());
      const path = join(folder, `numbers-${threads}.parquet`);
      await own.copy(`COPY (SELECT n FROM range(50000) t(n)) TO '${path}' (FORMAT parquet)`);
      const sum = `SELECT sum(n)::BIGINT FROM read_parquet('${path}')`;
      assert.deepEqual(await own.rows(sum), [[1_249_975_000n]]);
      const greedy = `COPY (SELECT list(n) FROM range(100000000) t(n)) TO '${path}'`;
      await assert.rejects(own.copy(greedy), /Out of Memory Error/);
      await assert.rejects(own.copy('COPY nothing TO nowhere'), /nothing/);
    }
  });

  it('fails only a query that can be neither held in memory nor spilled', async () => {
    const greedy = 'SELECT len(list(n)) FROM range(100000000) t(n)';
    const [failed, ...others] = await Promise.allSettled([
      duckDb.rows(greedy),
      duckDb.rows('SELECT sum(n)::BIGINT FROM range(1000) t(n)'),
      duckDb.rows('SELECT 1::BIGINT'),
    ]);
    assert.equal(failed?.status, 'rejected');
    assert.match(String(failed.reason), /Out of Memory Error/);
    assert.deepEqual(
      others.map((response) => response.status === 'fulfilled' && response.value),
      [[[499_500n]], [[1n]]],
    );
    assert.deepEqual(await duckDb.rows('SELECT 2::BIGINT'), [[2n]]);
  });

  it('reports an evaluation error after the first rows, where the binding reports the end', async () => {
    const columns: OutputColumn[] = [
      { name: 'n', type: { kind: 'utf8' }, tableColumnKind: undefined },
    ];
    const failing = (at: number): string =>
      `SELECT CASE WHEN n = ${at} THEN error('no') ELSE n::VARCHAR END FROM range(1000000) t(n)`;
    const count = async (text: string | Statements): Promise<number> => {
      let rowCount = 0;
      const signal = new AbortController().signal;
      for await (const chunk of duckDb.stream({ text, columns, signal, isMaterialized: false }))
        rowCount += chunk.rowCount;
      return rowCount;
    };
    assert.equal(await count(failing(-1)), 1_000_000);
    await assert.rejects(count(failing(600_000)), /^Error: Invalid Input Error: no$/);
    const statements = function* (): Statements {
      yield { text: failing(-1) };
      yield { text: failing(600_000) };
    };
    await assert.rejects(count(statements()), /^Error: Invalid Input Error: no$/);
  });

  it('ends statements that are canceled while they wait for a thread', {
    timeout: 60_000,
  }, async () => {
    // Each statement would run far longer than the test. Most of them have not started when they
    // are canceled.
    const endless =
      'SELECT count(*) FROM range(10000000000) a, range(10000000000) b WHERE a.range + b.range < 0';
    const controllers = Array.from({ length: 20 }, () => new AbortController());
    const runs = controllers.map(async ({ signal }, index) => {
      if (index % 2 === 0) {
        await duckDb.run(endless, { signal });
        return;
      }
      for await (const _ of duckDb.stream({
        text: endless,
        columns: [],
        signal,
        isMaterialized: index % 4 === 1,
      }));
    });
    const ends = Promise.allSettled(runs);
    // At this time all connections are in use, but the pool has started only a few statements.
    await setImmediate();
    await setImmediate();
    for (const controller of controllers) controller.abort();
    assert.ok((await ends).every(({ status }) => status === 'rejected'));
    assert.deepEqual(await duckDb.rows('SELECT 3::BIGINT'), [[3n]]);
  });

  it('holds little of a long result that is read without pauses', {
    timeout: 60_000,
  }, async () => {
    // The columns have 640 MB, and none of them is released explicitly.
    const names = Array.from({ length: 20 }, (_, i) => `c${i}`);
    const chunks = duckDb.stream({
      text: `SELECT ${names.map((name) => `n AS ${name}`)} FROM range(4000000) t(n)`,
      columns: names.map((name) => ({
        ...{ name, tableColumnKind: undefined },
        type: { kind: 'int', bits: 64, signed: true },
      })),
      signal: new AbortController().signal,
      isMaterialized: false,
    });
    const beforeBytes = process.memoryUsage.rss();
    let mostBytes = 0;
    let rowCount = 0;
    for await (const chunk of chunks) {
      rowCount += chunk.rowCount;
      mostBytes = Math.max(mostBytes, process.memoryUsage.rss() - beforeBytes);
      await setImmediate();
    }
    assert.equal(rowCount, 4_000_000);
    assert.ok(mostBytes < 700 * 1048576, `${mostBytes} bytes more`);
  });

  it('buffers short results completely before their first row is returned, and only a bounded part of longer ones', async () => {
    const columns: OutputColumn[] = [
      { name: 'n', type: { kind: 'int', bits: 64, signed: true }, tableColumnKind: undefined },
    ];
    const made: number[] = [];
    let turnCount = 0;
    const rowCounts = [9000, 30_000];
    function* statements(): Statements {
      for (const [index, rowCount] of rowCounts.entries()) {
        yield {
          text: `SELECT range + ${index * 100_000} AS n FROM range(${rowCount}) ORDER BY 1`,
          mayBuffer: (count) => count <= 10_000,
          acquireSlot: async () => {
            turnCount++;
            made.push(0);
            return () => made.push(-1);
          },
          onChunk: (chunk) => made.push(chunk.rowCount),
        };
      }
    }
    const rows: bigint[] = [];
    const { signal } = new AbortController();
    const text = statements();
    for await (const chunk of duckDb.stream({ text, columns, signal, isMaterialized: false })) {
      const values = chunk.columns[0]?.values as BigInt64Array;
      if (rows.length === 0)
        assert.deepEqual(made.slice(0, 7), [0, 2048, 2048, 2048, 2048, 808, -1]);
      rows.push(...values);
    }
    const expected = rowCounts.flatMap((rowCount, index) =>
      Array.from({ length: rowCount }, (_, n) => BigInt(n + index * 100_000)),
    );
    assert.deepEqual(rows, expected);
    assert.equal(turnCount, 2);
    // The second statement buffers until the chunk that exceeds the limit.
    const second = made.slice(made.lastIndexOf(0));
    assert.equal(second.indexOf(-1), 6);
  });

  it('cancels a statement that waits for its slot', { timeout: 60_000 }, async () => {
    const controller = new AbortController();
    function* statements(): Statements {
      yield {
        text: 'SELECT 1 AS n',
        acquireSlot: ({ signal }) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(new Error('given up')), { once: true });
            setTimeout(() => controller.abort(), 10);
          }),
      };
    }
    const { signal } = controller;
    const chunks = duckDb.stream({
      text: statements(),
      columns: [],
      signal,
      isMaterialized: false,
    });
    await assert.rejects(chunks.next(), /given up/);
  });

  it('explains a query before and after optimization', async () => {
    const rows = await duckDb.rows('EXPLAIN SELECT 1');
    assert.deepEqual(
      rows.map(([type]) => type),
      ['logical_plan', 'logical_opt', 'physical_plan'],
    );
  });
});

describe('a statement that runs out of memory', () => {
  const noMemory = new Error('Out of Memory Error: could not allocate block of size 256.0 KiB');
  const columns: OutputColumn[] = [
    { name: 'n', type: { kind: 'int', bits: 64, signed: true }, tableColumnKind: undefined },
  ];
  const { signal } = new AbortController();

  /**
   * Opens DuckDB with full memory. It stays full until the file being written is released, or
   * permanently.
   */
  async function open(context: TestContext, isFreed: boolean) {
    const folder = await temporaryFolder();
    const told = new EventEmitter();
    const isReleased = once(told, 'released');
    let isFull = true;
    const duckDb = new DuckDbHost({
      ...settingsIn(folder),
      watch: {
        around: async (call, run) => {
          if (call === 'duckdb.query' && isFull) throw noMemory;
          if (call === 'duckdb.copy') await isReleased;
          return await run();
        },
        before: () => undefined,
      },
    });
    context.after(() => duckDb.close());
    const read = async (): Promise<unknown> => {
      const stream = duckDb.stream({
        text: 'SELECT 7::BIGINT',
        columns,
        signal,
        isMaterialized: true,
      });
      let value: unknown;
      for await (const { columns: response } of stream) value = response[0]?.values[0];
      return value;
    };
    const copying = duckDb.copy(`COPY (SELECT 1) TO '${join(folder, 'one.parquet')}'`);
    const release = async (): Promise<void> => {
      isFull = !isFreed;
      told.emit('released');
      await copying;
    };
    return { read, release };
  }

  it('is retried when a file that used the memory is written', async (context) => {
    const { read, release } = await open(context, true);
    const rows = read();
    rows.catch(() => undefined); // the test awaits it below
    await sleep(50);
    await release();
    assert.equal(await rows, 7n);
  });

  it('fails when it runs out of memory again, and immediately if no file is being written', async (context) => {
    const { read, release } = await open(context, false);
    const rows = read();
    rows.catch(() => undefined); // the test awaits it below
    await sleep(50);
    await release();
    await assert.rejects(rows, noMemory);
    await assert.rejects(read(), noMemory);
  });
});

describe('chunks read ahead', () => {
  const check = (columnCount: number, count: number, kind: 'float' | 'utf8' = 'float') => {
    const type = kind === 'float' ? ({ kind, bits: 64 } as const) : ({ kind } as const);
    assert.equal(maxReadAhead(new Array(columnCount).fill({ type })), count);
  };

  it('are fewer for wide rows, so that one query holds at most about 32 MB', () => {
    check(1, 64);
    check(32, 64);
    check(64, 32);
    check(300, 6);
    check(5_000, 2);
    check(1, 2, 'utf8');
  });
});
