// Source: docs/adr/0082-file-commits.md. The process survives failed calls, without duplicate rows
// or leaked files.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CallFaults, ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import type { DuckDbCall } from '@plinth/tsdb-storage/duckdb/instance/duckdb-watch.js';
import { flushNode } from '#src/testing/flush-node.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, writeLines } from '#src/testing/write-and-query.js';

const KINDS: readonly (DuckDbCall | string)[] = [
  'duckdb.write',
  'duckdb.query',
  'duckdb.copy',
  'duckdb.append',
  'duckdb.flush',
  'object.get',
  'object.adopt',
  'object.delete',
  'relational.transaction',
];

async function open(context: TestContext) {
  const dataDir = await temporaryFolder();
  const faults = new CallFaults();
  const clock = new ManualClock();
  const start = () => openTestNode(dataDir, { clock, faults });
  let node = await start();
  context.after(async () => {
    faults.heal();
    await node.close();
  });
  const flush = async (): Promise<readonly string[]> => (await flushNode(node)).toSorted();
  return {
    faults,
    flush,
    write: (lines: readonly string[]) => writeLines(node, lines),
    ask: async (text: string) => (await query(node, text)).slice(1),
    restart: async () => {
      assert.equal(faults.waitingCount, 0, 'what was to fail has failed');
      await node.close();
      node = await start();
    },
    clock,
    dropTable: () =>
      node.catalog.deletions.deleteTable({
        database: 'd',
        table: 'm',
        hardDelete: { kind: 'now' },
      }),
    remove: (timeNs: bigint) =>
      node.engine.deleteRows({
        database: 'd',
        tables: ['m'],
        minTimeNs: timeNs,
        maxTimeNs: timeNs,
        anyOf: [[]],
      }),
    filesOnDisk: async () => {
      const found = await readdir(join(dataDir, 'objects', 'tsdb'), { recursive: true });
      return found.filter((name) => name.endsWith('.parquet')).length;
    },
  };
}

it('counts a row once after a flush failed behind its commit and was retried', async (context) => {
  const { faults, write, flush, ask, restart } = await open(context);
  await write(['m,t=a v=1i 1']);
  await flush();
  await write(['m,t=a v=2i 1']);
  faults.fail({ kind: 'duckdb.copy', at: 2, count: Number.POSITIVE_INFINITY });
  await flush(); // an unmerged overlay: its points are known as repeated
  await write(['m,t=a v=7i 2']);
  faults.heal();
  for (let at = 1; at <= 12; at++) {
    // One of these is the last step of a flush, whichever statements precede it.
    faults.fail({ kind: 'duckdb.write', at, count: Number.POSITIVE_INFINITY });
    await flush().catch(() => undefined);
    faults.heal();
  }
  await flush();
  await restart();
  assert.deepEqual(await ask('SELECT count(v), sum(v) FROM m'), ['2 | 9']);
});

it('counts a row once after a commit was stored but reported as failed', async (context) => {
  const { faults, write, flush, ask, restart } = await open(context);
  await write(['m,t=a v=1i 1']);
  faults.fail({ kind: 'relational.transaction', effect: 'done' });
  const files = await flush();
  assert.equal(files.length, 2); // a segment and the tags of its series
  await write(['m,t=a v=2i 2']);
  assert.equal((await flush()).length, 3);
  await restart();
  assert.deepEqual(await ask('SELECT count(v), sum(v) FROM m'), ['2 | 3']);
});

for (const effect of ['done', 'none'] as const) {
  it(`counts a row once after a commit with an unknown outcome (${effect})`, async (context) => {
    const { faults, write, flush, ask, restart, filesOnDisk } = await open(context);
    await write(['m,t=a v=1i 1']);
    faults.fail({ kind: 'relational.transaction', effect });
    faults.fail({ kind: 'relational.read', count: 3 });
    // its files stay until the outcome is known
    for (let i = 0; i < 3; i++) await assert.rejects(flush());
    assert.equal(await filesOnDisk(), 2);
    await flush();
    assert.equal(await filesOnDisk(), 2);
    assert.deepEqual(await ask('SELECT count(v), sum(v) FROM m'), ['1 | 1']);
    await restart();
    assert.deepEqual(await ask('SELECT count(v), sum(v) FROM m'), ['1 | 1']);
    assert.equal(await filesOnDisk(), 2);
  });
}

it('merges again after a merge with an unknown outcome', async (context) => {
  const { faults, write, flush, ask, restart, filesOnDisk } = await open(context);
  for (let i = 1; i <= 16; i++) {
    await write([`m,t=a v=${i}i ${i}`]);
    if (i === 8) {
      // The flush commits first.
      faults.fail({ kind: 'relational.transaction', at: 2, effect: 'done' });
      faults.fail({ kind: 'relational.read' });
    }
    await flush();
  }
  assert.equal((await flush()).length, 3); // two merges of eight, and the tags of the series
  await until(async () => (await filesOnDisk()) === 3);
  await restart();
  assert.deepEqual(await ask('SELECT count(v), sum(v) FROM m'), ['16 | 136']);
});

it('applies a deletion that was stored but reported as failed, and no other', async (context) => {
  const { faults, write, ask, remove, restart } = await open(context);
  await write(['m,t=a v=1i 1', 'm,t=a v=2i 2', 'm,t=a v=3i 3']);
  faults.fail({ kind: 'relational.transaction', effect: 'done' });
  await remove(1n);
  faults.fail({ kind: 'relational.transaction' });
  await assert.rejects(remove(2n), { kind: 'relational.transaction' });
  assert.deepEqual(await ask('SELECT v FROM m ORDER BY v'), ['2', '3']);
  await restart();
  assert.deepEqual(await ask('SELECT v FROM m ORDER BY v'), ['2', '3']);
});

for (const effect of ['done', 'none'] as const) {
  it(`deletes all rows or none after an unknown outcome (${effect})`, async (context) => {
    const { faults, write, flush, ask, remove, restart } = await open(context);
    await write(['m,t=a v=1i 1', 'm,t=b v=2i 1']);
    await flush();
    await write(['m,t=c v=3i 1']);
    faults.fail({ kind: 'relational.transaction', effect });
    faults.fail({ kind: 'relational.read', count: 2 });
    await assert.rejects(remove(1n), { kind: 'relational.transaction' });
    await write(['m,t=d v=4i 1']);
    await assert.rejects(flush(), { kind: 'relational.read' });
    await flush();
    const expected = effect === 'done' ? ['4'] : ['1', '2', '3', '4'];
    assert.deepEqual(await ask('SELECT v FROM m ORDER BY v'), expected);
    await restart();
    assert.deepEqual(await ask('SELECT v FROM m ORDER BY v'), expected);
  });
}

it('removes the files of a table whose deletion was stored but reported as failed', async (context) => {
  const { faults, write, flush, dropTable, filesOnDisk, restart, ask, clock } = await open(context);
  await write(['m,t=a v=1i 1', 'other,t=a v=1i 1']);
  await flush();
  // the first transaction is the deletion
  faults.fail({ kind: 'relational.transaction', at: 2, effect: 'done' });
  await dropTable();
  await until(async () => {
    await clock.advanceMs(1000);
    return (await filesOnDisk()) === 2;
  });
  await restart();
  assert.equal(await filesOnDisk(), 2);
  assert.deepEqual(await ask('SELECT count(v) FROM other'), ['1']);
});

for (const kind of KINDS) {
  it(`has every row once and no unregistered file after each failure of ${kind}`, async (context) => {
    const { faults, write, flush, ask, filesOnDisk, restart } = await open(context);
    let sum = 0;
    let firedCount = 0;
    for (let at = 1; at <= 24; at++) {
      // Every other point is written twice, alternately in a separate flush.
      await write([`m,t=a v=${at}i ${at}`, `m,t=s${at} v=0i ${at}`]);
      if (at % 4 === 0) await flush();
      if (at % 2 === 0) await write([`m,t=a v=${at * 2}i ${at}`]);
      sum += at % 2 === 0 ? at * 2 : at;
      const before = faults.counts.get(kind) ?? 0;
      faults.fail({ kind, at, count: 2 });
      await flush().catch(() => undefined);
      if ((faults.counts.get(kind) ?? 0) >= before + at) firedCount++;
      // Removals run in the background, so the removals of a later merge fail.
      if (kind !== 'object.delete') faults.heal();
      assert.deepEqual(
        await ask('SELECT count(v), sum(v) FROM m'),
        [`${at * 2} | ${sum}`],
        `${at}`,
      );
    }
    // The first removal must fail, whenever it runs.
    const isFired = (): boolean => firedCount > 0 || kind === 'object.delete';
    await until(async () => isFired() && (faults.counts.get(kind) ?? 0) > 0);
    faults.heal();
    const files = await flush();
    assert.ok((await filesOnDisk()) >= files.length);
    await restart();
    assert.deepEqual(await ask('SELECT count(v), sum(v) FROM m'), [`48 | ${sum}`]);
    // Files that were skipped after a failure may be merged now.
    const known = await flush();
    await until(async () => (await filesOnDisk()) === known.length);
  });
}

/** Files are removed in the background. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (await isSo()) return;
    await sleep(10);
  }
  assert.fail('it did not come to that within 5 s');
}
