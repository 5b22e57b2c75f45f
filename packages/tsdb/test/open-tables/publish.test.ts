// Source: Apache Iceberg specification, "Table Metadata", "Snapshots", "Manifests".
import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { flushNode } from '#src/testing/flush-node.js';
import type { TestNode } from '#src/testing/open-test-node.js';
import { query, TEST_DATABASE, writeLines } from '#src/testing/write-and-query.js';
import {
  KEEP_MS,
  publish,
  publishedFolder,
  readNewest,
  readSnapshot,
  tableOf,
} from './published-node.js';

const DAY_NS = 86_400_000_000_000n;
const INTERVAL_MS = 60_000;

const row = (v: number, day: number, host = 'a'): string =>
  `m,host=${host} v=${v}i ${BigInt(day) * DAY_NS + BigInt(v)}`;
const sqlSum = async (node: TestNode): Promise<number> =>
  Number((await query(node, 'SELECT sum(v) FROM m'))[1]);

const deleteHost = (node: TestNode, host: string): Promise<void> =>
  node.engine.deleteRows({
    database: TEST_DATABASE,
    tables: ['m'],
    minTimeNs: -(2n ** 62n),
    maxTimeNs: 2n ** 62n,
    anyOf: [[{ tag: 'host', op: 'in', values: [host] }]],
  });

/** Runs a pass over all tables, as the interval does. */
async function pass(node: TestNode): Promise<void> {
  await node.openTables.idle(); // one that began before
  node.openTables.publishSoon();
  await node.openTables.idle();
}

it('publishes the segments of a table for both kinds of readers', async (context) => {
  const { start, dataDir } = await publishedFolder(context);
  const node = await start();
  await writeLines(node, [row(1, -60_000), row(2, 1), row(4, 19_000, 'b')]);
  await publish(node);
  const table = tableOf(node);
  for (const [tree, formatVersion, time] of [
    ['', 3, { name: 'time', type: 'timestamp_ns' }],
    ['-jvm', 2, { name: 'time_ns', type: 'long' }],
  ] as const) {
    const found = await readNewest(dataDir, table, tree);
    assert.equal(await found?.sum('v'), 7);
    const { metadata } = found ?? {};
    assert.equal(metadata['format-version'], formatVersion);
    assert.deepEqual(metadata.schemas[0].fields[0], { id: 1, required: false, ...time });
    assert.equal(metadata.snapshots[0].summary['total-records'], '3');
    assert.equal(metadata['last-column-id'], 3);
    assert.deepEqual(metadata['partition-specs'], [{ 'spec-id': 0, fields: [] }]);
  }
});

it('writes no version when nothing has changed', async (context) => {
  const { start, dataDir, stop } = await publishedFolder(context);
  const node = await start();
  await writeLines(node, [row(1, 1)]);
  await publish(node);
  const names = await readdir(join(dataDir, 'objects/open-tables', tableOf(node).uuid, 'metadata'));
  assert.deepEqual(names.sort(), ['m-1-197001.avro', 'snap-1.avro', 'v1.metadata.json']);
  await pass(node);
  await stop();
  const again = await start();
  const found = await again.openTables.metadataOf(tableOf(again), 'plain');
  assert.notEqual(found, undefined, 'readers find it before the first pass');
  await pass(again);
  assert.equal((await readNewest(dataDir, tableOf(again)))?.version, 1);
});

it('writes only the manifests of months whose files have changed', async (context) => {
  const { start, dataDir } = await publishedFolder(context);
  const node = await start();
  await writeLines(node, [row(1, 1), row(2, 40)]);
  await publish(node);
  await writeLines(node, [row(4, 41)]);
  await publish(node);
  const folder = join(dataDir, 'objects/open-tables', tableOf(node).uuid, 'metadata');
  const manifests = (await readdir(folder)).filter((name) => name.startsWith('m-')).sort();
  assert.deepEqual(manifests, ['m-1-197001.avro', 'm-1-197002.avro', 'm-2-197002.avro']);
  assert.equal(await (await readNewest(dataDir, tableOf(node)))?.sum('v'), 7);
});

it('publishes an added column, and keeps the schema of the older snapshot', async (context) => {
  const { start, dataDir } = await publishedFolder(context);
  const node = await start();
  await writeLines(node, [row(1, 1)]);
  await publish(node);
  await writeLines(node, ['m,host=a w=1.5 2']);
  await publish(node);
  const found = await readNewest(dataDir, tableOf(node));
  const { schemas, snapshots } = found?.metadata ?? {};
  assert.deepEqual(
    schemas.map(({ fields }: { fields: { name: string }[] }) => fields.map(({ name }) => name)),
    [
      ['time', 'host', 'v'],
      ['time', 'host', 'v', 'w'],
    ],
  );
  assert.deepEqual(
    snapshots.map((each: Record<string, unknown>) => each['schema-id']),
    [schemas[0]['schema-id'], schemas[1]['schema-id']],
  );
  assert.equal(await found?.sum('w'), 1.5);
});

it('keeps the last snapshot while deleted rows are in files, and withdraws it after 5 minutes', async (context) => {
  const { start, dataDir, faults, clock } = await publishedFolder(context);
  const node = await start();
  await writeLines(node, [row(1, 1), row(2, 1, 'b')]);
  await publish(node);
  faults.fail({ kind: 'duckdb.copy', count: Number.POSITIVE_INFINITY });
  await deleteHost(node, 'b');
  await node.engine.background.compactor.compactWhenDue();
  const table = tableOf(node);
  await pass(node);
  assert.equal((await readNewest(dataDir, table))?.version, 1);
  assert.deepEqual(node.openTables.find(table.id)?.state, {
    kind: 'waiting',
    reason: 'deleted rows are still in files',
  });
  await clock.advanceMs(4 * 60_000);
  await pass(node);
  assert.equal((await readNewest(dataDir, table))?.version, 1);
  await clock.advanceMs(2 * 60_000);
  await pass(node);
  assert.equal((await readNewest(dataDir, table))?.version, undefined);
  assert.equal(node.openTables.find(table.id)?.state.kind, 'withdrawn');
  faults.heal();
  await clock.advanceMs(3_600_000); // the failed merge is retried
  await publish(node);
  const found = await readNewest(dataDir, table);
  assert.equal(found?.version, 2);
  assert.equal(await found?.sum('v'), 1);
});

it('never lists a row that was deleted while the version was written', async (context) => {
  const { start, dataDir } = await publishedFolder(context);
  let onList: (() => Promise<void>) | undefined;
  const node: TestNode = await start({}, (objects) => ({
    async put(name, parts) {
      if (name.includes('/snap-') && onList !== undefined) {
        const work = onList;
        onList = undefined;
        await work();
      }
      await objects.put(name, parts);
    },
    adopt: (name, path) => objects.adopt(name, path),
    get: (name, range) => objects.get(name, range),
    getRanges: (name, ranges) => objects.getRanges(name, ranges),
    list: (prefix) => objects.list(prefix),
    delete: (name) => objects.delete(name),
    localPath: (name) => objects.localPath(name),
  }));
  await writeLines(node, [row(1, 1), row(2, 1, 'b')]);
  await flushNode(node);
  onList = () => deleteHost(node, 'b');
  await publish(node);
  await publish(node);
  assert.equal(onList, undefined, 'the deletion ran');
  const found = await readNewest(dataDir, tableOf(node));
  assert.equal(await found?.sum('v'), 1);
  assert.equal(found?.version, 1, 'the first attempt left no version');
});

it('keeps merged files for readers of older snapshots, also across a restart', async (context) => {
  const { start, stop, dataDir, clock } = await publishedFolder(context);
  let node = await start();
  for (const v of [1, 2, 4, 8, 16, 32, 64]) {
    await writeLines(node, [row(v, 1)]);
    await flushNode(node);
  }
  await publish(node);
  const table = tableOf(node);
  const before = await readNewest(dataDir, table);
  assert.equal(before?.files.length, 7);
  await writeLines(node, [row(128, 1)]);
  await flushNode(node);
  await node.engine.background.compactor.compactWhenDue();
  await publish(node);
  const after = await readNewest(dataDir, table);
  assert.equal(after?.files.length, 1);
  assert.equal(await after?.sum('v'), 255);
  await stop();
  node = await start();
  await pass(node);
  assert.equal(await before?.sum('v'), 127);
  await clock.advanceMs(KEEP_MS + INTERVAL_MS);
  await pass(node);
  assert.equal((await readNewest(dataDir, table))?.metadata.snapshots.length, 1);
  for (const { path } of before?.files ?? []) await assert.rejects(stat(path), { code: 'ENOENT' });
  assert.equal(await sqlSum(node), 255);
  const folder = join(dataDir, 'objects/open-tables', table.uuid, 'metadata');
  const names = await readdir(folder);
  assert.equal(names.filter((name) => name.startsWith('snap-')).length, 1, names.join());
});

it('removes everything at once when a table is deleted permanently', async (context) => {
  const { start, dataDir } = await publishedFolder(context);
  const node = await start();
  await writeLines(node, [row(1, 1), row(2, 1, 'b')]);
  await publish(node);
  await deleteHost(node, 'b');
  await publish(node); // the first snapshot's file is only kept for readers
  const table = tableOf(node);
  await node.catalog.deletions.deleteTable({
    ...{ database: TEST_DATABASE, table: 'm' },
    hardDelete: { kind: 'now' },
  });
  node.engine.removeDeletedSoon();
  for (let tries = 0; tries < 100 && node.openTables.find(table.id) !== undefined; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    await node.openTables.idle();
  }
  const left = await readdir(join(dataDir, 'objects'), { recursive: true, withFileTypes: true });
  assert.deepEqual(
    left.filter((entry) => entry.isFile() && entry.parentPath.includes(table.uuid)),
    [],
  );
});

it('withdraws the tables of a database that is no longer published', async (context) => {
  const { start, stop, dataDir } = await publishedFolder(context);
  let node = await start();
  await writeLines(node, [row(1, 1)]);
  await publish(node);
  await stop();
  node = await start({ 'open-tables-databases': 'other' });
  await pass(node);
  assert.equal((await readNewest(dataDir, tableOf(node)))?.version, undefined);
});

it('publishes a complete version after a failure at any object of a commit', async (context) => {
  const { start, stop, dataDir, faults } = await publishedFolder(context);
  let node = await start();
  let sum = 0;
  const kinds = ['object.put', 'relational.transaction'];
  for (const kind of kinds) {
    for (let at = 1; at <= 6; at++) {
      for (const effect of ['none', 'done'] as const) {
        const v = at * 10 + kinds.indexOf(kind) + (effect === 'none' ? 100 : 0);
        await writeLines(node, [row(v, v)]);
        sum += v;
        await flushNode(node);
        const before = await readNewest(dataDir, tableOf(node));
        faults.fail({ kind, at, effect });
        await pass(node);
        const isDamaged =
          before !== undefined && (await readNewest(dataDir, tableOf(node))) === undefined;
        assert.equal(isDamaged, false, 'readers find a complete version at any time');
        faults.heal();
        if (at % 2 === 0) {
          await stop();
          node = await start();
        }
        await pass(node);
        const found = await readNewest(dataDir, tableOf(node));
        assert.equal(await found?.sum('v'), sum, `${kind} ${at} ${effect}`);
        assert.equal(await sqlSum(node), sum);
      }
    }
  }
});

it('reads a snapshot by its manifest list after a newer one', async (context) => {
  const { start, dataDir } = await publishedFolder(context);
  const node = await start();
  await writeLines(node, [row(1, 1)]);
  await publish(node);
  await writeLines(node, [row(2, 1)]);
  await publish(node);
  const newest = await readNewest(dataDir, tableOf(node));
  const lists = newest?.metadata.snapshots.map(
    (each: Record<string, string>) => each['manifest-list'],
  );
  assert.equal(lists.length, 2);
  const sums: number[] = [];
  for (const list of lists) {
    const snapshot = await readSnapshot({ version: 0, metadata: {} }, list);
    sums.push(await snapshot.sum('v'));
  }
  assert.deepEqual(sums, [1, 3]);
});
