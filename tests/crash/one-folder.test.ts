// Source: docs/adr/0075-data-folder-lock.md. Own process: servers compete for a folder, and are killed.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { runCli } from '../harness/cli.js';
import {
  query,
  type RunningServer,
  ServerInProcess,
  ServerProcess,
  StartFailed,
} from '../harness/index.js';
import { assertFolderInUse, runFolderRounds } from './folder-rounds.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plinth-one-folder-'));
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

/** Names, sizes, permissions and contents of all files. */
async function stateOf(root: string): Promise<readonly string[]> {
  const names = (await readdir(root, { recursive: true })).sort();
  return await Promise.all(
    names.map(async (name) => {
      const path = join(root, name);
      const { size, mode, ino, mtimeMs } = await stat(path);
      const isFolder = (mode & 0o170000) === 0o040000;
      const sum = isFolder
        ? ''
        : createHash('sha256')
            .update(await readFile(path))
            .digest('hex');
      return [name, ino, mode.toString(8), mtimeMs, isFolder ? '' : size, sum].join(' ');
    }),
  );
}

/** Returns the state after a suspended process has finished its current system call. */
async function restOf(path: string): Promise<readonly string[]> {
  let last = await stateOf(path);
  for (let tries = 0; tries < 100; tries++) {
    await sleep(100);
    const state = await stateOf(path);
    if (isDeepStrictEqual(state, last)) return state;
    last = state;
  }
  assert.fail('the folder does not come to rest');
}

async function write(server: RunningServer, n: number): Promise<void> {
  const response = await server.http.send('/api/v3/write_lp?db=d&precision=s', {
    body: `m v=${n}i ${n}`,
  });
  assert.equal(response.status, 204, response.text);
}

async function failedStart(
  harness: typeof ServerInProcess | typeof ServerProcess,
  ...flags: string[]
): Promise<StartFailed> {
  try {
    const server = await harness.start({
      dataDir: folder,
      flags: ['--without-auth', ...flags],
    });
    await server.kill();
  } catch (error) {
    if (error instanceof StartFailed) return error;
    throw error;
  }
  assert.fail('the server started');
}

describe('A second server on a folder', () => {
  it('ends at once and names the folder and its owner, and the first continues', async () => {
    await using first = await ServerProcess.start({ dataDir: folder });
    await write(first, 1);
    const bind = first.url.replace('http://', '');
    assertFolderInUse(await failedStart(ServerProcess), folder, first.pid);
    for (const flags of [['--http-bind', bind], ['--tsdb-repair']]) {
      assertFolderInUse(await failedStart(ServerInProcess, ...flags), folder, first.pid);
    }
    await write(first, 2);
    await first.kill();
    await using next = await ServerInProcess.start({ dataDir: folder });
    const found = await query(next, { db: 'd', q: 'SELECT v FROM m ORDER BY v', format: 'csv' });
    assert.equal(found.trim(), 'v\n1\n2');
  });

  it('changes nothing there', async () => {
    const first = await ServerProcess.start({ dataDir: folder });
    try {
      await write(first, 1);
      first.signal('SIGSTOP'); // No other process may change the folder in the meantime.
      const before = await restOf(folder);
      assertFolderInUse(await failedStart(ServerInProcess), folder, first.pid);
      assert.deepEqual(await stateOf(folder), before);
    } finally {
      first.signal('SIGCONT');
      await first.kill();
    }
  });
});

describe('A start whose port is taken', () => {
  it('leaves the log of a killed server and everything else as it was', async () => {
    const first = await ServerInProcess.start({ dataDir: folder });
    await write(first, 1);
    await first.kill();
    const before = await stateOf(folder);
    const other = createServer().listen(0, '127.0.0.1');
    try {
      await new Promise((resolve) => other.once('listening', resolve));
      const address = other.address();
      assert.ok(typeof address === 'object' && address !== null);
      const taken = `127.0.0.1:${address.port}`;
      const inTheWay = [
        ['--http-bind', taken],
        ['--rate-limit-envoy-port', String(address.port)],
      ];
      for (const flags of inTheWay) {
        const failure = await failedStart(ServerInProcess, ...flags);
        assert.equal(failure.code, 1, failure.message);
        assert.ok(failure.message.includes(`${taken} is already in use`), failure.message);
        assert.deepEqual(await stateOf(folder), before);
      }
    } finally {
      other.close();
    }
    await using next = await ServerInProcess.start({ dataDir: folder });
    const found = await query(next, { db: 'd', q: 'SELECT v FROM m', format: 'csv' });
    assert.equal(found.trim(), 'v\n1');
  });
});

describe('A restore', () => {
  it('locks its folder, and fails when a server holds the lock', async () => {
    const backup = `${folder}-backup`;
    const target = `${folder}-target`;
    try {
      const server = await ServerInProcess.start({ dataDir: folder });
      await write(server, 1);
      const copied = await runCli(['backup', '--to', backup, '--host', server.url]);
      assert.equal(copied.code, 0, copied.stderr);
      const refused = await runCli(['restore', '--from', backup, '--data-dir', folder]);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /is not empty/);
      await server.kill();

      const args = ['restore', '--from', backup, '--data-dir', target];
      const both = await Promise.all([runCli(args), runCli(args)]);
      assert.deepEqual(both.map(({ code }) => code).sort(), [0, 1], JSON.stringify(both));
      const failed = both.find(({ code }) => code === 1);
      assert.match(failed?.stderr ?? '', /is in use by another process|is not empty/);
      await using restored = await ServerInProcess.start({ dataDir: target });
      const found = await query(restored, { db: 'd', q: 'SELECT v FROM m', format: 'csv' });
      assert.equal(found.trim(), 'v\n1');
    } finally {
      for (const each of [backup, target]) await rm(each, { recursive: true, force: true });
    }
  });
});

describe('Servers that come and go', () => {
  it('serve one at a time, with every acknowledged row once', async (t) => {
    const seed = Number(process.env['PLINTH_CRASH_SEED'] ?? Date.now() % 1_000_000);
    await runFolderRounds({ seed, roundCount: 6, report: (line) => t.diagnostic(line) });
  });
});
