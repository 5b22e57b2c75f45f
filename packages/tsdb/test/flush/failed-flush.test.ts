// A full disk can fail any step of a flush; files of a failed attempt must not occupy the remaining
// space.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { readdir, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { CallFaults, ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import { flushEngine, flushNode } from '#src/testing/flush-node.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { renderResult } from '#src/testing/render-result.js';
import { query, writeLines } from '#src/testing/write-and-query.js';

/** A node with a stopped clock, so that only flushes start background work. */
async function open(context: TestContext) {
  const dataDir = await temporaryFolder();
  const clock = new ManualClock();
  const faults = new CallFaults();
  const node = await openTestNode(dataDir, { clock, faults });
  context.after(() => node.close());
  return {
    faults,
    write: async (line: string): Promise<void> => {
      const { refused } = await node.engine.write({
        database: 'd',
        body: Buffer.from(line),
        access: FULL_ACCESS,
        encoding: 'identity',
        maxSizeBytes: 1_000_000,
        precision: 'nanosecond',
        acceptPartial: false,
        noSync: false,
        receivedNs: clock.nowNs(),
      });
      assert.deepEqual(refused, []);
    },
    /** Flushes and merges. Returns the names of all data files. */
    flush: async (): Promise<readonly string[]> => (await flushNode(node)).toSorted(),
    /** Data files, and files that DuckDB has written for the store. */
    async onDisk(): Promise<readonly string[]> {
      const objects = await readdir(join(dataDir, 'objects', 'tsdb'), {
        recursive: true,
        withFileTypes: true,
      }).catch(() => []);
      const temporary = await readdir(join(dataDir, 'tsdb-temp'));
      return [
        ...objects
          .filter((entry) => entry.isFile())
          .map(({ name, path }) => join('tsdb', path.split('/').at(-1) ?? '', name)),
        ...temporary.filter((name) => name.endsWith('.parquet')),
      ].sort();
    },
    async values(): Promise<readonly string[]> {
      const { signal } = new AbortController();
      const text = 'SELECT v FROM m ORDER BY v';
      const query = {
        database: 'd',
        access: FULL_ACCESS,
        language: 'sql',
        text,
        params: new Map(),
        signal,
      } as const;
      return (await renderResult(await node.engine.query(query))).slice(1);
    },
  };
}

it('removes the files of a flush that the store could not adopt', async (context) => {
  const { faults, write, flush, onDisk, values } = await open(context);
  await write('m,tag=a v=1 1');
  for (const at of [1, 1, 2]) {
    faults.fail({ kind: 'object.adopt', at });
    await assert.rejects(flush(), { kind: 'object.adopt' });
    assert.deepEqual(await onDisk(), []);
  }
  const files = await flush();
  assert.equal(files.length, 2); // a segment and the tags of its series
  assert.deepEqual(await onDisk(), files);
  assert.deepEqual(await values(), ['1.0']);
});

it('removes the files of a flush that could not be registered', async (context) => {
  const { faults, write, flush, onDisk, values } = await open(context);
  await write('m,tag=a v=1 1');
  faults.fail({ kind: 'relational.transaction' });
  await assert.rejects(flush(), { kind: 'relational.transaction' });
  assert.deepEqual(await onDisk(), []);
  const files = await flush();
  assert.equal(files.length, 2); // a segment and the tags of its series
  assert.deepEqual(await onDisk(), files);
  assert.deepEqual(await values(), ['1.0']);
});

/** Truncates the `at`-th file that DuckDB writes, without an error. */
class CutFile extends CallFaults {
  readonly #folder: string;
  readonly #at: number;
  #copyCount = 0;

  constructor(folder: string, at: number) {
    super();
    this.#folder = folder;
    this.#at = at;
  }

  override async around<T>(kind: string, call: () => Promise<T>): Promise<T> {
    const result = await super.around(kind, call);
    if (kind !== 'duckdb.copy' || ++this.#copyCount !== this.#at) return result;
    for (const name of await readdir(this.#folder)) await truncate(join(this.#folder, name), 100);
    return result;
  }
}

for (const [at, what] of ['segment', 'file of series'].entries()) {
  it(`does not register a truncated ${what}, and writes it again`, async (context) => {
    const dataDir = await temporaryFolder();
    const faults = new CutFile(join(dataDir, 'tsdb-temp'), at + 1);
    const node = await openTestNode(dataDir, { clock: new ManualClock(), faults });
    context.after(() => node.close());
    await writeLines(node, ['m,tag=a v=1 1']);
    await assert.rejects(flushEngine(node.engine), /parquet/i);
    assert.equal((await flushNode(node)).length, 2);
    assert.deepEqual((await query(node, 'SELECT tag, v FROM m')).slice(1), ['a | 1.0']);
  });
}

it('fails health checks after flushes have failed for minutes', async (context) => {
  const dataDir = await temporaryFolder();
  const clock = new ManualClock();
  const faults = new CallFaults();
  const node = await openTestNode(dataDir, { clock, faults });
  context.after(() => node.close());
  const { engine } = node;
  /**
   * Advances the clock until `isSo` returns true: background flushes are attempted at each due
   * tick, in real time.
   */
  const until = async (isSo: () => boolean): Promise<void> => {
    for (let i = 0; i < 2000 && !isSo(); i++) {
      await clock.advanceMs(1000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.ok(isSo());
  };
  await writeLines(node, ['m,tag=a v=1 1']);
  const outOfMemory = new Error('Out of Memory Error: failed to allocate data');
  faults.fail({ kind: 'duckdb.copy', count: Number.POSITIVE_INFINITY, error: outOfMemory });
  await clock.advanceMs(11 * 60_000); // a flush is due when its rows are ten minutes old
  await until(() => (faults.counts.get('duckdb.copy') ?? 0) > 0);
  assert.equal(engine.flushObstacle, undefined);
  await until(() => engine.flushObstacle !== undefined);
  assert.match(engine.flushObstacle ?? '', /for 3 minutes; .* DuckDB is out of memory: restart/);
  faults.heal();
  await until(() => engine.flushObstacle === undefined);
});

it('removes the files of a merge that could not be registered', async (context) => {
  const { faults, write, flush, onDisk, values } = await open(context);
  const written = ['1', '2', '3', '4', '5', '6', '7', '8'];
  for (const value of written) {
    // The eighth segment of a day is merged with the others as soon as it is registered.
    if (value === '8') faults.fail({ kind: 'relational.transaction', at: 2 });
    await write(`m,tag=a v=${value} ${value}`);
    await flush();
  }
  const files = await flush();
  assert.equal(files.length, 9); // the flushed segments, and the tags of the series
  assert.deepEqual(await onDisk(), files);
  assert.deepEqual(
    await values(),
    written.map((value) => `${value}.0`),
  );
});

it('leaves no DuckDB threads behind when the log cannot be closed', {
  skip: process.platform !== 'linux',
}, async () => {
  const threadCount = (): number => readdirSync('/proc/self/task').length;
  const dataDir = await temporaryFolder();
  const counts: number[] = [];
  for (let i = 0; i < 3; i++) {
    const faults = new CallFaults();
    const flags = { 'tsdb-query-threads': '8' };
    const node = await openTestNode(dataDir, { clock: new ManualClock(), faults, flags });
    await writeLines(node, [`m,tag=a v=${i} ${i}`]);
    await flushEngine(node.engine);
    faults.fail({ kind: 'log.truncate', count: Number.POSITIVE_INFINITY });
    await assert.rejects(node.close(), { kind: 'log.truncate' });
    counts.push(threadCount());
  }
  assert.ok((counts[2] ?? 0) - (counts[0] ?? 0) < 7, `${counts} threads`);
});
