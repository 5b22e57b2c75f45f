import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Chance,
  type HttpResponse,
  type OwnServer,
  ServerInProcess,
  ServerProcess,
} from '../harness/index.js';

/** Low thresholds, so that rows are in memory, in the log and in segments at every moment. */
const FLAGS = [
  '--without-auth',
  ...['--tsdb-buffer-flush-bytes', '65536', '--tsdb-buffer-flush-age-ms', '100'],
  // Files of the server's own metrics would remain at the end.
  ...['--tsdb-internal-metrics-interval-ms', '0'],
  ...['--log-level', 'info', '--tsdb-query-threads', '2', '--shutdown-timeout', '10000'],
];
const DATABASES = ['a', 'b', 'c'];
const TABLES = ['m', 'n'];
/** Timeout for a busy machine; normally the deletion takes about a second. */
const LAST_DELETE_MS = 120_000;

/**
 * The rows of a table: each is a number, which is also its timestamp in seconds. The value is
 * false if its second field was deleted.
 */
type Rows = ReadonlyMap<number, boolean>;
type Tables = ReadonlyMap<string, Rows>;

interface Deleted {
  readonly name: string;
  readonly tables: Tables;
  readonly isForGood: boolean;
}

/** The expected state. Immutable, so that the states before and after a step can both be valid. */
interface Model {
  readonly active: ReadonlyMap<string, Tables>;
  /** Newest last. */
  readonly deleted: readonly Deleted[];
}

interface Step {
  readonly name: string;
  readonly after: Model;
  /** Also valid without a response: a write creates its table before its rows are durable. */
  readonly halfway?: Model;
  readonly send: () => Promise<HttpResponse | undefined>;
}

export interface DeletionRounds {
  readonly seed: number;
  readonly roundCount: number;
  readonly report: (line: string) => void;
}

/**
 * Works on one data folder. Each round consists of writes, deletions and restorations until a kill, then a restart
 * and a check.
 */
export async function runDeletionRounds({
  seed,
  roundCount,
  report,
}: DeletionRounds): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'plinth-deletion-rounds-'));
  const rounds = new Rounds(dataDir, new Chance(seed));
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

class Rounds {
  readonly #dataDir: string;
  readonly #chance: Chance;
  #model: Model = { active: new Map(), deleted: [] };
  /** A step without a response: carried out or not. */
  #pending: Step | undefined;
  #rowCount = 0;

  constructor(dataDir: string, chance: Chance) {
    this.#dataDir = dataDir;
    this.#chance = chance;
  }

  async run(): Promise<string> {
    const server = await ServerProcess.start({ dataDir: this.#dataDir, flags: FLAGS });
    try {
      await this.#verify(server);
      const end = sleep(this.#chance.between(30, 1500)).then(() => server.kill());
      let stepCount = 0;
      while (await this.#step(server)) stepCount++;
      await end;
      return `${stepCount} steps, then killed within ${this.#pending?.name ?? 'nothing'}`;
    } finally {
      await server.kill();
    }
  }

  /** Deletes all data permanently. No file may remain. */
  async finish(): Promise<void> {
    await using server = await ServerInProcess.start({ dataDir: this.#dataDir, flags: FLAGS });
    await this.#verify(server);
    for (const row of await list(server)) {
      const name = row['iox::database'];
      if (name === '_internal') continue;
      const path = `/api/v3/configure/database?db=${name}&hard_delete_at=now`;
      const { status, text } = await server.http.send(path, { method: 'DELETE' });
      assert.ok(status === 200 || status === 409, text);
    }
    const objects = join(this.#dataDir, 'objects');
    const files = async () =>
      (await readdir(objects, { recursive: true })).filter((name) => name.endsWith('.parquet'));
    const untilMs = Date.now() + LAST_DELETE_MS;
    while ((await files()).length > 0 && Date.now() < untilMs) await sleep(100);
    assert.deepEqual(await files(), [], 'files of deleted databases are left');
    assert.equal(await server.stop(), 0, server.logText);
  }

  /** Returns false when the server has died. */
  async #step(server: OwnServer): Promise<boolean> {
    const step = this.#chooseStep(server);
    this.#pending = step;
    let response: HttpResponse | undefined;
    try {
      response = await step.send();
    } catch {
      return false;
    }
    assert.ok(response === undefined || response.status < 300, `${step.name}: ${response?.text}`);
    this.#model = step.after;
    this.#pending = undefined;
    return true;
  }

  #chooseStep(server: OwnServer): Step {
    const db = this.#chance.pick(DATABASES);
    const table = this.#chance.pick(TABLES);
    const active = this.#model.active.get(db);
    const dice = this.#chance.between(0, 99);
    if (active === undefined) {
      const latest = this.#model.deleted.findLast(({ name }) => name === db);
      const canReturn = latest !== undefined && !latest.isForGood;
      return canReturn && dice < 40
        ? this.#undelete(server, latest)
        : this.#write(server, db, table);
    }
    if (dice < 12) return this.#deleteDatabase(server, db, active);
    const rows = active.get(table);
    if (rows !== undefined && dice < 22) return this.#deleteTable(server, db, table);
    if (rows !== undefined && dice < 38) return this.#deleteRows(server, db, table, rows);
    if (dice < 40) return this.#backup(server);
    return this.#write(server, db, table);
  }

  #write(server: OwnServer, db: string, table: string): Step {
    const before = this.#model.active.get(db) ?? new Map<string, Rows>();
    const rows = new Map(before.get(table));
    const lines: string[] = [];
    for (let i = this.#chance.between(1, 300); i > 0; i--) {
      const row = this.#rowCount++;
      rows.set(row, true);
      lines.push(`${table},t=${row % 5} n=${row}i,x=${row}i ${row}`);
    }
    return {
      name: `write ${db}.${table}`,
      after: this.#with(db, new Map([...before, [table, rows]])),
      halfway: this.#with(db, new Map([...before, [table, before.get(table) ?? new Map()]])),
      send: () =>
        server.http.send(`/api/v3/write_lp?db=${db}&precision=second`, { body: lines.join('\n') }),
    };
  }

  #deleteDatabase(server: OwnServer, db: string, tables: Tables): Step {
    const isForGood = this.#chance.happens(0.5);
    const active = new Map(this.#model.active);
    active.delete(db);
    const at = isForGood ? '&hard_delete_at=now' : '';
    return {
      name: `delete ${db}${at}`,
      after: { active, deleted: [...this.#model.deleted, { name: db, tables, isForGood }] },
      send: () =>
        server.http.send(`/api/v3/configure/database?db=${db}${at}`, { method: 'DELETE' }),
    };
  }

  #undelete(server: OwnServer, deleted: Deleted): Step {
    const active = new Map(this.#model.active).set(deleted.name, deleted.tables);
    return {
      name: `undelete ${deleted.name}`,
      after: { active, deleted: this.#model.deleted.filter((each) => each !== deleted) },
      send: () => sendJson(server, '/api/v3/configure/database/undelete', { db: deleted.name }),
    };
  }

  #deleteTable(server: OwnServer, db: string, table: string): Step {
    const tables = new Map(this.#model.active.get(db));
    tables.delete(table);
    const at = this.#chance.happens(0.5) ? '&hard_delete_at=now' : '';
    const path = `/api/v3/configure/table?db=${db}&table=${table}${at}`;
    return {
      name: `delete ${db}.${table}${at}`,
      after: this.#with(db, tables),
      send: () => server.http.send(path, { method: 'DELETE' }),
    };
  }

  #deleteRows(server: OwnServer, db: string, table: string, rows: Rows): Step {
    const from = this.#chance.between(0, this.#rowCount);
    const to = from + this.#chance.between(0, 2000);
    const tag = this.#chance.happens(0.5) ? this.#chance.between(0, 4) : undefined;
    const isOfField = this.#chance.happens(0.5);
    const isGone = (row: number) =>
      row >= from && row <= to && (tag === undefined || row % 5 === tag);
    const left = new Map(
      isOfField
        ? [...rows].map(([row, hasX]) => [row, hasX && !isGone(row)])
        : [...rows].filter(([row]) => !isGone(row)),
    );
    const iso = (sec: number) => new Date(sec * 1000).toISOString();
    const predicate = [
      `_measurement="${table}"`,
      ...(tag === undefined ? [] : [`t="${tag}"`]),
      ...(isOfField ? ['_field="x"'] : []),
    ].join(' AND ');
    return {
      name: `delete ${isOfField ? 'a field' : 'rows'} of ${db}.${table}`,
      after: this.#with(db, new Map([...(this.#model.active.get(db) ?? []), [table, left]])),
      send: () =>
        sendJson(server, `/api/v2/delete?bucket=${db}`, {
          start: iso(from),
          stop: iso(to),
          predicate,
        }),
    };
  }

  /** A backup that is started and mostly not awaited. */
  #backup(server: OwnServer): Step {
    return {
      name: 'backup',
      after: this.#model,
      send: async () => {
        const reading = new AbortController();
        const { signal } = reading;
        const begun = await fetch(`${server.url}/ops/v1/backups`, { method: 'POST', signal });
        if (begun.status === 503) return undefined;
        if (this.#chance.happens(0.5)) reading.abort();
        const { status } = begun;
        return { status, headers: {}, bytes: Buffer.alloc(0), text: '' };
      },
    };
  }

  #with(db: string, tables: Tables): Model {
    return { ...this.#model, active: new Map(this.#model.active).set(db, tables) };
  }

  async #verify(server: OwnServer): Promise<void> {
    const found = await readAll(server);
    const pending = this.#pending;
    this.#pending = undefined;
    const before = textOf(this.#model.active);
    const possible = [this.#model, pending?.after, pending?.halfway].filter(
      (each) => each !== undefined,
    );
    const right = possible.find(({ active }) => textOf(active) === found);
    if (right === undefined) {
      const expected = new Set(before.split('\n'));
      const others = found.split('\n').filter((line) => !expected.has(line));
      const texts = others.map((line) => line.slice(0, 500)).join('\n');
      assert.fail(`after ${pending?.name ?? 'nothing'} there is\n${texts}\n${server.logText}`);
    }
    this.#model = right;
  }
}

type Row = Readonly<Record<string, unknown>>;

async function list(server: OwnServer): Promise<readonly Row[]> {
  const path = '/api/v3/configure/database?format=json&show_deleted=true';
  return JSON.parse((await server.http.send(path)).text) as Row[];
}

async function readAll(server: OwnServer): Promise<string> {
  const active = new Map<string, Map<string, Rows>>();
  for (const row of await list(server)) {
    const db = String(row['iox::database']);
    if (db === '_internal' || row['deleted'] === true) continue;
    const tables = new Map<string, Rows>();
    const names = await ask(
      server,
      db,
      "SELECT table_name AS t FROM information_schema.tables WHERE table_schema = 'iox'",
    );
    for (const { t } of names) {
      const rows = await ask(server, db, `SELECT n, x FROM ${String(t)}`);
      const byNumber = new Map(rows.map(({ n, x }) => [Number(n), x === n]));
      assert.equal(byNumber.size, rows.length, `a row of ${db}.${String(t)} twice`);
      tables.set(String(t), byNumber);
    }
    active.set(db, tables);
  }
  return textOf(active);
}

async function ask(server: OwnServer, db: string, q: string): Promise<readonly Row[]> {
  const response = await sendJson(server, '/api/v3/query_sql', { db, q, format: 'json_rows' });
  assert.equal(response.status, 200, response.text);
  return JSON.parse(response.text) as Row[];
}

function sendJson(server: OwnServer, path: string, body: object): Promise<HttpResponse> {
  const headers = { 'content-type': 'application/json' };
  return server.http.send(path, { body: JSON.stringify(body), headers });
}

function textOf(active: ReadonlyMap<string, Tables>): string {
  const lines = [...active].flatMap(([db, tables]) => [
    db,
    ...[...tables].map(
      ([table, rows]) =>
        `${db}.${table}: ${[...rows]
          .sort(([a], [b]) => a - b)
          .map(([row, hasX]) => (hasX ? row : `${row}-`))
          .join(' ')}`,
    ),
  ]);
  return lines.sort().join('\n');
}
