import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Chance, ServerProcess, WITH_SAMPLE_DATA } from '../harness/index.js';
import { sendHostileBytes } from './hostile-bytes.js';
import { type HostileRequest, LINES } from './hostile-requests.js';
import { ACCOUNTS_KEY } from './hostile-services.js';
import { slowness, Watchdog } from './watchdog.js';

/** A longer query is legal work: the client disconnects, and the server must stay alive. */
const PATIENCE_MS = 5_000;
const MAX_RESIDENT_MIB = 1536;
const SHRINKING_MS = 30_000;
/** Internal errors in responses, also in protocols that return 200 for every statement. */
const INTERNAL = /query execution failed|"internal error"/;

export interface FuzzOptions {
  readonly seed: number;
  readonly clientCount: number;
  /** Generates the next request. */
  readonly request: (chance: Chance) => HostileRequest;
  /** Share of connections that receive bytes which are not a request. */
  readonly bytesShare: number;
  /** Called before each request with the number of requests sent so far. */
  readonly isEnough: (sentCount: number) => boolean;
  readonly report: (line: string) => void;
}

/** Sends hostile requests and bytes until `isEnough`. Checks that the server responds, stays alive and keeps its memory bound. */
export async function fuzz(options: FuzzOptions): Promise<void> {
  const server = await ServerProcess.start({
    env: { ...WITH_SAMPLE_DATA, PLINTH_ACCOUNTS_BOOTSTRAP_KEYS: ACCOUNTS_KEY },
    flags: [
      '--without-auth',
      ...['--tsdb-query-memory-bytes', '268435456', '--tsdb-buffer-flush-bytes', '1048576'],
      ...['--num-table-limit', '500', '--log-level', 'info'],
    ],
  });
  const run = new FuzzRun(server, options);
  try {
    await run.writeCorpus();
    await run.clientsUnderWatch();
    await run.checkAfterwards();
    await server.stop();
    options.report(`seed ${options.seed}: ${run.summary}`);
  } finally {
    await server.kill(); // In any state.
    await server.close();
  }
}

class FuzzRun {
  readonly #server: ServerProcess;
  readonly #options: FuzzOptions;
  readonly #watchdog: Watchdog;
  readonly #statuses = new Map<number | 'left' | 'bytes', number>();
  #sentCount = 0;

  constructor(server: ServerProcess, options: FuzzOptions) {
    this.#server = server;
    this.#options = options;
    this.#watchdog = new Watchdog(server.url);
  }

  get summary(): string {
    const counts = [...this.#statuses].map(([status, count]) => `${count} x ${status}`);
    return `${this.#sentCount} requests: ${counts.join(', ')}; /health within ${Math.ceil(this.#watchdog.maxDelayMs)} ms`;
  }

  /** Writes data for the queries. */
  async writeCorpus(): Promise<void> {
    const body = LINES.join('\n');
    const response = await this.#server.http.send('/api/v3/write_lp?db=fuzz', { body });
    assert.equal(response.status, 204, response.text);
  }

  /** Fails with a list of all current requests when a health check receives no response for a long time. */
  async clientsUnderWatch(): Promise<void> {
    const { clientCount, seed } = this.#options;
    const watching = this.#watchdog.watch(() => this.#server.isRunning);
    try {
      await Promise.race([
        watching,
        Promise.all(
          Array.from({ length: clientCount }, (_, i) => this.#client(new Chance(seed * 7 + i))),
        ),
      ]);
    } finally {
      this.#watchdog.stop();
    }
    await watching;
  }

  async checkAfterwards(): Promise<void> {
    const { http } = this.#server;
    assert.ok(this.#server.isRunning, this.#server.logText);
    const body = 'after v=42i 1';
    assert.equal((await http.send('/api/v3/write_lp?db=good&precision=s', { body })).status, 204);
    const response = await http.send(
      '/api/v3/query_sql?db=good&format=csv&q=SELECT%20v%20FROM%20after',
    );
    assert.equal(response.text.trim(), 'v\n42');
    await this.#shrunk();
  }

  /** Waits until the memory of the last statements is released, including those whose clients have disconnected. */
  async #shrunk(): Promise<void> {
    const latestMs = Date.now() + SHRINKING_MS * slowness();
    for (;;) {
      const memoryMib = await residentMib(this.#server.pid);
      if (memoryMib < MAX_RESIDENT_MIB) return;
      assert.ok(Date.now() < latestMs, `${memoryMib} MiB are in use`);
      await sleep(500);
    }
  }

  async #client(chance: Chance): Promise<void> {
    const port = Number(new URL(this.#server.url).port);
    const { isEnough, bytesShare } = this.#options;
    while (!isEnough(this.#sentCount)) {
      this.#sentCount += 1;
      assert.ok(this.#server.isRunning, this.#server.logText);
      if (chance.happens(bytesShare)) {
        const sending = sendHostileBytes(port, chance);
        const received = await this.#watchdog.during('hostile bytes', sending);
        assert.doesNotMatch(received, /^HTTP\/1\.1 500/);
        this.#count('bytes');
      } else {
        const request = this.#options.request(chance);
        await this.#watchdog.during(shown(request), this.#send(request));
      }
    }
  }

  async #send(request: HostileRequest): Promise<void> {
    const response = await this.#ask(request);
    this.#count(response?.status ?? 'left');
    if (response === undefined) return;
    const { status, text } = response;
    const isServerFault = status >= 500 && status !== 503;
    if (!isServerFault && !INTERNAL.test(text)) return;
    assert.fail(`${status} ${text}\n${shown(request)}\n${this.#server.logText.slice(-3000)}`);
  }

  /** Returns `undefined` when the client has disconnected. */
  async #ask(request: HostileRequest): Promise<{ status: number; text: string } | undefined> {
    const { path, ...rest } = request;
    const method = rest.method ?? (rest.body === undefined ? 'GET' : 'POST');
    const leaving = new AbortController();
    const answering = fetch(`${this.#server.url}${path}`, {
      ...rest,
      method,
      signal: leaving.signal,
    }).then(async (response) => ({ status: response.status, text: await response.text() }));
    let timer: NodeJS.Timeout | undefined;
    const left = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => {
        leaving.abort();
        resolve(undefined); // Some of Node's clients never report a response whose body they abandoned.
      }, PATIENCE_MS);
    });
    try {
      return await Promise.race([answering, left]);
    } catch (error) {
      const what = `${String(error)} after ${shown(request)}`;
      assert.ok(this.#server.isRunning, `${what}\n${this.#server.logText}`);
      return undefined;
    } finally {
      clearTimeout(timer);
      answering.catch(() => undefined);
    }
  }

  #count(status: number | 'left' | 'bytes'): void {
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
  }
}

/** Shows binary bodies as base64. */
function shown({ body, ...rest }: HostileRequest): string {
  const text = body instanceof Uint8Array ? Buffer.from(body).toString('base64') : body;
  return JSON.stringify({ ...rest, body: text }).slice(0, 2000);
}

/** Returns 0 on systems without this information. */
async function residentMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024);
}
