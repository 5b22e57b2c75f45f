// Source: docs/adr/0003, "The file is checked"; docs/DATA-RECOVERY.md, "Recover from corrupt files".
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCli } from '../harness/cli.js';
import { query, ServerInProcess, StartFailed, write } from '../harness/index.js';

let dataDir: string;
let path: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'plinth-catalog-'));
  path = join(dataDir, 'plinth.db');
});
afterEach(async () => await rm(dataDir, { recursive: true, force: true }));

const optionsOf = (flags: readonly string[]) => ({
  dataDir,
  flags: ['--without-auth', '--tsdb-internal-metrics-interval-ms=0', ...flags],
});
const start = async (...flags: string[]): Promise<ServerInProcess> =>
  await ServerInProcess.start(optionsOf(flags));

const numbers = async (server: ServerInProcess): Promise<string> =>
  (await query(server, { db: 'd', q: 'SELECT v FROM m ORDER BY v', format: 'csv' })).trim();

async function refusal(...flags: string[]): Promise<string> {
  try {
    await (await ServerInProcess.start(optionsOf(flags))).stop();
  } catch (error) {
    if (error instanceof StartFailed) return error.message;
    throw error;
  }
  assert.fail('the server started');
}

/**
 * Inverts nine bytes in the header of the first page with table rows. Source: sqlite.org/fileformat2.html, sections
 * 1.3.2 (page size) and 1.6 (13: a leaf of a table).
 */
async function spoilRows(): Promise<void> {
  const bytes = await readFile(path);
  const pageSize = bytes.readUInt16BE(16);
  let from = pageSize;
  while (bytes[from] !== 13) from += pageSize;
  for (let at = from; at < from + 9; at++) bytes[at] = (bytes[at] ?? 0) ^ 0xff;
  await writeFile(path, bytes);
}

async function stopped(...flags: string[]): Promise<void> {
  const server = await ServerInProcess.start(optionsOf(flags));
  await write(server, { db: 'd' }, 'm v=1i 1');
  assert.equal(await server.stop(), 0);
}

describe('A corrupt plinth.db', () => {
  it('stops the start and is found by verify; both name the file, the consequence and the fix', async () => {
    await stopped();
    await spoilRows();
    const said = await refusal();
    assert.ok(said.includes(`relational store is corrupt: ${path}: `), said);
    assert.match(said, /All services keep their state in this file/);
    assert.match(said, /plinth snapshot/);
    const verified = await runCli(['verify', '--data-dir', dataDir]);
    assert.equal(verified.code, 1);
    assert.ok(verified.stderr.includes(`${path}: `), verified.stderr);
    assert.match(verified.stderr, /plinth snapshot/);
    // Unreadable rows may be deletions: without them, deleted rows would reappear.
    const repair = await refusal('--repair');
    assert.match(
      repair,
      /it cannot be rebuilt, because rows are affected[\s\S]*Restore a snapshot/,
    );
    assert.doesNotMatch(repair, /start once with --repair/, 'it was started with --repair');
  });

  it('is also named when it is not a database at all', async () => {
    await stopped();
    const bytes = await readFile(path);
    await writeFile(path, bytes.fill(0xee, 0, 100));
    assert.ok((await refusal()).includes(`relational store is corrupt: ${path}: `));
  });
});

describe('Snapshots of plinth.db', () => {
  const names = async (): Promise<string[]> =>
    (await readdir(join(dataDir, 'snapshots')).catch(() => [])).sort();

  it('are created after a change, three are kept, and one replaces a corrupt file', async () => {
    const server = await start('--server-catalog-snapshot-interval-sec=1');
    await write(server, { db: 'd' }, 'm v=1i 1');
    const seen = new Set<string>();
    for (let round = 0; round < 60 && seen.size < 4; round++) {
      // A new database is a change of the catalog.
      await write(server, { db: `d${round}` }, 'm v=1i 1');
      await sleep(500);
      for (const name of await names()) if (name.endsWith('.db')) seen.add(name);
    }
    assert.ok(seen.size >= 4, `${seen.size} snapshots`);
    assert.equal(await server.stop(), 0);
    const kept = await names();
    assert.equal(kept.length, 3);
    for (const name of kept) {
      assert.equal((await stat(join(dataDir, 'snapshots', name))).mode & 0o777, 0o600);
    }
    assert.equal((await stat(join(dataDir, 'snapshots'))).mode & 0o777, 0o700);
    await spoilRows();
    await refusal();
    const listed = await runCli(['snapshot', '--data-dir', dataDir]);
    assert.deepEqual(
      listed.stdout
        .trim()
        .split('\n')
        .map((line) => line.split(':')[0]),
      kept,
    );
    const wrong = await runCli(['snapshot', '--data-dir', dataDir, '--restore', 'plinth.db']);
    assert.equal(wrong.code, 1);
    assert.ok(wrong.stderr.includes(`use one of ${kept.join(', ')}`), wrong.stderr);
    const newest = kept.at(-1) ?? '';
    const restored = await runCli(['snapshot', '--data-dir', dataDir, '--restore', newest]);
    assert.equal(restored.stdout, `${path}: restored from ${newest}\n`, restored.stderr);
    const again = await start();
    assert.equal(await numbers(again), 'v\n1');
    const busy = await runCli(['snapshot', '--data-dir', dataDir, '--restore', newest]);
    assert.match(busy.stderr, /is in use by another process/);
    assert.equal(await again.stop(), 0);
  });

  it('are not restored when they are corrupt', async () => {
    const server = await start('--server-catalog-snapshot-interval-sec=1');
    await write(server, { db: 'd' }, 'm v=1i 1');
    for (
      let round = 0;
      round < 60 && !(await names()).some((name) => name.endsWith('.db'));
      round++
    )
      await sleep(500);
    assert.equal(await server.stop(), 0);
    const [name = ''] = await names();
    const snapshot = join(dataDir, 'snapshots', name);
    const bytes = await readFile(snapshot);
    await writeFile(snapshot, bytes.fill(0xee, bytes.length >> 1));
    const before = await readFile(path);
    const restored = await runCli(['snapshot', '--data-dir', dataDir, '--restore', name]);
    assert.equal(restored.code, 1);
    assert.match(restored.stderr, /is corrupt: /);
    assert.deepEqual(await readFile(path), before);
  });
});
