// Source: docs/OPEN-TABLES-BUCKET.md, "When the bucket fails"; docs/adr/0170-tables-in-a-bucket.md.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { StoreOutage } from '@plinth/kernel';
import { flushNode } from '#src/testing/flush-node.js';
import type { TestNode } from '#src/testing/open-test-node.js';
import { query, TEST_DATABASE, writeLines } from '#src/testing/write-and-query.js';
import {
  fakeS3,
  KEEP_MS,
  publish,
  publishedFolder,
  readBucket,
  readNewest,
  tableOf,
} from './published-node.js';

const row = (v: number, host = 'a'): string => `m,host=${host} v=${v}i ${v}`;

/** A folder whose database is published to a bucket. */
async function publishedBucket(context: TestContext) {
  const { fake, bucket } = await fakeS3(context);
  const folder = await publishedFolder(context, { bucket });
  return {
    ...{ ...folder, fake },
    names: (prefix: string) => [...fake.objects.keys()].filter((name) => name.startsWith(prefix)),
  };
}

async function pass(node: TestNode): Promise<void> {
  await node.openTables.idle(); // one that began before
  node.openTables.publishSoon();
  await node.openTables.idle();
}

const deleteHost = (node: TestNode, host: string): Promise<void> =>
  node.engine.deleteRows({
    database: TEST_DATABASE,
    tables: ['m'],
    minTimeNs: -(2n ** 62n),
    maxTimeNs: 2n ** 62n,
    anyOf: [[{ tag: 'host', op: 'in', values: [host] }]],
  });

const sqlSum = async (node: TestNode): Promise<number> =>
  Number((await query(node, 'SELECT sum(v) FROM m'))[1]);

it('publishes metadata and segments to the bucket, and uploads each segment once', async (context) => {
  const { start, stop, dataDir, fake, names } = await publishedBucket(context);
  let node = await start();
  await writeLines(node, [row(1)]);
  await publish(node);
  await writeLines(node, [row(2)]);
  await publish(node);
  for (const [tree, formatVersion] of [
    ['', 3],
    ['-jvm', 2],
  ] as const) {
    const found = await readBucket(fake, tableOf(node), tree);
    assert.equal(await found?.sum('v'), 3);
    assert.equal(found?.metadata['format-version'], formatVersion);
    assert.match(found?.metadata.location, /^s3:\/\/plinth\/open-tables\//);
  }
  assert.equal(names('tsdb/').length, 2);
  await stop();
  node = await start();
  await pass(node);
  const puts = fake.requests.filter((request) => request.startsWith('PUT tsdb/'));
  assert.equal(puts.length, 2);
  assert.equal(await readNewest(dataDir, tableOf(node)), undefined, 'nothing in the folder');
});

it('removes merged segments from the folder at once, and from the bucket when their snapshots expire', async (context) => {
  const { start, stop, dataDir, fake, names, clock } = await publishedBucket(context);
  let node = await start();
  for (const v of [1, 2, 4, 8, 16, 32, 64]) {
    await writeLines(node, [row(v)]);
    await flushNode(node);
  }
  await publish(node);
  const before = await readBucket(fake, tableOf(node));
  await writeLines(node, [row(128)]);
  await flushNode(node);
  await node.engine.background.compactor.compactWhenDue();
  await publish(node);
  assert.equal((await readBucket(fake, tableOf(node)))?.files.length, 1);
  assert.equal(await before?.sum('v'), 127);
  assert.equal(names('tsdb/').length, 8);
  const local = await readdir(join(dataDir, 'objects/tsdb', tableOf(node).uuid));
  assert.equal(local.filter((name) => name.endsWith('.parquet')).length, 2, 'and a series file');
  await stop();
  node = await start();
  await clock.advanceMs(KEEP_MS + 1);
  await pass(node);
  await pass(node);
  assert.equal(names('tsdb/').length, 1);
  assert.equal(await (await readBucket(fake, tableOf(node)))?.sum('v'), 255);
});

it('never lists a row that was deleted while files were uploaded or metadata was written', async (context) => {
  const { start, fake } = await publishedBucket(context);
  const node = await start();
  await node.openTables.idle();
  for (const [host, at] of [
    ['b', '/tsdb/'],
    ['c', '.metadata.json'],
  ] as const) {
    await writeLines(node, [row(1), row(2, host)]);
    await flushNode(node);
    let deleted: Promise<void> | undefined;
    fake.onPut = async (name) => {
      if (deleted === undefined && `/${name}`.includes(at)) deleted = deleteHost(node, host);
      await deleted;
    };
    await publish(node);
    assert.notEqual(deleted, undefined, `the deletion ran at ${at}`);
    fake.onPut = undefined;
    await publish(node);
  }
  const found = await readBucket(fake, tableOf(node));
  assert.equal(await found?.sum('v'), 1);
  assert.equal(node.openTables.find(tableOf(node).id)?.state.kind, 'published');
});

it('delays publishing during an outage, and nothing else', async (context) => {
  const { start, fake } = await publishedBucket(context);
  const node = await start();
  await writeLines(node, [row(1)]);
  await publish(node);
  const table = tableOf(node);
  fake.faults.refusal = { status: 503, code: 'SlowDown' };
  await writeLines(node, [row(2)]);
  await flushNode(node);
  await publish(node);
  assert.deepEqual(node.openTables.find(table.id)?.state, {
    kind: 'waiting',
    reason: 'the object store does not respond (503 SlowDown)',
  });
  await pass(node);
  assert.equal(await sqlSum(node), 3);
  fake.faults.refusal = undefined;
  await pass(node);
  assert.deepEqual(node.openTables.find(table.id)?.state, { kind: 'published' });
  assert.equal(await (await readBucket(fake, table))?.sum('v'), 3);
});

it('holds up no flush while the bucket accepts requests and never responds', async (context) => {
  const { start, stop, fake } = await publishedBucket(context);
  const node = await start();
  await writeLines(node, [row(1)]);
  await publish(node);
  fake.faults.isSilent = true;
  await writeLines(node, [row(2)]);
  await flushNode(node);
  node.openTables.publishSoon();
  while (!fake.requests.at(-1)?.startsWith('PUT tsdb/')) await new Promise(setImmediate);
  await writeLines(node, [row(4)]);
  await flushNode(node);
  await deleteHost(node, 'b');
  assert.equal(await sqlSum(node), 7);
  await stop(); // aborts the request
});

it('starts during an outage, and publishes afterwards', async (context) => {
  const { start, stop, fake } = await publishedBucket(context);
  fake.faults.refusal = { status: 500, code: 'InternalError' };
  const node = await start();
  await writeLines(node, [row(1)]);
  await publish(node);
  assert.equal(node.openTables.find(tableOf(node).id)?.state.kind, 'waiting');
  fake.faults.refusal = undefined;
  await pass(node);
  assert.equal(await (await readBucket(fake, tableOf(node)))?.sum('v'), 1);
  await stop();
});

it('does not start with a store that overwrites objects, or that refuses its credentials', async (context) => {
  const { start, fake } = await publishedBucket(context);
  fake.faults.ignoresConditions = true;
  await assert.rejects(start(), {
    kind: 'config_invalid',
    message: /object_store.bucket \(s3:\/\/plinth\): .*8 of 8 concurrent requests created/,
  });
  fake.faults.ignoresConditions = false;
  fake.faults.refusal = { status: 403, code: 'InvalidAccessKeyId' };
  await assert.rejects(start(), { kind: 'config_invalid', message: /403 InvalidAccessKeyId/ });
});

it('publishes a complete version after a failure at any request of a commit', async (context) => {
  const { start, stop, fake, faults, names } = await publishedBucket(context);
  let node = await start();
  let sum = 0;
  let v = 1;
  for (const kind of ['bucket.put', 'bucket.upload', 'relational.transaction']) {
    for (const at of [1, 2, 3]) {
      for (const effect of ['none', 'done'] as const) {
        v++;
        await writeLines(node, [row(v)]);
        sum += v;
        await flushNode(node);
        faults.fail({ kind, at, effect, error: new StoreOutage(undefined, 'simulated') });
        await pass(node);
        faults.heal();
        if (at === 2) {
          await stop();
          node = await start();
        }
        await pass(node);
        const found = await readBucket(fake, tableOf(node));
        assert.equal(await found?.sum('v'), sum, `${kind} ${at} ${effect}`);
      }
    }
  }
  assert.deepEqual(names('probe/'), []);
});

it('removes all objects of a table that is deleted permanently', async (context) => {
  const { start, names } = await publishedBucket(context);
  const node = await start();
  await writeLines(node, [row(1)]);
  await publish(node);
  await node.catalog.deletions.deleteTable({
    ...{ database: TEST_DATABASE, table: 'm' },
    hardDelete: { kind: 'now' },
  });
  node.engine.removeDeletedSoon();
  for (let tries = 0; tries < 100 && names('').length > 1; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    await pass(node);
  }
  assert.deepEqual(names(''), ['cluster.json']);
});

it('moves from the folder to the bucket, and removes the metadata in the folder', async (context) => {
  const { fake, bucket } = await fakeS3(context);
  let target: ReturnType<typeof bucket> | undefined;
  const { start, stop, dataDir } = await publishedFolder(context, { bucket: () => target });
  let node = await start();
  await writeLines(node, [row(1)]);
  await publish(node);
  assert.equal((await readNewest(dataDir, tableOf(node)))?.version, 1);
  await stop();
  target = bucket();
  node = await start();
  await pass(node);
  assert.equal(await readNewest(dataDir, tableOf(node)), undefined);
  assert.equal((await readBucket(fake, tableOf(node)))?.version, 2);
});

it('uploads again what the bucket has lost, and removes what is not recorded', async (context) => {
  const { start, stop, fake, names } = await publishedBucket(context);
  let node = await start();
  await writeLines(node, [row(1)]);
  await publish(node);
  await stop();
  const [segment = ''] = names('tsdb/');
  fake.objects.delete(segment);
  fake.objects.set('tsdb/unknown.parquet', Buffer.from('x'));
  node = await start();
  await writeLines(node, [row(2)]);
  await flushNode(node);
  await pass(node);
  assert.equal(fake.objects.has(segment), true);
  assert.equal(fake.objects.has('tsdb/unknown.parquet'), false);
  assert.equal(await (await readBucket(fake, tableOf(node)))?.sum('v'), 3);
});
