import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts, runProgram } from '../../harness/index.js';

export const NO_INFLUXDB =
  spawnSync('influxd', ['version']).status === 0 ? false : 'influxdb (1.x) is not installed';

const PATIENCE_MS = 60_000;

/** An InfluxDB 1.x server with its own folder. */
export class OldInfluxdb implements AsyncDisposable {
  readonly url: string;
  readonly folder: string;
  readonly #backupPort: number;
  readonly #child: ChildProcess;

  static async start(): Promise<OldInfluxdb> {
    const folder = await mkdtemp(join(tmpdir(), 'plinth-old-influxdb-'));
    const [port = 0, backupPort = 0] = await freePorts(2);
    const config = [
      'reporting-disabled = true',
      `bind-address = "127.0.0.1:${backupPort}"`,
      `[meta]\n  dir = "${folder}/meta"`,
      `[data]\n  dir = "${folder}/data"\n  wal-dir = "${folder}/wal"`,
      `[http]\n  bind-address = "127.0.0.1:${port}"\n  log-enabled = false`,
      '[continuous_queries]\n  enabled = false',
      '[monitor]\n  store-enabled = false',
    ];
    await writeFile(join(folder, 'influxdb.conf'), `${config.join('\n')}\n`);
    const child = spawn('influxd', ['-config', join(folder, 'influxdb.conf')], { stdio: 'ignore' });
    const started = new OldInfluxdb(`http://127.0.0.1:${port}`, folder, backupPort, child);
    const endMs = Date.now() + PATIENCE_MS;
    while (
      !(await fetch(`${started.url}/ping`).then(
        ({ ok }) => ok,
        () => false,
      ))
    ) {
      if (Date.now() > endMs) throw new Error('influxd does not answer');
      await sleep(100);
    }
    return started;
  }

  private constructor(url: string, folder: string, backupPort: number, child: ChildProcess) {
    this.url = url;
    this.folder = folder;
    this.#backupPort = backupPort;
    this.#child = child;
  }

  /** @returns the results in the JSON format of 1.x, with timestamps in nanoseconds. */
  async query(q: string, db = ''): Promise<readonly Result[]> {
    return await queryOf(this.url, q, db);
  }

  async write(db: string, rp: string, lines: readonly string[]): Promise<void> {
    const url = `${this.url}/write?${new URLSearchParams({ db, rp })}`;
    const response = await fetch(url, { method: 'POST', body: lines.join('\n') });
    if (response.status !== 204) throw new Error(await response.text());
  }

  /** Creates a portable backup of all data. @returns its folder */
  async backup(name = 'backup'): Promise<string> {
    const folder = join(this.folder, name);
    const host = `127.0.0.1:${this.#backupPort}`;
    await runProgram('influxd', ['backup', '-portable', '-host', host, folder]);
    return folder;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
    await rm(this.folder, { recursive: true });
  }
}

export interface Result {
  readonly error?: string;
  readonly series?: readonly {
    readonly name: string;
    readonly tags?: Readonly<Record<string, string>>;
    readonly columns: readonly string[];
    readonly values: readonly (readonly unknown[])[];
  }[];
}

/** Queries `/query` of either server. Integers beyond 2^53 lose digits here: compare sums of smaller ones. */
export async function queryOf(url: string, q: string, db: string): Promise<readonly Result[]> {
  const body = new URLSearchParams({ q, db, epoch: 'ns' });
  const response = await fetch(`${url}/query`, { method: 'POST', body });
  return ((await response.json()) as { results: readonly Result[] }).results;
}
