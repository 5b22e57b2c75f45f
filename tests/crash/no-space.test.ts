// Source: docs/DURABILITY.md, "Full disk"; docs/REQUEST-LIFECYCLE.md, "Health": a full disk is reported, loses no acknowledged data and ends.
// Own process: it is killed on a full disk.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  assertError,
  assertJson,
  type HttpResponse,
  query,
  ServerInProcess,
  ServerProcess,
  StartFailed,
} from '../harness/index.js';
import { WebhookApp } from '../harness/webhook-app.js';
import { CHANGE_ENV, changesOf } from './changes.js';
import { NO_SMALL_DISK, SmallDisk } from './small-disk.js';

const FULL = 'the server disk is full or rejects writes; free space and retry';
const JSON_TYPE = { 'content-type': 'application/json' };
/** The server checks for free space every second, and flushes wait a little longer. */
const MAX_WAIT_MS = 60_000;
const MAX_WRITES = 5000;

let disk: SmallDisk;
let server: ServerInProcess | ServerProcess;

const flags = [
  '--without-auth',
  ...['--tsdb-buffer-flush-age-ms', '400'],
  ...['--num-database-limit', '100000'],
];
const options = () => ({
  dataDir: join(disk.path, 'data'),
  flags,
  // Writes continue until the disk itself refuses them.
  env: { ...CHANGE_ENV, PLINTH_STORAGE_MIN_FREE_BYTES: '0', PLINTH_STORAGE_RESERVE_BYTES: '0' },
});

const changesOfNewApp = async () =>
  changesOf(server, await WebhookApp.register(server, { url: 'https://example.com/' }));

/** Sends changes until one is refused. @returns the refusal, and the numbers of the accepted changes */
async function untilRefused(
  change: (n: number) => Promise<HttpResponse>,
  from: number,
): Promise<{ readonly refusal: HttpResponse; readonly taken: readonly number[] }> {
  const taken: number[] = [];
  for (let n = from; n < from + MAX_WRITES; n++) {
    const response = await change(n);
    if (response.status >= 300) return { refusal: response, taken };
    taken.push(n);
  }
  assert.fail('never refused');
}

async function until(isTrue: () => Promise<boolean>, what: string): Promise<void> {
  for (let waitedMs = 0; !(await isTrue()); waitedMs += 100) {
    assert.ok(waitedMs < MAX_WAIT_MS, `${what}\n${server.logText}`);
    await sleep(100);
  }
}

describe('A full disk', { skip: NO_SMALL_DISK }, () => {
  beforeEach(async () => {
    disk = await SmallDisk.mount(48);
  });
  afterEach(async () => {
    await server.close();
    await disk.unmount();
  });

  it('never shows a row of a refused write, neither at once nor later', async () => {
    server = await ServerInProcess.start(options());
    const changes = await changesOfNewApp();
    const taken = new Set<number>();
    const write = async (n: number): Promise<boolean> => {
      const response = await changes['tsdb']?.(n);
      if (response?.status === 204) taken.add(n);
      else assert.equal(response?.status, 503, response?.text);
      return response?.status === 204;
    };
    const assertShown = async (when: string): Promise<void> => {
      // A cache that received the refused rows is rebuilt a moment later.
      const last = async (): Promise<number> => {
        const q = "SELECT v FROM last_cache('m')";
        return Number((await query(server, { db: 'd', q, format: 'csv' })).split('\n')[1] ?? 0);
      };
      await until(async () => taken.has(await last()), `${when}: refused, and in a cache`);
      for (const q of ['SELECT v FROM m', 'SELECT v FROM m WHERE time > 0 ORDER BY time']) {
        const found = await query(server, { db: 'd', q, format: 'csv' });
        const numbers = new Set(found.trim().split('\n').slice(1).map(Number));
        const wrong = [...numbers].filter((n) => !taken.has(n));
        assert.deepEqual(wrong, [], `${when}: refused, and shown`);
        assert.equal(numbers.size, taken.size, `${when}: lost`);
      }
    };
    assert.ok(await write(1));
    const cache = { db: 'd', table: 'm', name: 'last', count: 1 };
    const made = await server.http.send('/api/v3/configure/last_cache', {
      body: JSON.stringify(cache),
      headers: JSON_TYPE,
    });
    assert.ok(made.status < 300, made.text);
    let n = 1;
    for (let round = 0; round < 2; round++) {
      await disk.fill();
      let isRefused = false;
      // The log may have room in its last file, and the free space is measured once a second.
      const endMs = Date.now() + 30_000;
      while (Date.now() < endMs && !isRefused) {
        const writes = Array.from({ length: 40 }, () => write(++n));
        isRefused = (await Promise.all(writes)).includes(false);
        if (isRefused) await assertShown('at once');
      }
      assert.ok(isRefused, 'never refused');
      await disk.empty();
      await until(
        async () => (await server.http.send('/health')).status === 200,
        'not healthy again',
      );
      for (let more = 0; more < 5; more++) assert.ok(await write(++n));
      await assertShown('when there is room again');
    }
    await sleep(1500); // longer than the age at which rows are flushed
    await assertShown('in files');
    assert.equal(await server.stop(), 0);
    server = await ServerInProcess.start(options());
    await assertShown('after a restart');
  });

  it('is reported by every service, and ends automatically without a lost row', async (t) => {
    server = await ServerProcess.start(options());
    const changes = await changesOfNewApp();
    for (const [name, change] of Object.entries(changes)) {
      const response = await change(1);
      assert.ok(response.status < 300, `${name}: ${response.text}`);
    }
    const rowsTaken = new Set([1]);
    for (let round = 1; round <= 3; round++) {
      await disk.fill();
      for (const [name, change] of Object.entries(changes)) {
        const { refusal, taken } = await untilRefused(change, round * 10_000);
        t.diagnostic(`round ${round}, ${name}: ${taken.length} taken`);
        assert.equal(refusal.status, 503, `${name}: ${refusal.text}\n${server.logText}`);
        assert.match(refusal.text, /[Tt]he server disk is full/, name);
        assert.ok(Number(refusal.headers['retry-after']) > 0, name);
        if (name === 'tsdb') for (const n of taken) rowsTaken.add(n);
      }
      await assertUnhealthy();
      // Queries still work.
      const count = await query(server, {
        db: 'd',
        q: 'SELECT count(*) AS c FROM m',
        format: 'csv',
      });
      assert.ok(Number(count.trim().split('\n')[1]) >= rowsTaken.size);
      if (round === 3) break;
      await disk.empty();
      await until(
        async () => (await server.http.send('/health')).status === 200,
        'not healthy again',
      );
      for (const [name, change] of Object.entries(changes)) {
        const response = await change(round * 10_000 + MAX_WRITES);
        assert.ok(response.status < 300, `${name}: ${response.text}`);
        if (name === 'tsdb') rowsTaken.add(round * 10_000 + MAX_WRITES);
      }
    }
    const metrics = (await server.http.send('/metrics')).text;
    const failures = /^plinth_tsdb_flushes_failed_total (\d+)$/m.exec(metrics)?.[1];
    assert.ok(Number(failures) > 0, 'no flush met the full disk');
    await server.kill();
    await assert.rejects(ServerInProcess.start(options()), (error: unknown) => {
      assert.ok(error instanceof StartFailed && error.code === 1, String(error));
      assert.match(
        error.message,
        /(?:no space left on device|disk is full)\n {2}free some disk space/,
      );
      return true;
    });
    await disk.empty();
    server = await ServerInProcess.start(options());
    const found = await query(server, { db: 'd', q: 'SELECT v FROM m ORDER BY v', format: 'csv' });
    const numbers = found.trim().split('\n').slice(1).map(Number);
    assert.equal(new Set(numbers).size, numbers.length, 'rows are there twice');
    for (const n of rowsTaken) assert.ok(numbers.includes(n), `row ${n} is lost`);
    assert.equal((await server.http.send('/health')).text, 'OK');
    assert.equal(await server.stop(), 0);
  });

  async function assertUnhealthy(): Promise<void> {
    const why = `not ready: ${FULL}`;
    for (const path of ['/health', '/api/v1/health', '/ready']) {
      assertError(await server.http.send(path), 503, why);
    }
    const headers = { accept: 'application/json' };
    const inJson = await server.http.send('/health', { headers });
    assert.equal(inJson.status, 503);
    const { name, status, message } = JSON.parse(inJson.text) as Record<string, unknown>;
    assert.deepEqual(
      { name, status, message },
      { name: 'influxdb', status: 'fail', message: FULL },
    );
    const ready = await server.http.send('/ops/v1/ready');
    assert.equal(ready.status, 503);
    assert.equal((JSON.parse(ready.text) as { message: string }).message, why);
    assert.equal((await server.http.send('/ping')).status, 200);
  }
});

describe('Health', () => {
  it('is reported when everything works, also to operators', async () => {
    await using well = await ServerInProcess.start();
    assert.equal((await well.http.send('/health')).text, 'OK');
    const ready = await well.http.send('/ops/v1/ready');
    assert.equal(ready.status, 200, ready.text);
    assert.equal((JSON.parse(ready.text) as { status: string }).status, 'ready');
    const headers = { accept: 'application/json' };
    const inJson = await well.http.send('/health', { headers });
    const { version, commit } = JSON.parse(inJson.text) as Record<string, string>;
    assertJson(inJson, 200, {
      ...{ name: 'influxdb', message: 'ready for queries and writes', status: 'pass', checks: [] },
      ...{ version, commit },
    });
  });
});
