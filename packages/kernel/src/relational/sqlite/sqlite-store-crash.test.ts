import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeEach, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { SystemClock } from '../../clock/system-clock.js';
import { NodeFileSystem } from '../../fs/node-file-system.js';
import { temporaryFolder } from '../../testing/temporary-folder.js';
import { openRelationalStore } from './sqlite-store.js';

const WRITER_COUNT = '16';
/** Killing processes is slow, so there are few rounds, each with many transactions. */
const ROUND_COUNT = 3;
const ACKNOWLEDGED_BEFORE_KILL = 300;

const WRITERS = fileURLToPath(new URL('../testing/pair-writers.js', import.meta.url));

let directory: string;
beforeEach(async () => {
  directory = await temporaryFolder();
});

/** The number of halves of each pair. Checks the integrity of the database. */
async function readPairs(path: string): Promise<ReadonlyMap<string, number>> {
  const clock = new SystemClock();
  const store = await openRelationalStore({ path, clock, fileSystem: new NodeFileSystem() });
  const reader = store.reader<Record<never, never>>();
  const check = await sql<{ integrity_check: string }>`PRAGMA integrity_check`.execute(reader);
  assert.deepEqual(check.rows, [{ integrity_check: 'ok' }]);
  const { rows } = await sql<{ name: string; count: number | bigint }>`
    SELECT name, count(*) AS count FROM pairs GROUP BY name`.execute(reader);
  await store.close();
  return new Map(rows.map(({ name, count }) => [name, Number(count)]));
}

function assertKept(pairs: ReadonlyMap<string, number>, acknowledged: readonly string[]): void {
  for (const name of acknowledged) assert.equal(pairs.get(name), 2, `acknowledged ${name}`);
  for (const [name, count] of pairs) assert.equal(count, 2, `half of ${name}`);
}

it('keeps every resolved transaction, and no partial one, when the process is killed', async () => {
  const path = join(directory, 'plinth.db');
  const acknowledged: string[] = [];
  for (let round = 0; round < ROUND_COUNT; round++) {
    const child = spawn(process.execPath, [WRITERS, path, String(round), WRITER_COUNT], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exit = once(child, 'exit');
    const before = acknowledged.length;
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.endsWith(';')) acknowledged.push(line.slice(0, -1));
      if (acknowledged.length - before >= ACKNOWLEDGED_BEFORE_KILL) child.kill('SIGKILL');
    }
    assert.deepEqual(await exit, [null, 'SIGKILL']);
    assertKept(await readPairs(path), acknowledged);
  }
});

it('rejects transactions on a full disk, and keeps the others', {
  // A file size limit simulates a full disk: the write fails in the same place.
  skip: process.platform === 'win32' && 'needs ulimit',
}, async () => {
  const path = join(directory, 'plinth.db');
  const command = 'ulimit -f 600; trap "" XFSZ; exec "$@"';
  const writers = [process.execPath, WRITERS, path, '0', WRITER_COUNT];
  const child = spawn('bash', ['-c', command, 'bash', ...writers], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) lines.push(line.slice(0, -1));
  assert.deepEqual(await exit, [0, null]);
  const failed = lines.filter((line) => line.startsWith('failed '));
  assert.equal(failed.length, Number(WRITER_COUNT));
  for (const line of failed) assert.match(line, /^failed (statement_failed|store_unusable)$/);
  assertKept(
    await readPairs(path),
    lines.filter((line) => !line.startsWith('failed ')),
  );
});
