// Source: docs/formats/commit-log.md, "Reading"; docs/DURABILITY.md, "Recovery".
import assert from 'node:assert/strict';
import { copyFile, mkdtemp, readdir, rename, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCli } from '../harness/cli.js';
import { query, ServerInProcess, StartFailed } from '../harness/index.js';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'plinth-missing-'));
});
afterEach(async () => await rm(dataDir, { recursive: true, force: true }));

const FLAGS = ['--without-auth', '--services=tsdb', '--tsdb-internal-metrics-interval-ms=0'];

const start = async (...flags: string[]): Promise<ServerInProcess> =>
  await ServerInProcess.start({ dataDir, flags: [...FLAGS, ...flags] });

async function written(end: 'stop' | 'kill', n = 1): Promise<void> {
  const server = await start();
  const body = `m v=${n}i ${n}`;
  const response = await server.http.send('/api/v3/write_lp?db=d&precision=s', { body });
  assert.equal(response.status, 204, response.text);
  if (end === 'kill') await server.kill();
  else assert.equal(await server.stop(), 0);
}

async function refusal(): Promise<string> {
  try {
    await (await ServerInProcess.start({ dataDir, flags: FLAGS })).stop();
  } catch (error) {
    if (error instanceof StartFailed) return error.message;
    throw error;
  }
  assert.fail('the server started');
}

const numbers = async (server: ServerInProcess): Promise<string> =>
  (await query(server, { db: 'd', q: 'SELECT v FROM m ORDER BY v', format: 'csv' })).trim();

async function logFiles(): Promise<string[]> {
  const folder = join(dataDir, 'tsdb-log');
  const names = await readdir(folder);
  return names
    .filter((name) => name.endsWith('.log'))
    .sort()
    .map((name) => join(folder, name));
}

/** The server reports the loss when it is started with `--repair`, and reports nothing at all later starts. */
async function repaired(message: string, file: RegExp): Promise<void> {
  const server = await start('--repair');
  const loss = server.logged(message);
  assert.deepEqual([loss?.['kind'], loss?.['level']], ['missing', 'warn']);
  assert.match(String(loss?.['file']), file);
  await server.kill();
  await written('kill', 7);
  const later = await start();
  assert.match(await numbers(later), /^v\n(1\n)?7$/);
  await later.close();
}

describe('A log', () => {
  for (const end of ['stop', 'kill'] as const) {
    it(`without any of its files is not treated as new (${end})`, async () => {
      await written(end);
      // Restarted twice: rows are flushed during the second start, and the new file contains the rows written since then.
      await written(end, 2);
      for (const path of await logFiles()) await rm(path);
      const said = await refusal();
      assert.match(
        said,
        /commit log is corrupt: .*tsdb-log\/\d{12}\.log at offset 0: the file is missing/,
      );
      assert.match(said, /--repair/);
      assert.deepEqual(await logFiles(), [], 'a refused start changes nothing');
    });
  }

  it('without its newest file is incomplete', async () => {
    await written('kill');
    await written('kill', 7);
    const newest = (await logFiles()).at(-1) ?? '';
    await rm(newest);
    assert.match(await refusal(), /the file is missing, and possibly later files/);
    await repaired(
      'this log file is missing; its records, and those of later missing files, are lost',
      /tsdb-log\/\d{12}\.log$/,
    );
  });

  /** Two server runs with a record each, both in log files; `atFirstStop` is called between them. */
  async function twoRuns(atFirstStop?: () => Promise<void>): Promise<[string, string]> {
    await written('stop');
    await atFirstStop?.();
    await written('stop', 2);
    const [first = '', second = '', ...others] = await logFiles();
    assert.deepEqual(others, []);
    return [first, second];
  }

  const older = (): string => join(dataDir, 'plinth.db.older');
  for (const [what, damage, why, rows] of [
    [
      'without its oldest file',
      async () => await rm((await twoRuns())[0]),
      /000002\.log at offset 0: records missing before this file: 1/,
      'v\n2',
    ],
    [
      'whose newest file is cut to its header',
      async () => await truncate((await twoRuns())[1], 64),
      /000002\.log at offset 64: records missing after the last one: 1;/,
      'v\n1',
    ],
    [
      'that is newer than plinth.db',
      async () => {
        await twoRuns(async () => await copyFile(join(dataDir, 'plinth.db'), older()));
        await rename(older(), join(dataDir, 'plinth.db'));
      },
      /000002\.log at offset 0: it was written after plinth\.db, which is an older copy/,
      'v\n1\n2',
    ],
  ] as const) {
    it(`${what} after a clean stop is refused, and found by verify`, async () => {
      await damage();
      const message = await refusal();
      assert.match(message, why);
      assert.match(message, /--repair/);
      const verified = await runCli(['verify', '--data-dir', dataDir]);
      assert.equal(verified.code, 1, verified.stdout);
      assert.match(verified.stderr, why);
      const server = await start('--repair');
      assert.equal(await numbers(server), rows);
      await server.kill();
      const again = await start();
      assert.equal(await numbers(again), rows);
      await again.close();
    });
  }

  it('of a restored backup is complete, with and without earlier writes', async () => {
    for (const n of [1, 0]) {
      const server = await start();
      if (n > 0) {
        const body = `m v=${n}i ${n}`;
        await server.http.send('/api/v3/write_lp?db=d&precision=s', { body });
      }
      const out = `${dataDir}-backup`;
      const made = await runCli(['backup', '--host', server.url, '--to', out]);
      assert.equal(made.code, 0, made.stderr);
      await server.kill();
      await rm(dataDir, { recursive: true });
      const back = await runCli(['restore', '--from', out, '--data-dir', dataDir]);
      assert.equal(back.code, 0, back.stderr);
      const again = await start();
      assert.equal((await again.http.send('/health')).status, 200);
      await again.close();
      await rm(out, { recursive: true });
      await rm(dataDir, { recursive: true });
    }
  });
});

describe('A journal of the relational store', () => {
  const wal = (): string => join(dataDir, 'plinth.db-wal');
  const store = (): string => join(dataDir, 'plinth.db');

  for (const [what, damage] of [
    ['is gone', () => rm(wal())],
    ['is empty', () => truncate(wal(), 0)],
    ['has a head alone', () => truncate(wal(), 32)],
  ] as const) {
    it(`that ${what} after a kill is not treated as empty`, async () => {
      await written('kill');
      await damage();
      const said = await refusal();
      assert.match(
        said,
        /relational store is corrupt: .*plinth\.db-wal at offset 0: the journal is missing or empty/,
      );
      assert.match(said, /--repair/);
      assert.match(
        await refusal(),
        /the journal is missing or empty/,
        'a refused start changes nothing',
      );
    });
  }

  for (const [what, damage] of [
    ['missing', () => rm(store())],
    ['empty', () => truncate(store(), 0)],
  ] as const) {
    it(`whose database is ${what} after a clean stop is not a new one`, async () => {
      await written('stop');
      await damage();
      const message = await refusal();
      assert.match(message, /plinth\.db is missing or empty in a used data folder/);
      assert.match(message, /--repair/);
      const verified = await runCli(['verify', '--data-dir', dataDir]);
      assert.equal(verified.code, 1, verified.stdout);
      await (await start('--repair')).close();
    });
  }

  it('can be dropped by a repair', async () => {
    await written('kill');
    await rm(wal());
    await repaired('relational store transactions were lost', /plinth\.db-wal$/);
  });

  it('that a clean stop has removed is not reported as missing', async () => {
    await written('stop');
    assert.deepEqual(
      (await readdir(dataDir)).filter((name) => /^plinth\.db-/.test(name)),
      [],
    );
    const server = await start();
    assert.equal(await numbers(server), 'v\n1');
    await server.close();
  });
});

it('reports not ready while its folder is missing, and loses no acknowledged data when it is back', async () => {
  const server = await start();
  const write = (n: number) =>
    server.http.send('/api/v3/write_lp?db=d&precision=s', { body: `m v=${n}i ${n}` });
  assert.equal((await write(1)).status, 204);
  assert.equal((await server.http.send('/ready')).status, 200);
  await rename(dataDir, `${dataDir}-moved`);
  await sleep(1100); // A check is cached for a second.
  const away = await server.http.send('/ready');
  assert.equal(away.status, 503);
  assert.match(away.text, /the data folder was removed, moved or hidden/);
  await rename(`${dataDir}-moved`, dataDir);
  await sleep(1100);
  assert.equal((await server.http.send('/ready')).status, 200);
  assert.equal((await write(2)).status, 204);
  await server.kill();
  const again = await start();
  assert.equal(await numbers(again), 'v\n1\n2');
  assert.equal(await again.stop(), 0);
});
