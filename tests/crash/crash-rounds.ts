import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Chance,
  type OwnServer,
  ServerInProcess,
  ServerProcess,
  StartFailed,
} from '../harness/index.js';
import { BulkWriter } from './bulk-writer.js';
import { differences, type Fields, type Points } from './points.js';
import { UnsyncedWriter } from './unsynced-writer.js';
import { pointKey, TABLES, Writer } from './writer.js';

const WRITER_COUNT = 3;
/** Low thresholds, so that flushes, compactions and new log files happen all the time. */
const FLAGS = [
  '--without-auth',
  ...['--tsdb-buffer-flush-bytes', '131072', '--tsdb-buffer-flush-age-ms', '150'],
  // Stopping must complete, regardless of the time it takes.
  ...['--log-level', 'info', '--tsdb-query-threads', '2', '--shutdown-timeout', '120000'],
];
const LEFT_IN_LOG = 'rows remain in the log and are restored at the next startup';

/** Interval of the wait for the first response of a round. */
const WAIT_MS = 50;
const MAX_WAITS = 200;

export interface CrashOptions {
  readonly seed: number;
  readonly roundCount: number;
  readonly report: (line: string) => void;
}

/** Works on one data folder. Each round consists of load, a kill, a restart and a check. */
export async function runCrashRounds({ seed, roundCount, report }: CrashOptions): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'plinth-crash-'));
  const rounds = new CrashRounds(dataDir, seed);
  try {
    for (let round = 1; round <= roundCount; round++) {
      const outcome = await rounds.run();
      report(`seed ${seed}, round ${round} of ${roundCount}: ${outcome}`);
    }
    await rounds.finish();
  } catch (error) {
    report(`seed ${seed} failed; its folder stays in ${dataDir}`);
    throw error;
  }
  await rm(dataDir, { recursive: true, force: true });
}

class CrashRounds {
  readonly #dataDir: string;
  readonly #chance: Chance;
  readonly #writers: readonly Writer[];
  readonly #unsynced = new UnsyncedWriter();
  readonly #bulk = new BulkWriter();
  #isAllFlushed = false;

  constructor(dataDir: string, seed: number) {
    this.#dataDir = dataDir;
    this.#chance = new Chance(seed);
    this.#writers = Array.from(
      { length: WRITER_COUNT },
      (_, i) => new Writer(`w${i}`, new Chance(seed * 31 + i)),
    );
  }

  async run(): Promise<string> {
    const diedCount = await this.#killWhileStarting();
    const server = await ServerProcess.start(this.#options);
    try {
      this.#checkRestored(server);
      const pointCount = await this.#verify(server);
      const end = await this.#loadAndEnd(server);
      return `${pointCount} points right, killed ${diedCount} starts, then ${end}`;
    } finally {
      await server.kill();
    }
  }

  async finish(): Promise<void> {
    await using server = await ServerInProcess.start(this.#options);
    this.#checkRestored(server);
    await this.#verify(server);
    assert.equal(await server.stop(), 0);
  }

  get #options() {
    return { dataDir: this.#dataDir, flags: FLAGS };
  }

  #checkRestored(server: OwnServer): void {
    if (this.#isAllFlushed) {
      const replayed = server.logged('rows restored from the log');
      assert.equal(replayed, undefined, 'after an orderly stop nothing is left to replay');
    }
    this.#isAllFlushed = false;
  }

  /** Sometimes several starts in a row are killed during recovery. */
  async #killWhileStarting(): Promise<number> {
    let count = 0;
    while (this.#chance.happens(0.25)) {
      const signal = AbortSignal.timeout(this.#chance.between(250, 900));
      try {
        const server = await ServerProcess.start({ ...this.#options, signal });
        await server.kill();
      } catch (error) {
        if (!(error instanceof StartFailed)) throw error;
        assert.equal(error.code, null, error.message);
      }
      this.#isAllFlushed = false;
      count += 1;
    }
    return count;
  }

  async #loadAndEnd(server: ServerProcess): Promise<string> {
    let isOver = false;
    // A large request delays the others, so most rounds have none.
    const bulk = this.#chance.happens(0.3) ? [this.#bulk] : [];
    const all = [...this.#writers, this.#unsynced, ...bulk];
    const load = Promise.all(all.map((writer) => writer.writeUntilGone(server.http, () => isOver)));
    const readers = queryUntilGone(server, () => isOver);
    await Promise.race([this.#someTimeOfLoad(), load]);
    const isOrderly = this.#chance.happens(0.15);
    isOver = isOrderly;
    if (isOrderly) {
      assert.equal(await server.stop(), 0, server.logText);
      // On a busy machine, rows that are not yet in files remain in the log at shutdown, which is logged.
      this.#isAllFlushed = server.logged(LEFT_IN_LOG) === undefined;
    } else await server.kill();
    isOver = true;
    await Promise.all([load, readers]);
    return isOrderly ? 'stopped in order' : 'killed';
  }

  /**
   * On a busy machine, the first response can take longer than an entire round on another machine. A round without a
   * response proves nothing.
   */
  async #someTimeOfLoad(): Promise<void> {
    const countResponses = (): number =>
      this.#writers.reduce((sum, { acknowledgedCount }) => sum + acknowledgedCount, 0);
    const before = countResponses();
    for (let wait = 0; wait < MAX_WAITS && countResponses() === before; wait++)
      await sleep(WAIT_MS);
    await sleep(this.#chance.between(150, 600));
  }

  async #verify(server: OwnServer): Promise<number> {
    assert.equal((await server.http.send('/health')).status, 200);
    const actual = new Map<string, Points>(this.#writers.map(({ name }) => [name, new Map()]));
    let rowCount = 0;
    for (const table of TABLES) rowCount += await readTable(server, table, actual);
    for (const writer of this.#writers) {
      const found = writer.settle(actual.get(writer.name) ?? new Map(), differences);
      const log = server.logText;
      assert.equal(
        found.length,
        0,
        `${found.length} faults\n${found.slice(0, 12).join('\n')}\n${log}`,
      );
    }
    this.#unsynced.settle(await countsByRequest(server, 'loose'));
    this.#bulk.settle(await countsByRequest(server, 'bulk'));
    return rowCount;
  }
}

/** Counts the rows of a table by field `n`, the number of the request that wrote them. */
async function countsByRequest(
  server: OwnServer,
  table: string,
): Promise<ReadonlyMap<number, number>> {
  const rows = await query(server, `SELECT n, count(*) AS c FROM ${table} GROUP BY n`, table);
  return new Map(rows.map((row) => [Number(row['n']), Number(row['c'])]));
}

/** Adds each row to the points of its writer. Fails if a point is returned twice. */
async function readTable(
  server: OwnServer,
  table: string,
  into: ReadonlyMap<string, Points>,
): Promise<number> {
  const rows = await query(server, `SELECT * FROM "${table}"`, table);
  for (const { writer, host, dc, time, ...values } of rows) {
    const name = String(writer);
    const key = pointKey(
      table,
      { writer: name, host: String(host), dc: String(dc ?? '') },
      String(time),
    );
    const points = into.get(name);
    assert.ok(points !== undefined, `a row of nobody: ${key}`);
    assert.ok(!points.has(key), `twice there: ${key}`);
    const present = Object.entries(values).filter(([, value]) => value !== null);
    points.set(key, Object.fromEntries(present) as Fields); // JSON of numbers, strings and booleans
  }
  const [count] = await query(server, `SELECT count(*) AS c FROM "${table}"`, table);
  assert.equal(count?.['c'] ?? 0, rows.length, `count(*) of ${table}`);
  return rows.length;
}

async function query(
  server: OwnServer,
  q: string,
  table: string,
): Promise<Record<string, unknown>[]> {
  const response = await server.http.send('/api/v3/query_sql', {
    body: JSON.stringify({ db: 'crash', q, format: 'jsonl' }),
    headers: { 'content-type': 'application/json' },
  });
  // The table does not exist before its first acknowledged write.
  if (response.status === 404 || response.text.includes(`'public.iox.${table}' not found`))
    return [];
  assert.equal(response.status, 200, response.text);
  const lines = response.text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Queries hold segments while flushes and compactions replace them. */
async function queryUntilGone(server: OwnServer, isOver: () => boolean): Promise<void> {
  const q = 'SELECT host, count(*), max(value) FROM cpu GROUP BY host';
  while (!isOver()) {
    try {
      const response = await server.http.send(
        `/api/v3/query_sql?db=crash&format=csv&q=${encodeURIComponent(q)}`,
      );
      // The row is not written yet at the start, or the server is stopping at the end.
      assert.ok(
        [200, 400, 404, 503].includes(response.status),
        `a query was answered ${response.status}\n${server.logText}`,
      );
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return;
    }
    await sleep(20);
  }
}
