// Source: docs/OPEN-TABLES-BUCKET.md, "When the bucket fails". The store is versitygw, the reader PyIceberg.
// Own process: it is killed.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  BUCKET,
  bucketFlags,
  Chance,
  type ObjectStoreProcess,
  pythonWith,
  ServerProcess,
  startVersitygw,
} from '../harness/index.js';
import { READERS } from '../wire/clients/open-tables-packages.js';

const SCRIPT = fileURLToPath(new URL('../../wire/clients/open-tables-readers.py', import.meta.url));
const ROUNDS = 10;
/** A version with new segments and a merge needs about 20. */
const MAX_REQUESTS = 60;
const WRITES_PER_MERGE = 12;
const FLAGS = [
  ...['--services', 'tsdb', '--without-auth', '--open-tables-databases', 'home'],
  ...['--open-tables-interval-ms', '100', '--open-tables-flush-age-ms', '100'],
  ...['--object-store-retries', '0'],
];
/** Readers must finish with a version in this time, also on a busy machine. */
const KEEP_MS = 15_000;
const LONGEST_LOAD_MS = 20_000;
const ALL_TIME = { start: '1970-01-01T00:00:00Z', stop: '2100-01-01T00:00:00Z' };

// biome-ignore lint/suspicious/noExplicitAny: results of readers.
type Json = any;
type Kill = { afterRequests: number; readonly isAnswered: boolean; readonly run: () => void };

/** A TCP proxy to a store, which kills the server when it sends a certain request or before it gets the response. */
class KillingProxy {
  kill: Kill | undefined;
  readonly #server = createServer((near) => this.#connect(near));
  readonly #store: URL;

  constructor(store: URL) {
    this.#store = store;
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // it listens on TCP
  }

  close(): void {
    this.#server.close();
  }

  #connect(near: Socket): void {
    const far = connect(Number(this.#store.port), this.#store.hostname);
    let isLost = false;
    near.on('error', () => undefined).on('close', () => far.destroy());
    far.on('error', () => undefined).on('close', () => near.destroy());
    near.on('data', (bytes) => {
      const isRequest = /^(?:PUT|GET|HEAD|DELETE) \//.test(bytes.toString('latin1', 0, 10));
      if (isRequest && this.kill !== undefined && --this.kill.afterRequests <= 0) {
        if (this.kill.isAnswered) isLost = true;
        else return this.kill.run();
      }
      far.write(bytes);
    });
    far.on('data', (bytes) => {
      if (isLost) this.kill?.run();
      else near.write(bytes);
    });
  }
}

/** One server folder, one bucket, and the rows that were acknowledged. */
class Rounds {
  readonly acknowledged = new Set<number>();
  /** Rows in the newest version that a request to publish has reported. */
  #publishedCount = 0;
  #nextRow = 0;
  readonly #chance: Chance;
  readonly #proxy: KillingProxy;
  readonly #start: () => Promise<ServerProcess>;
  readonly #read: (what: string, address: string, namespace?: string) => Promise<Json>;
  #server: ServerProcess | undefined;

  constructor(options: {
    readonly chance: Chance;
    readonly proxy: KillingProxy;
    readonly start: () => Promise<ServerProcess>;
    readonly read: (what: string, address: string, namespace?: string) => Promise<Json>;
  }) {
    this.#chance = options.chance;
    this.#proxy = options.proxy;
    this.#start = options.start;
    this.#read = options.read;
  }

  get url(): string {
    return this.#server?.url ?? '';
  }

  async start(): Promise<void> {
    this.#server = await this.#start();
  }

  async end(): Promise<void> {
    await this.#server?.kill();
  }

  /** Returns the number of rows. */
  async verify(): Promise<number> {
    if (this.#publishedCount > 0) {
      const [count] = (await this.#read('count', this.url)).pyiceberg;
      assert.ok(count >= this.#publishedCount, `the catalog lists ${count} rows after the start`);
    }
    await this.publish();
    const rows = await this.#rows();
    const lost = [...this.acknowledged].filter((row) => !rows.has(row));
    assert.deepEqual(lost, [], 'acknowledged rows');
    const sum = [...rows].reduce((all, row) => all + row, 0);
    assert.deepEqual((await this.#read('count', this.url)).pyiceberg, [rows.size, sum]);
    return rows.size;
  }

  /** Removes the rows of an earlier round. */
  async delete(tag: string): Promise<void> {
    const before = await this.#rows();
    const body = JSON.stringify({ predicate: `tag="${tag}"`, ...ALL_TIME });
    await this.#send('/api/v2/delete?org=o&bucket=home', body);
    const after = await this.#rows();
    for (const row of before) if (!after.has(row)) this.acknowledged.delete(row);
    this.#publishedCount = 0; // the last version may still be the one with the deleted rows
    await this.publish();
  }

  async publish(): Promise<void> {
    const text = await this.#send('/ops/v1/tsdb/open-tables/publish', '{"db":"home"}');
    const [table] = JSON.parse(text).tables;
    assert.equal(table.state, 'published', table.reason);
    this.#publishedCount = table.row_count;
  }

  /** Writes, merges and publishes until the server is killed at a request to the store. */
  async loadAndKill(tag: string): Promise<string> {
    const server = this.#server as ServerProcess; // called between `start` and `end`
    const afterRequests = this.#chance.between(1, MAX_REQUESTS);
    const isAnswered = this.#chance.happens(0.5);
    const killed = new Promise<void>((resolve) => {
      const run = (): void => {
        server.signal('SIGKILL');
        resolve();
      };
      this.#proxy.kill = { afterRequests, isAnswered, run };
    });
    const publishing = this.#untilGone(() => this.publish());
    const writing = this.#untilGone(() => this.#write(tag));
    const giveUp = new AbortController();
    const late = sleep(LONGEST_LOAD_MS, 'late', giveUp).catch(() => undefined);
    const end = await Promise.race([killed, late]);
    giveUp.abort();
    await this.end();
    this.#proxy.kill = undefined;
    await Promise.all([publishing, writing]);
    if (end !== undefined) return `killed after ${LONGEST_LOAD_MS} ms`; // on a busy machine
    return `killed ${isAnswered ? 'after the response to' : 'at'} request ${afterRequests}`;
  }

  async #untilGone(work: () => Promise<void>): Promise<void> {
    const server = this.#server as ServerProcess;
    while (server.isRunning) {
      try {
        await work();
      } catch {
        await sleep(10); // the kill has interrupted it
      }
    }
  }

  async #write(tag: string): Promise<void> {
    const rows = Array.from({ length: this.#chance.between(1, 50) }, () => this.#nextRow++);
    const lines = rows.map((row) => `m,tag=${tag} i=${row}i ${1_700_000_000 + row}`);
    await this.#send('/api/v3/write_lp?db=home&precision=second', lines.join('\n'));
    for (const row of rows) this.acknowledged.add(row);
    if (this.#chance.happens(1 / WRITES_PER_MERGE))
      await this.#send('/ops/v1/tsdb/storage/compact', '{"db":"home","table":"m"}');
  }

  async #rows(): Promise<ReadonlySet<number>> {
    const q = encodeURIComponent('SELECT i FROM m');
    const text = await this.#send(`/api/v3/query_sql?db=home&format=csv&q=${q}`);
    const rows = text.trim().split('\n').slice(1).map(Number);
    assert.equal(new Set(rows).size, rows.length, 'each row exists once');
    return new Set(rows);
  }

  async #send(path: string, body?: string): Promise<string> {
    const answer = await (this.#server as ServerProcess).http.send(path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
    });
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${answer.text}`);
    return answer.text;
  }
}

function openReader(context: TestContext, python: string, store: ObjectStoreProcess) {
  const child: ChildProcess = spawn(python, [SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] });
  context.after(() => child.kill());
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[
    Symbol.asyncIterator
  ]();
  const bucket = { key: store.key, secret: store.secret };
  return async (what: string, address: string, namespace = 'home'): Promise<Json> => {
    const request = { what, address, token: 'none', namespace, table: 'm', bucket };
    child.stdin?.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await lines.next();
    assert.ok(done !== true, 'the reader has failed; see its message above');
    return JSON.parse(value);
  };
}

/** Names of the segments and metadata objects in the bucket. */
async function storedObjects({ folder }: ObjectStoreProcess): Promise<readonly string[]> {
  const found = await readdir(join(folder, BUCKET), { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => relative(join(folder, BUCKET), join(entry.parentPath, entry.name)))
    .filter((name) => /^(?:tsdb|open-tables)\//.test(name))
    .sort();
}

it('lists a readable version after kill -9 at any request of a commit to a bucket', async (context) => {
  const store = await startVersitygw(context);
  if (store === undefined) return;
  context.after(() => store[Symbol.asyncDispose]());
  const python = await pythonWith(READERS, context);
  if (python === undefined) return;
  const read = openReader(context, python, store);
  const seed = Number(process.env['PLINTH_CRASH_SEED'] ?? Date.now() % 1_000_000);
  const proxy = new KillingProxy(new URL(store.url));
  const url = await proxy.listen();
  context.after(() => proxy.close());
  const dataDir = await mkdtemp(join(tmpdir(), 'plinth-crash-'));
  context.after(() => rm(dataDir, { recursive: true, force: true }));
  const keep = ['--open-tables-keep-ms', String(KEEP_MS)];
  const flags = [...FLAGS, ...keep, ...bucketFlags({ ...store, url })];
  const start = () => ServerProcess.start({ dataDir, flags });
  const rounds = new Rounds({ chance: new Chance(seed), proxy, start, read });
  context.after(() => rounds.end());
  for (let round = 0; round < ROUNDS; round++) {
    await rounds.start();
    if (round > 0) await rounds.verify();
    if (round > 2) await rounds.delete(`r${round - 2}`);
    const outcome = await rounds.loadAndKill(`r${round}`);
    const { size } = rounds.acknowledged;
    context.diagnostic(`seed ${seed}, round ${round + 1}: ${outcome}, ${size} rows`);
  }
  await rounds.start();
  await rounds.verify();
  const deadlineMs = performance.now() + 4 * KEEP_MS;
  for (;;) {
    const { missing, unused } = await compareObjects(store, (tree) =>
      read('objects', rounds.url, tree),
    );
    // A snapshot may expire between the reads.
    if (missing.length === 0 && unused.length === 0) break;
    const difference = `without a version: ${unused.join()}; missing: ${missing.join()}`;
    assert.ok(performance.now() < deadlineMs, difference);
    await sleep(200);
  }
});

/** Replaced metadata files are removed with the next version. */
async function compareObjects(
  store: ObjectStoreProcess,
  read: (tree: string) => Promise<Json>,
): Promise<{ readonly missing: readonly string[]; readonly unused: readonly string[] }> {
  const needed = new Set<string>();
  for (const tree of ['home', 'home__jvm']) {
    for (const address of (await read(tree)).objects as string[])
      needed.add(address.replace(`s3://${BUCKET}/`, ''));
  }
  const stored = await storedObjects(store);
  return {
    missing: [...needed].filter((name) => !stored.includes(name)),
    unused: stored.filter((name) => !needed.has(name) && !name.endsWith('.metadata.json')),
  };
}
