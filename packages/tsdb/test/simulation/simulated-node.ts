import assert from 'node:assert/strict';
import { cp, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Random } from '@plinth/kernel';
import { CallFaults, ManualClock } from '@plinth/kernel/testing';
import type { Planner } from '@plinth/tsdb-engine/query/query-path.js';
import type { TsdbEngine } from '@plinth/tsdb-engine/tsdb-engine.js';
import { type ResultSeries, seriesOf } from '@plinth/tsdb-influxql/result.js';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import { openTestNode, type TestNode } from '#src/testing/open-test-node.js';
import { renderResult } from '#src/testing/render-result.js';
import { ProcessFiles } from './process-files.js';

/** Real time; far longer than any step. */
const LONGEST_CALL_MS = 600_000; // only hangs reach it: a starved machine took 60 s
/**
 * Small, so that log files outgrow it; a server's value would take longer to write than all rows.
 */
const LOG_ZERO_BYTES = 16 * 1024;
const COLUMNS = ['host', 'zone', 'time', 'i', 's'];
const NOT_THERE = ['database_not_found', 'table_not_found', 'database_not_known', 'plan_error'];

/** A real node that is opened, closed, killed and restored from a copy, on a stopped clock. */
export class SimulatedNode {
  readonly faults = new CallFaults();
  readonly clock = new ManualClock();
  readonly #folder: string;
  readonly #random: Random;
  readonly #planner: Planner;
  #open: TestNode | undefined;
  #files: ProcessFiles | undefined;
  #processCount = 0;
  readonly #fileNotes: string[] = [];

  constructor(folder: string, random: Random, planner: Planner) {
    this.#folder = folder;
    this.#random = random;
    this.#planner = planner;
  }

  get #dataDir(): string {
    return join(this.#folder, 'data');
  }

  get node(): TestNode {
    assert.ok(this.#open, 'the node is open');
    return this.#open;
  }

  get engine(): TsdbEngine {
    return this.node.engine as TsdbEngine; // the concrete class of a node
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Includes failed starts. */
  get startCount(): number {
    return this.#processCount;
  }

  get nowSec(): number {
    return Math.floor(this.clock.nowMs() / 1000);
  }

  async open(): Promise<void> {
    const flags = {
      'tsdb-column-cache-bytes': this.#random.float() < 0.7 ? '0' : '1000000',
      'tsdb-query-threads': '1',
      'tsdb-query-memory-bytes': String(256 * 1024 * 1024),
      'tsdb-retention-check-interval-ms': '5000',
      'tsdb-delete-grace-period-ms': '0',
    };
    const { clock, faults } = this;
    const files = new ProcessFiles(++this.#processCount, this.#fileNotes);
    this.#files = files;
    const opening = openTestNode(this.#dataDir, {
      // There are few databases and tables, so each forms a group.
      flushGroupTables: 1,
      flushSmallTables: 1,
      logZeroBytes: LOG_ZERO_BYTES,
      ...{ clock, faults, flags },
      before: (objects) => files.around(objects),
      random: this.#random,
      planner: this.#planner,
    });
    this.#open = await bounded(opening, 'open');
  }

  async close(): Promise<void> {
    const node = this.#open;
    this.#open = undefined;
    try {
      if (node !== undefined) await bounded(node.close(), 'close');
    } finally {
      await this.#files?.end();
    }
  }

  /** Ends the process immediately: nothing changes the stored data from here on. */
  async kill(): Promise<void> {
    this.faults.fail({ kind: '*', count: Number.POSITIVE_INFINITY });
    await this.close().catch(() => undefined); // releases what a process exit would release
    this.faults.heal();
  }

  /** A consistent copy, like a backup; the caller may continue with it. */
  async backUp(): Promise<string> {
    const folder = join(this.#folder, 'copy');
    await rm(folder, { recursive: true, force: true });
    await mkdir(join(folder, 'frozen'), { recursive: true });
    const { files, release } = await bounded(
      this.node.freeze({
        copyStore: () => this.node.copyStore(join(folder, 'plinth.db')),
        folder: join(folder, 'frozen'),
      }),
      'freeze',
    );
    try {
      for (const { name, path } of files ?? []) {
        await mkdir(dirname(join(folder, name)), { recursive: true });
        await cp(path, join(folder, name));
      }
    } finally {
      release();
    }
    return folder;
  }

  /** Makes the next start use the copy. */
  async replaceBy(copy: string): Promise<void> {
    await this.kill();
    await rm(this.#dataDir, { recursive: true, force: true });
    await rename(copy, this.#dataDir);
  }

  async write(database: string, lines: readonly string[]): Promise<void> {
    const outcome = await bounded(
      this.engine.write({
        database,
        body: Buffer.from(lines.join('\n')),
        access: FULL_ACCESS,
        encoding: 'identity',
        maxSizeBytes: 1_000_000,
        precision: 'second',
        acceptPartial: false,
        noSync: false,
        receivedNs: this.clock.nowNs(),
      }),
      'write',
    );
    assert.deepEqual(outcome.refused, []);
  }

  /** All rows of a table in the form of the model; empty if the table does not exist. */
  async rows(at: string): Promise<string> {
    const [database = '', table = ''] = at.split('/');
    const { signal } = new AbortController();
    const text = `SELECT * FROM "${table}"`;
    const query = {
      database,
      access: FULL_ACCESS,
      language: 'sql',
      text,
      params: new Map(),
      signal,
    } as const;
    const lines = await bounded(
      this.engine.query(query).then(renderResult, (error: unknown) => {
        const { kind, message } = error as { kind?: string; message: string };
        if (NOT_THERE.includes(kind ?? '') && message.includes('not found')) return [''];
        throw error;
      }),
      text,
    );
    const names = (lines[0] ?? '').split(' | ');
    const places = COLUMNS.map((name) => names.indexOf(name));
    return lines
      .slice(1)
      .map((line) => line.split(' | '))
      .map((cells) => places.map((place) => cells[place] ?? 'NULL').join('|'))
      .sort()
      .join('\n');
  }

  /** Count and sum of `i` by InfluxQL; empty without values. */
  async sums(at: string): Promise<string> {
    const [database = '', table = ''] = at.split('/');
    const text = `SELECT count(i), sum(i) FROM "${table}"`;
    try {
      const [first] = await this.influxql(database, text);
      return first === undefined ? '' : `${first.columns[1]?.[0]} ${first.columns[2]?.[0]}`;
    } catch (error) {
      if ((error as Error).message.includes('not found')) return '';
      throw error;
    }
  }

  /** The series of an InfluxQL statement. */
  async influxql(database: string, text: string): Promise<readonly ResultSeries[]> {
    const ask = async (): Promise<readonly ResultSeries[]> => {
      const { signal } = new AbortController();
      const request = {
        text,
        database,
        access: FULL_ACCESS,
        policy: undefined,
        params: new Map(),
        signal,
      };
      const run = await this.node.influxql.open(request);
      try {
        const found: ResultSeries[] = [];
        for await (const series of seriesOf(await run.execute(0))) found.push(series);
        run.end('success');
        return found;
      } catch (error) {
        run.end('fail');
        throw error;
      }
    };
    return await bounded(ask(), text);
  }

  async onDisk(folder: string): Promise<readonly string[]> {
    const names = await readdir(join(this.#dataDir, folder), { recursive: true }).catch(() => []);
    return names.filter((name) => /\.(parquet|log)$/.test(name) || name.endsWith('.wal')).sort();
  }

  /** The history of a file, with the process of each event. */
  historyOf(name: string): readonly string[] {
    return this.#fileNotes.filter((note) => note.includes(name));
  }

  /** Every stored file that the node has registered. */
  async known(): Promise<readonly string[]> {
    const folder = join(this.#folder, 'known');
    await mkdir(folder, { recursive: true });
    const { objects, release } = await this.engine.freeze({ copyStore: async () => {}, folder });
    release();
    await rm(folder, { recursive: true });
    return objects.map(({ objectName }) => objectName.replace('tsdb/', '')).sort();
  }
}

export async function bounded<T>(work: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Hang(what)), LONGEST_CALL_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

export class Hang extends Error {
  override readonly name = 'Hang';
  constructor(what: string) {
    super(`no answer within ${LONGEST_CALL_MS} ms of real time: ${what}`);
  }
}
