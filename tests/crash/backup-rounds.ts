import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCli } from '../harness/cli.js';
import { Chance, rows, ServerInProcess, ServerProcess } from '../harness/index.js';

export interface BackupRounds {
  readonly seed: number;
  readonly roundCount: number;
  readonly report: (line: string) => void;
}

const DATABASE = 'moments';
const START_SEC = 1_735_689_600;
const PLACE_COUNT = 300;
const PLACE_STEP_SEC = 3600;
const WRITER_COUNT = 5;
const LONGEST_LEAD_MS = 600;
const RETRY_MS = 100;
/** Small generations, so that flushes and merges happen during the copies. */
const FLAGS = ['--without-auth', '--services', 'tsdb', '--tsdb-buffer-flush-age-ms', '150'];

/** Values by position; a position is an hour. */
type Rows = ReadonlyMap<number, number>;

interface Change {
  /** The writer's rows after the request. */
  readonly text: string;
  readonly sentMs: number;
  /** Infinity until the response arrives. */
  acknowledgedMs: number;
}

/** Sends one request after the other; each changes the rows of its own table. */
class MovingWriter {
  readonly table: string;
  readonly history: Change[] = [{ text: '[]', sentMs: 0, acknowledgedMs: 0 }];
  readonly #server: ServerProcess;
  readonly #chance: Chance;
  #rows: Rows = new Map();
  #value = 0;

  constructor(table: string, server: ServerProcess, chance: Chance) {
    this.table = table;
    this.#server = server;
    this.#chance = chance;
  }

  async run(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const places = [...this.#rows.keys()];
      const dice = this.#chance.between(0, 10);
      const some = places[this.#chance.between(0, Math.max(0, places.length - 1))];
      if (some === undefined || dice < 3) await this.#write(this.#newPlaces());
      else if (dice < 5) await this.#write([some]);
      else if (dice < 8) await this.#move(some);
      else await this.#delete(some, some + this.#chance.between(0, 5));
    }
  }

  #newPlaces(): readonly number[] {
    const count = this.#chance.between(1, 20);
    return Array.from({ length: count }, () => this.#chance.between(0, PLACE_COUNT));
  }

  /** The row is always present: it is written at the new position before the old one is deleted. */
  async #move(from: number): Promise<void> {
    const to = this.#chance.between(0, PLACE_COUNT);
    if (to === from) return;
    await this.#write([to]);
    await this.#delete(from, from);
  }

  async #write(places: readonly number[]): Promise<void> {
    const after = new Map(this.#rows);
    this.#value += 1;
    for (const place of places) after.set(place, this.#value);
    const lines = places.map((p) => `${this.table},k=a v=${this.#value}i ${secOf(p)}`).join('\n');
    await this.#change(after, `/api/v3/write_lp?db=${DATABASE}&precision=second`, lines, {});
  }

  async #delete(from: number, to: number): Promise<void> {
    const after = new Map([...this.#rows].filter(([place]) => place < from || place > to));
    const body = {
      start: new Date(secOf(from) * 1000).toISOString(),
      stop: new Date(secOf(to) * 1000).toISOString(),
      predicate: `_measurement="${this.table}"`,
    };
    const headers = { 'content-type': 'application/json' };
    const path = `/api/v2/delete?bucket=${DATABASE}`;
    await this.#change(after, path, JSON.stringify(body), headers);
  }

  async #change(
    after: Rows,
    path: string,
    body: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<void> {
    const change: Change = {
      text: textOf(after),
      sentMs: performance.now(),
      acknowledgedMs: Number.POSITIVE_INFINITY,
    };
    this.history.push(change);
    const response = await this.#server.http.send(path, { method: 'POST', body, headers });
    if (response.status === 503) {
      // Too many pending deletions: nothing was changed.
      this.history.pop();
      await sleep(RETRY_MS);
      return;
    }
    assert.equal(response.status, 204, response.text);
    change.acknowledgedMs = performance.now();
    this.#rows = after;
  }
}

/**
 * Creates backups while writers write, overwrite, move and delete, with flushes and merges. A restored backup must contain one
 * moment, the same for all writers. Throws otherwise.
 */
export async function runBackupRounds({ seed, roundCount, report }: BackupRounds): Promise<void> {
  const chance = new Chance(seed);
  const root = await mkdtemp(join(tmpdir(), 'plinth-moments-'));
  await using server = await ServerProcess.start({ flags: FLAGS });
  try {
    for (let round = 0; round < roundCount; round += 1) {
      const writers = Array.from(
        { length: WRITER_COUNT },
        (_, i) => new MovingWriter(`w${round}_${i}`, server, chance),
      );
      let isOver = false;
      const running = Promise.all(writers.map((writer) => writer.run(() => isOver)));
      await sleep(chance.between(0, LONGEST_LEAD_MS));
      const folder = join(root, `backup-${round}`);
      const beginMs = performance.now();
      const copied = await runCli(['backup', '--to', folder, '--host', server.url]);
      const endMs = performance.now();
      isOver = true;
      await running;
      assert.equal(copied.code, 0, copied.stderr);
      const cuts = await cutsOf(join(root, `data-${round}`), folder, writers);
      assertOneMoment(cuts, `seed ${seed}, round ${round}`, beginMs);
      const changeCount = writers.reduce((sum, { history }) => sum + history.length - 1, 0);
      report(
        `seed ${seed}, round ${round}: ${changeCount} changes, ${Math.round(endMs - beginMs)} ms, ${copied.stdout.trim()}`,
      );
      await rm(folder, { recursive: true });
    }
  } finally {
    await rm(root, { recursive: true, force: true });
    await server.kill();
  }
}

interface Cut {
  readonly writer: MovingWriter;
  /** Index of the last change in the copy. */
  readonly index: number;
}

async function cutsOf(
  dataDir: string,
  backup: string,
  writers: readonly MovingWriter[],
): Promise<readonly Cut[]> {
  const restored = await runCli(['restore', '--from', backup, '--data-dir', dataDir]);
  assert.equal(restored.code, 0, restored.stderr);
  const server = await ServerInProcess.start({ dataDir, flags: FLAGS });
  try {
    const cuts: Cut[] = [];
    for (const writer of writers) {
      const q = `SELECT CAST(time AS BIGINT) AS t, v FROM ${writer.table} ORDER BY time`;
      const found = (await rows(server, DATABASE, q).catch((error: unknown) => {
        if (/not found/.test(String(error))) return [];
        throw error;
      })) as { t: number; v: number }[];
      const text = JSON.stringify(found.map(({ t, v }) => [t / 1e9, v]));
      const index = writer.history.findLastIndex((change) => change.text === text);
      assert.notEqual(index, -1, `${writer.table} was never ${text}`);
      cuts.push({ writer, index });
    }
    return cuts;
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true });
  }
}

/** Asserts that every change acknowledged before the backup, or before a change in the copy was sent, is in the copy. */
function assertOneMoment(cuts: readonly Cut[], where: string, beginMs: number): void {
  const sent = cuts.map(({ writer, index }) => writer.history[index]?.sentMs ?? 0);
  const latestMs = Math.max(beginMs, ...sent);
  for (const { writer, index } of cuts) {
    // A state may repeat; then the later occurrence counts.
    const missing = writer.history[index + 1];
    assert.ok(
      missing === undefined || missing.acknowledgedMs > latestMs,
      `${where}: ${writer.table} lacks what was acknowledged ${latestMs - (missing?.acknowledgedMs ?? 0)} ms before`,
    );
  }
}

const secOf = (place: number): number => START_SEC + place * PLACE_STEP_SEC;

const textOf = (rows: Rows): string =>
  JSON.stringify([...rows].sort(([a], [b]) => a - b).map(([place, v]) => [secOf(place), v]));
