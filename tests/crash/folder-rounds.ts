import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Chance, query, ServerInProcess, ServerProcess, StartFailed } from '../harness/index.js';

/** Flushes and new log files happen all the time; the server's own metrics would only disturb. */
const FLAGS = [
  '--without-auth',
  ...['--tsdb-buffer-flush-bytes', '65536', '--tsdb-buffer-flush-age-ms', '200'],
  ...['--tsdb-internal-metrics-interval-ms', '0'],
];
const ROWS_PER_REQUEST = 10;
/** Interval between attempts to start while the first server closes. */
const NEXT_TRY_MS = 30;

export interface FolderRounds {
  readonly seed: number;
  readonly roundCount: number;
  readonly report: (line: string) => void;
}

/** Situations in which other servers try to replace the running one. */
const EVENTS = ['same port', 'other port', 'repair', 'killed', 'closing', 'together'] as const;

/** Starts competing servers on one folder. Only one may serve, and the rows that it acknowledged must exist exactly once. */
export async function runFolderRounds({ seed, roundCount, report }: FolderRounds): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plinth-one-folder-'));
  const chance = new Chance(seed);
  const writer = new RowWriter();
  let server = await start(folder);
  try {
    for (let round = 1; round <= roundCount; round++) {
      // The first rounds use each kind once, later ones a random kind.
      const event = EVENTS[round - 1] ?? chance.pick(EVENTS);
      const over = new AbortController();
      const writing = writer.writeUntil(server, over.signal);
      await sleep(chance.between(50, 400));
      const next = await succeed(server, event, { folder, chance });
      over.abort();
      await writing;
      server = next;
      report(`seed ${seed}, round ${round} of ${roundCount}: ${event}, ${writer.rowCount} rows`);
      await writer.verify(server);
    }
    assert.equal(await server.stop(), 0, server.logText);
  } catch (error) {
    report(`seed ${seed} failed; its folder stays in ${folder}`);
    throw error;
  } finally {
    await server.kill();
  }
  await rm(folder, { recursive: true, force: true });
}

/** @returns the server that runs afterwards. */
async function succeed(
  server: ServerProcess,
  event: (typeof EVENTS)[number],
  { folder, chance }: { readonly folder: string; readonly chance: Chance },
): Promise<ServerProcess> {
  switch (event) {
    case 'same port':
      await assertRefused(server, folder, ['--http-bind', server.url.replace('http://', '')]);
      return server;
    case 'other port':
      await assertRefused(server, folder, []);
      return server;
    case 'repair':
      await assertRefused(server, folder, ['--tsdb-repair']);
      return server;
    case 'killed':
      await server.kill();
      return await start(folder);
    case 'closing': {
      server.signal('SIGTERM');
      await sleep(chance.between(0, 150));
      return await startWhenFree(server, folder);
    }
    case 'together': {
      await server.kill();
      return await onlyOne(folder);
    }
  }
}

const start = (dataDir: string): Promise<ServerProcess> =>
  ServerProcess.start({ dataDir, flags: FLAGS });

async function assertRefused(
  holder: ServerProcess,
  folder: string,
  more: readonly string[],
): Promise<void> {
  const failure = await ServerInProcess.start({ dataDir: folder, flags: [...FLAGS, ...more] }).then(
    async (second) => {
      await second.kill();
      assert.fail('a second server runs on the folder');
    },
    (error: unknown) => error,
  );
  assertFolderInUse(failure, folder, holder.pid);
}

/** Asserts that startup failed with the name of the folder and of the process that has locked it. */
export function assertFolderInUse(failure: unknown, folder: string, pid: number): void {
  assert.ok(failure instanceof StartFailed, String(failure));
  assert.equal(failure.code, 1, failure.message);
  assert.ok(
    failure.message.includes(`the folder ${folder} is in use by another process (pid ${pid})`),
    failure.message,
  );
}

/** Acts like a supervisor that does not wait until the first server has exited. */
async function startWhenFree(closing: ServerProcess, folder: string): Promise<ServerProcess> {
  for (;;) {
    try {
      const next = await start(folder);
      await assert.rejects(closing.http.send('/ping'), 'two servers answer');
      assert.match(closing.logText, /"msg":"server closed"/, 'the first still writes');
      return next;
    } catch (error) {
      if (!(error instanceof StartFailed)) throw error;
      assert.match(error.message, /is in use by another process/);
      await sleep(NEXT_TRY_MS);
    }
  }
}

async function onlyOne(folder: string): Promise<ServerProcess> {
  const outcomes = await Promise.allSettled([start(folder), start(folder)]);
  const started = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failures = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  const [server, ...others] = started;
  for (const other of others) await other.kill();
  assert.ok(server !== undefined && others.length === 0, `${started.length} started`);
  // The owner may not have written its name yet.
  assert.match(String(failures[0]), /is in use by another process/);
  return server;
}

/** Writes numbered rows. Rows acknowledged with 204 must be present; rows without a response may be. */
class RowWriter {
  readonly #acknowledged = new Set<number>();
  readonly #unknown = new Set<number>();
  #next = 0;

  get rowCount(): number {
    return this.#acknowledged.size;
  }

  async writeUntil(server: ServerProcess, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const numbers = Array.from({ length: ROWS_PER_REQUEST }, () => this.#next++);
      const body = numbers.map((n) => `m n=${n}i ${n}`).join('\n');
      try {
        const response = await server.http.send('/api/v3/write_lp?db=d&precision=s', { body });
        if (response.status === 204) for (const n of numbers) this.#acknowledged.add(n);
        else assert.equal(response.status, 503, response.text);
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        for (const n of numbers) this.#unknown.add(n);
        return;
      }
    }
  }

  async verify(server: ServerProcess): Promise<void> {
    if (this.rowCount === 0) return;
    const q = 'SELECT n FROM m ORDER BY n';
    const found = (await query(server, { db: 'd', q, format: 'csv' })).trim().split('\n').slice(1);
    const numbers = new Set(found.map(Number));
    assert.equal(numbers.size, found.length, 'rows are there twice');
    for (const n of this.#acknowledged) assert.ok(numbers.has(n), `acknowledged row ${n} is lost`);
    for (const n of numbers) {
      assert.ok(this.#acknowledged.has(n) || this.#unknown.has(n), `row ${n} is nobody's`);
    }
    const count = await query(server, { db: 'd', q: 'SELECT count(*) AS c FROM m', format: 'csv' });
    assert.equal(count.trim(), `c\n${found.length}`);
  }
}
