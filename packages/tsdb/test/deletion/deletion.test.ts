// Expected behavior: tsdb-http, "Deletion life cycle".
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { OpenTsdb } from '#src/service.js';
import { flushEngine } from '#src/testing/flush-node.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { renderResult } from '#src/testing/render-result.js';

const START_MS = Date.UTC(2026, 0, 1);
let clock: ManualClock;
let dataDir = '';
let node: OpenTsdb;
beforeEach(async () => {
  clock = new ManualClock(START_MS);
  dataDir = await temporaryFolder();
  node = await openTestNode(dataDir, { clock });
});
afterEach(() => node.close());

/** Restarts with all rows in files. */
async function restart(): Promise<void> {
  await flushEngine(node.engine);
  await node.close();
  node = await openTestNode(dataDir, { clock });
}

async function write(lines: string, database = 'db'): Promise<void> {
  const outcome = await node.engine.write({
    database,
    body: Buffer.from(lines),
    access: FULL_ACCESS,
    encoding: 'identity',
    maxSizeBytes: 1_000_000,
    precision: 'nanosecond',
    acceptPartial: false,
    noSync: false,
    receivedNs: clock.nowNs(),
  });
  assert.deepEqual(outcome.refused, []);
}

async function seen(text: string, database = 'db'): Promise<string[]> {
  const { signal } = new AbortController();
  const result = await node.engine.query({
    database,
    access: FULL_ACCESS,
    language: 'sql',
    text,
    params: new Map(),
    signal,
  });
  return (await renderResult(result)).slice(1).map((row) => row.replaceAll(' | ', ','));
}

async function segmentFileCount(): Promise<number> {
  const names = await readdir(join(dataDir, 'objects'), { recursive: true });
  return names.filter((name) => name.endsWith('.parquet')).length;
}

async function isInLog(text: string): Promise<boolean> {
  const folder = join(dataDir, 'tsdb-log');
  const files = await Promise.all(
    (await readdir(folder)).map((name) => readFile(join(folder, name)).catch(() => '')),
  );
  return files.some((bytes) => bytes.includes(text));
}

/** Waits for background work that does not depend on the clock. */
async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 2000; turn++) {
    if (await isDone()) return;
    await clock.advanceMs(1000);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assert.fail('nothing happened');
}

const absent = { kind: 'absent' } as const;

describe('a deleted database', () => {
  it('D-03 is renamed with a timestamp in seconds, and its name is free immediately', async () => {
    await write('m,t=a v=1i 1');
    await node.catalog.deletions.deleteDatabase('db', absent);
    assert.equal(node.catalog.database('db'), undefined);
    assert.deepEqual(
      node.catalog.deleted.databases().map(({ schema }) => schema.name),
      ['db-20260101T000000'],
    );
    await write('m,t=b w=2i 2');
    assert.deepEqual(await seen('SELECT * FROM m'), ['b,1970-01-01T00:00:00.000000002,2']);
    await node.catalog.deletions.deleteDatabase('db', absent);
    const names = node.catalog.deleted.databases().map(({ schema }) => schema.name);
    assert.match(names[1] ?? '', /^db-20260101T000000-\d+$/);
    await restart();
    assert.equal(node.catalog.database('db'), undefined);
    assert.deepEqual(
      node.catalog.deleted.databases().map(({ schema }) => schema.name),
      names,
    );
  });

  it('adds series that a parser knows to the next database of the same name', async () => {
    await write('m,t=a v=1i 1\nm,t=b v=1i 1');
    for (const round of [2, 3, 4]) {
      await node.catalog.deletions.deleteDatabase('db', absent);
      await write(`m,t=a v=${round}i 1`);
      if (round === 3) await write('m,t=b v=3i 1');
    }
    assert.deepEqual(await seen('SELECT t, v FROM m'), ['a,4']);
    await write('m,t=b v=9i 1');
    assert.deepEqual(await seen('SELECT t, v FROM m ORDER BY t'), ['a,4', 'b,9']);
  });

  it('keeps rows that are still in the log, and is restored with them', async () => {
    await write('m,t=a v=1i 1');
    await node.catalog.deletions.deleteDatabase('db', absent);
    await write('m,t=a v=2i 1');
    await restart();
    assert.deepEqual(await seen('SELECT v FROM m'), ['2']);
    await assert.rejects(node.catalog.deletions.undeleteDatabase('db'), {
      kind: 'resource_exists',
    });
    await node.catalog.deletions.deleteDatabase('db', { kind: 'now' });
    await node.catalog.deletions.undeleteDatabase('db-20260101T000000');
    assert.deepEqual(await seen('SELECT v FROM m'), ['1']);
    await restart();
    assert.deepEqual(await seen('SELECT v FROM m'), ['1']);
  });

  it('D-05 loses its data at the scheduled time, including the log, and not before', async () => {
    await write('m,t=a v=1i 1');
    await write('m,t=a v=7i 1', 'other');
    await restart();
    assert.equal(await segmentFileCount(), 4);
    await write('m,t=b v=2i 2');
    await node.catalog.deletions.deleteDatabase('db', { kind: 'at', atMs: START_MS + 60_000 });
    await clock.advanceMs(58_000);
    assert.equal(await segmentFileCount(), 4);
    await node.catalog.deletions.undeleteDatabase('db');
    assert.deepEqual(await seen('SELECT v FROM m ORDER BY v'), ['1', '2']);
    await node.catalog.deletions.deleteDatabase('db', { kind: 'at', atMs: START_MS + 60_000 });
    const { name } = node.catalog.deleted.databases()[0]?.schema ?? {};
    await until(async () => (await segmentFileCount()) === 2);
    await assert.rejects(node.catalog.deletions.undeleteDatabase(String(name)), {
      kind: 'already_deleted',
    });
    await restart();
    assert.equal(await segmentFileCount(), 2);
    assert.deepEqual(await seen('SELECT v FROM m', 'other'), ['7']);
    assert.equal(node.catalog.deleted.databases().length, 1);
    clock.stepWallMs(25 * 3_600_000);
    await until(() => node.catalog.deleted.databases().length === 0);
    await restart();
    assert.equal(node.catalog.deleted.databases().length, 0);
  });

  it('loses its data at the next start if the node stopped before the removal', async () => {
    await write('m,t=a v=1i 1');
    await restart();
    await node.catalog.deletions.deleteDatabase('db', { kind: 'now' });
    await restart();
    await until(async () => (await segmentFileCount()) === 0);
  });

  it('leaves the log after a stop before the flush, without another write', async () => {
    await write('m,t=secret v=1i 1');
    await node.catalog.deletions.deleteDatabase('db', { kind: 'now' });
    for (let start = 0; start < 2; start++) {
      await node.close();
      node = await openTestNode(dataDir, { clock });
    }
    await until(async () => !(await isInLog('secret')));
  });
});

describe('a deleted table', () => {
  it('leaves no files of a concurrent flush', async () => {
    await node.close();
    let meet: (() => Promise<void>) | undefined;
    node = await openTestNode(dataDir, {
      clock,
      before: (objects) => ({
        put: (name, parts) => objects.put(name, parts),
        get: (name, range) => objects.get(name, range),
        getRanges: (name, ranges) => objects.getRanges(name, ranges),
        list: (prefix) => objects.list(prefix),
        delete: (name) => objects.delete(name),
        localPath: (name) => objects.localPath(name),
        async adopt(name, path) {
          await objects.adopt(name, path);
          await meet?.();
        },
      }),
    });
    for (const database of ['first', 'second', 'third']) await write('m,t=a v=1i 1', database);
    await write('m,t=a v=2i 86400000000001', 'third'); // one day later, in another file
    const { deletions } = node.catalog;
    let isMet = false;
    meet = async () => {
      // The rows and series of the second database are written, and the first day of the third.
      if ((await segmentFileCount()) < 3) return;
      meet = undefined;
      await deletions.deleteDatabase('second', { kind: 'now' });
      await deletions.deleteDatabase('third', { kind: 'now' });
      await new Promise((goOn) => setTimeout(goOn, 300)); // their rows are removed in the meantime
      isMet = true;
    };
    await deletions.deleteDatabase('first', { kind: 'now' }); // flushes its rows from the log
    await until(() => isMet);
    await until(async () => (await segmentFileCount()) === 0);
  });

  it('does not affect the series of a concurrent write', async () => {
    await write('gone,host=x v=0i 1\nknown,host=x v=0i 1');
    // The parsers restart their series numbers when a table is deleted, and the next body is the
    // first of the new epoch.
    let next: Promise<void> | undefined;
    node.catalog.whenTablesLeave(() => {
      next ??= write('known,host=c v=3i 3\nfresh,host=d v=4i 4');
    });
    const deleting = node.catalog.deletions.deleteTable({
      ...{ database: 'db', table: 'gone' },
      hardDelete: absent,
    });
    // Waits until its table is in the catalog, after the deletion.
    const waiting = write('fresh,host=a v=1i 1\nfresh,host=b v=2i 2');
    await Promise.all([deleting, waiting]);
    assert.ok(next);
    await next;
    const hosts = await seen('SELECT host, v FROM fresh ORDER BY v');
    assert.deepEqual(hosts, ['a,1', 'b,2', 'd,4']);
    assert.deepEqual(await seen('SELECT host, v FROM known ORDER BY v'), ['x,0', 'c,3']);
  });

  it('D-03 leaves the others unchanged, and can be rescheduled by its new name', async () => {
    await write('m v=1i 1\nn v=2i 1');
    const at = { database: 'db', table: 'm' };
    await node.catalog.deletions.deleteTable({ ...at, hardDelete: { kind: 'default' } });
    const [table] = node.catalog.deleted.tables();
    assert.equal(table?.entry.schema.name, 'm-20260101T000000');
    assert.equal(table?.hardDeleteMs, START_MS + 72 * 3_600_000);
    assert.deepEqual(await seen('SELECT v FROM n'), ['2']);
    await assert.rejects(seen('SELECT v FROM m'), /not found/);
    await assert.rejects(seen('SELECT v FROM "m-20260101T000000"'), /not found/);
    const renamed = { database: 'db', table: 'm-20260101T000000' };
    await assert.rejects(
      node.catalog.deletions.deleteTable({ ...renamed, hardDelete: { kind: 'default' } }),
      { kind: 'already_deleted' },
    );
    await assert.rejects(node.catalog.deletions.deleteTable({ ...at, hardDelete: absent }), {
      kind: 'table_not_known',
    });
    await node.catalog.deletions.deleteTable({ ...renamed, hardDelete: { kind: 'never' } });
    assert.equal(node.catalog.deleted.tables()[0]?.hardDeleteMs, undefined);
    await node.catalog.deletions.undeleteTable(at);
    assert.deepEqual(await seen('SELECT v FROM m'), ['1']);
  });
});

describe('deleted rows', () => {
  const all = { minTimeNs: MIN_TIME_NS, maxTimeNs: MAX_TIME_NS, anyOf: [[]] };
  const ofTag = (value: string) => [[{ tag: 't', op: 'in', values: [value] } as const]];
  const rows = () =>
    seen('SELECT t, epoch_ns, v, w FROM (SELECT *, time AS epoch_ns FROM m) ORDER BY t, epoch_ns');
  const base = 'm,t=a v=1i,w=1i 1\nm,t=b v=2i,w=1i 1\nm,t=a v=3i,w=1i 5';
  const [a1, b1, a5] = [
    'a,1970-01-01T00:00:00.000000001,1,1',
    'b,1970-01-01T00:00:00.000000001,2,1',
    'a,1970-01-01T00:00:00.000000005,3,1',
  ];

  for (const where of ['in memory', 'in segments'] as const) {
    it(`disappear immediately ${where}, and stay deleted through flush, compaction and restart`, async () => {
      await write(base);
      if (where === 'in segments') await restart();
      await node.engine.deleteRows({
        ...all,
        database: 'db',
        tables: ['m'],
        maxTimeNs: 3n,
        anyOf: ofTag('a'),
      });
      assert.deepEqual(await rows(), [a5, b1]);
      assert.deepEqual(await seen('SELECT count(*) FROM m'), ['2']);
      // The point is written again with only one of its fields; the other must stay deleted.
      await write('m,t=a w=9i 1');
      const again = 'a,1970-01-01T00:00:00.000000001,NULL,9';
      assert.deepEqual(await rows(), [again, a5, b1]);
      await restart();
      assert.deepEqual(await rows(), [again, a5, b1]);
      await until(() => node.engine.waitingDeletionCount === 0);
      assert.deepEqual(await rows(), [again, a5, b1]);
      await restart();
      assert.deepEqual(await rows(), [again, a5, b1]);
      assert.equal(node.engine.waitingDeletionCount, 0);
    });
  }

  it('include every table if none is named, and no later writes', async () => {
    await write(base);
    await write('n,t=a v=1i 1');
    await restart();
    await write('m,t=c v=4i 2');
    await node.engine.deleteRows({ ...all, database: 'db', tables: undefined });
    assert.deepEqual(await rows(), []);
    assert.deepEqual(await seen('SELECT * FROM n'), []);
    await write('m,t=c v=5i,w=5i 2');
    const c = 'c,1970-01-01T00:00:00.000000002,5,5';
    assert.deepEqual(await rows(), [c]);
    await until(() => node.engine.waitingDeletionCount === 0);
    await restart();
    assert.deepEqual(await rows(), [c]);
  });

  it('can be selected by the absence of a tag', async () => {
    await write('m v=1i,w=1i 1\nm,t=a v=1i,w=1i 1');
    const without = [[{ tag: 't', op: 'in', values: [undefined] } as const]];
    await node.engine.deleteRows({ ...all, database: 'db', tables: ['m'], anyOf: without });
    assert.deepEqual(await rows(), [a1]);
    await restart();
    assert.deepEqual(await rows(), [a1]);
  });
});
