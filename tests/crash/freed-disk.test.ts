// Source: docs/FULL-DISK.md, "Free space": a full disk can be freed by deletions, and a server that starts on
// it is read-only. Own process: it is killed on a full disk.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { query, ServerInProcess, ServerProcess, StartFailed } from '../harness/index.js';
import { WebhookApp } from '../harness/webhook-app.js';
import { CHANGE_ENV, changesOf } from './changes.js';
import { NO_SMALL_DISK, SmallDisk } from './small-disk.js';

const MIB = 1024 * 1024;
const MIN_FREE_BYTES = 24 * MIB;
const RESERVE_BYTES = 16 * MIB;
/** Incompressible rows: deleting one such table frees enough space for writes. */
const TABLE_BYTES = 64 * MIB;
const FULL =
  'the server disk is full: less than storage.min_free_bytes is free; delete data or free disk space, then retry';
/** Free space is checked every second; files are removed within seconds after a deletion. */
const MAX_WAIT_MS = 60_000;
const DAY = 86_400;

let disk: SmallDisk;
let server: ServerInProcess | ServerProcess;

const options = () => ({
  dataDir: join(disk.path, 'data'),
  flags: ['--without-auth', '--storage-min-free-bytes', String(MIN_FREE_BYTES)],
  env: CHANGE_ENV,
});

async function until(isTrue: () => Promise<boolean>, what: string): Promise<void> {
  for (let waitedMs = 0; !(await isTrue()); waitedMs += 100) {
    assert.ok(waitedMs < MAX_WAIT_MS, `${what}\n${server.logText}`);
    await sleep(100);
  }
}

const statusOf = async (path: string): Promise<number> => (await server.http.send(path)).status;

async function freeBytes(): Promise<number> {
  const { bavail, bsize } = await statfs(disk.path);
  return bavail * bsize;
}

async function metric(name: string): Promise<number> {
  const { text } = await server.http.send('/metrics');
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

/** Writes many rows and waits until they are in files. */
async function writeTable(db: string, table: string): Promise<void> {
  for (let day = 0, left = TABLE_BYTES; left > 0; day++, left -= 8 * MIB) {
    const lines: string[] = [];
    for (let n = 0; n < 8; n++) {
      lines.push(`${table} s="${randomBytes(0.75 * MIB).toString('base64')}" ${day * DAY + n}`);
    }
    const path = `/api/v3/write_lp?db=${db}&precision=s`;
    const response = await server.http.send(path, { body: lines.join('\n') });
    assert.equal(response.status, 204, response.text);
    await flush();
  }
}

async function flush(): Promise<void> {
  const response = await server.http.send('/ops/v1/tsdb/storage/flush', { method: 'POST' });
  assert.ok(response.status < 300, response.text);
  // The server may write its own metrics at any moment.
  await until(async () => (await metric('plinth_tsdb_buffered_bytes')) < MIB, 'not flushed');
}

async function countOf(db: string, table: string): Promise<number> {
  const text = await query(server, { db, q: `SELECT count(*) AS c FROM ${table}`, format: 'csv' });
  return Number(text.trim().split('\n')[1]);
}

async function deleteThing(path: string): Promise<void> {
  const response = await server.http.send(path, { method: 'DELETE' });
  assert.ok(response.status < 300, `${path}: ${response.text}\n${server.logText}`);
}

const untilReserved = () => until(async () => (await freeBytes()) < 380 * MIB, 'no reserve');

async function fillUntilRefused(): Promise<void> {
  // A server that has just started fills its reserve first.
  const reserve = join(disk.path, 'data', 'disk-reserve');
  const reservedBytes = async () => (await stat(reserve).catch(() => undefined))?.size ?? 0;
  await until(async () => (await reservedBytes()) === RESERVE_BYTES, 'no reserve');
  await disk.fill();
  await until(async () => (await metric('plinth_data_disk_writes_refused')) === 1, 'not refused');
  await until(async () => (await reservedBytes()) <= RESERVE_BYTES / 2, 'nothing released');
  // The server may release space before `fill` has ended, which then uses it up.
  if ((await freeBytes()) < RESERVE_BYTES / 2 - MIB) await disk.free(RESERVE_BYTES / 2);
}

async function assertWritesReturn(): Promise<void> {
  await until(async () => (await statusOf('/ready')) === 200, 'not ready again');
  const response = await server.http.send('/api/v3/write_lp?db=d', { body: 'again v=1i 1' });
  assert.equal(response.status, 204, response.text);
  await until(async () => (await freeBytes()) >= MIN_FREE_BYTES, 'reserve not filled');
  assert.equal(await metric('plinth_data_disk_writes_refused'), 0);
}

describe('A full disk', { skip: NO_SMALL_DISK }, () => {
  beforeEach(async () => {
    disk = await SmallDisk.mount(384);
  });
  afterEach(async () => {
    await server.close();
    await disk.unmount();
  });

  it('refuses writes but allows queries and deletions until writes work again', async () => {
    server = await ServerInProcess.start(options());
    await untilReserved();
    const app = await WebhookApp.register(server, { url: 'https://example.com/' });
    const changes = Object.entries(changesOf(server, app));
    for (const [name, change] of changes) {
      const response = await change(1);
      assert.ok(response.status < 300, `${name}: ${response.text}`);
    }
    for (const table of ['rows', 'dropped']) await writeTable('d', table);
    await writeTable('gone', 'm');
    await fillUntilRefused();

    for (const [name, change] of changes) {
      const response = await change(2);
      assert.equal(response.status, 503, `${name}: ${response.text}`);
      assert.match(response.text, /[Tt]he server disk is full/, name);
      assert.ok(Number(response.headers['retry-after']) > 0, name);
    }
    const refused = await server.http.send('/api/v3/write_lp?db=d', { body: 'rows v=1i 1' });
    assert.deepEqual(JSON.parse(refused.text), { error: FULL, data: {} });
    assert.ok((await metric('plinth_data_disk_refused_requests_total')) > changes.length);
    assert.equal(await statusOf('/livez'), 200);
    assert.equal(await statusOf('/ready'), 503);
    assert.equal(await statusOf('/health'), 503);
    assert.equal(await countOf('d', 'rows'), 64);

    const all = { start: '1970-01-01T00:00:00Z', stop: '2030-01-01T00:00:00Z' };
    const rows = await server.http.send('/api/v2/delete?bucket=d', {
      body: JSON.stringify({ ...all, predicate: '_measurement="rows"' }),
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(rows.status, 204, rows.text);
    assert.equal(await countOf('d', 'rows'), 0);
    await assertWritesReturn();

    for (const path of [
      '/api/v3/configure/table?db=d&table=dropped&hard_delete_at=now',
      '/api/v3/configure/database?db=gone&hard_delete_at=now',
    ]) {
      await fillUntilRefused();
      await deleteThing(path);
      await assertWritesReturn();
    }
    for (const [name, change] of changes) {
      const response = await change(3);
      assert.ok(response.status < 300, `${name}: ${response.text}`);
    }
  });

  it('lets a server start read-only, and is freed by deletions', async () => {
    server = await ServerProcess.start(options());
    await untilReserved();
    await writeTable('d', 'kept');
    await writeTable('gone', 'm');
    // These rows are only in the log.
    const late = await server.http.send('/api/v3/write_lp?db=d', { body: 'late v=1i 1' });
    assert.equal(late.status, 204, late.text);
    await fillUntilRefused();
    await disk.fill();
    await server.kill();
    await disk.fill();
    server = await ServerInProcess.start(options());
    const logged = server.logged(
      'disk is full; starting read-only: queries and deletions work, writes are refused',
    );
    assert.equal(logged?.['minFreeBytes'], MIN_FREE_BYTES, server.logText);
    assert.equal(await countOf('d', 'kept'), 64);
    assert.equal(await countOf('d', 'late'), 1);
    const refused = await server.http.send('/api/v3/write_lp?db=d', { body: 'late v=1i 2' });
    assert.equal(refused.status, 503, refused.text);
    assert.ok(Number(refused.headers['retry-after']) > 0);
    assert.equal(await statusOf('/livez'), 200);
    await deleteThing('/api/v3/configure/database?db=gone&hard_delete_at=now');
    await assertWritesReturn();
    assert.equal(await server.stop(), 0);
    server = await ServerInProcess.start(options());
    assert.equal(await countOf('d', 'kept'), 64);
    assert.equal(await countOf('d', 'late'), 1);
    assert.equal(await countOf('d', 'again'), 1);
  });

  it('without free space and reserve refuses the start without reporting it as started', async () => {
    server = await ServerProcess.start(options());
    await untilReserved();
    await fillUntilRefused();
    // A start may free some space first: it deletes the unfinished file of a flush that was killed.
    await server.kill();
    for (let leftover = 0; leftover < 3; leftover++) {
      await rm(join(disk.path, 'data', 'disk-reserve'), { force: true });
      await disk.fill();
      const started = await ServerInProcess.start(options()).catch((error: unknown) => error);
      if (started instanceof ServerInProcess) {
        await started.close();
        continue;
      }
      assert.ok(started instanceof StartFailed);
      assert.match(started.message, /free some disk space/);
      assert.doesNotMatch(started.message, /starting read-only/);
      return;
    }
    assert.fail('the server starts without free space');
  });
});
