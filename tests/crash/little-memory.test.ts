// Source: docs/SIZING.md, "Little memory": reading a long log at startup needs no more memory than the writes needed.
// Own process: its memory is limited.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type OwnServer, query, ServerInProcess, ServerProcess } from '../harness/index.js';
import { SmallMemory } from './small-memory.js';

const LIMIT_BYTES = 300 * 1024 * 1024;
const LOG_BYTES = 61_000_000;
const LINES_PER_WRITE = 5000;
const MAX_WRITES = 1000;
/** Columns are loaded and queries are compiled after the start, which takes memory as well. */
const AFTER_FLUSH_MS = 2000;
const WAIT_MS = 100;
const MAX_WAITS = 600;

/** Keeps all rows in memory and in the log. */
const UNFLUSHED = [
  ...['--tsdb-memory-bytes', '1gb', '--tsdb-buffer-flush-bytes', '1gb'],
  ...['--tsdb-buffer-limit-bytes', '2gb', '--tsdb-buffer-flush-age-ms', '3600000'],
];

async function sizeOf(folder: string): Promise<number> {
  let sum = 0;
  for (const name of await readdir(folder)) sum += (await stat(join(folder, name))).size;
  return sum;
}

/** @returns the count of rows */
async function writeLog(server: OwnServer, logFolder: string): Promise<number> {
  let count = 0;
  for (let n = 0; n < MAX_WRITES && (await sizeOf(logFolder)) < LOG_BYTES; n++) {
    const lines = Array.from({ length: LINES_PER_WRITE }, () => {
      const time = 1_700_000_000_000n + BigInt(++count);
      const text = `text ${count % 977}`;
      return `cpu,host=h${count % 500} a=${(count * 0.37) % 100},b=${1 / count},c=${count}i,d="${text}" ${time}`;
    });
    const path = '/api/v3/write_lp?db=d&precision=ms';
    const response = await server.http.send(path, { body: lines.join('\n') });
    assert.equal(response.status, 204, response.text);
  }
  return count;
}

it('starts with a log of 61 MB in 300 MiB of memory, and warns', async (t) => {
  const memory = await SmallMemory.limit(LIMIT_BYTES);
  if (memory === undefined) return t.skip('needs to limit memory: cgroups of Linux, and root');
  const dataDir = await mkdtemp(join(tmpdir(), 'plinth-little-memory-'));
  let server: ServerProcess | undefined;
  try {
    const writing = await ServerInProcess.start({
      dataDir,
      flags: ['--without-auth', ...UNFLUSHED],
    });
    const logFolder = join(dataDir, 'tsdb-log');
    const count = await writeLog(writing, logFolder).finally(() => writing.kill());
    assert.ok((await sizeOf(logFolder)) >= LOG_BYTES);

    server = await ServerProcess.start({ dataDir, limits: memory.command });
    const isMoved = async (): Promise<boolean> => (await sizeOf(logFolder)) < LOG_BYTES / 2;
    for (let left = MAX_WAITS; left > 0 && server.isRunning && !(await isMoved()); left--)
      await sleep(WAIT_MS);
    await sleep(AFTER_FLUSH_MS);
    assert.ok(server.isRunning, `ended after its start\n${server.logText}`);
    const found = await query(server, {
      ...{ db: 'd', format: 'csv' },
      q: 'SELECT count(*) AS n, sum(c) AS c FROM cpu',
    });
    assert.equal(found.trim().split('\n')[1], `${count},${(count * (count + 1)) / 2}`);
    assert.ok(await isMoved(), 'rows were moved to files');
    const warned = server.logged(
      'low memory: the operating system may kill the server under load; raise the limit or lower tsdb.memory_bytes',
    );
    assert.equal(warned?.['memoryBytes'], LIMIT_BYTES, server.logText);
    assert.equal(warned?.['neededBytes'], 128 * 1024 * 1024 + 600_000_000);
    assert.equal(await server.stop(), 0);
  } finally {
    await server?.kill();
    await memory.remove();
    await rm(dataDir, { recursive: true, force: true });
  }
});
