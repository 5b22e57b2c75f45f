import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, temporaryFolder } from '../../harness/index.js';

const isInstalled = spawnSync('prometheus', ['--version']).status === 0;
export const NO_PROMETHEUS = isInstalled ? false : 'prometheus is not installed';
const READY_TIMEOUT_MS = 60_000;

/** A series of the API: labels, and values as text by time. */
export interface Result {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [number, string])[];
}

/** Debian's Prometheus with its own folder and port, both kept across restarts. */
export class PrometheusProcess implements AsyncDisposable {
  readonly #folder: string;
  readonly #port: number;
  #child: ChildProcess | undefined;

  static async start(config: string): Promise<PrometheusProcess> {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'prometheus.yml'), config);
    const started = new PrometheusProcess(folder, await freePort());
    await started.restart();
    return started;
  }

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
  }

  async restart(): Promise<void> {
    this.#child = spawn(
      'prometheus',
      [
        `--config.file=${join(this.#folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(this.#folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${this.#port}`,
        '--log.level=error',
        '--query.lookback-delta=1s',
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
    const url = `http://127.0.0.1:${this.#port}/-/ready`;
    const isReady = async () =>
      await fetch(url).then(
        ({ ok }) => ok,
        () => false,
      );
    const deadlineMs = Date.now() + READY_TIMEOUT_MS;
    while (!(await isReady())) {
      if (Date.now() > deadlineMs) throw new Error('prometheus is not ready');
      await sleep(100);
    }
  }

  /** Kills the process immediately. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** All samples of the selected series up to a time, by series. */
  async samples(selector: string, range: { readonly from: number; readonly to: number }) {
    const sec = Math.max(1, Math.ceil(range.to - range.from));
    const results = await this.#query('query', { query: `${selector}[${sec}s]`, time: range.to });
    return new Map(
      results.map(({ metric, values }) => [
        JSON.stringify(Object.entries(metric).sort()),
        values.filter(([time]) => time >= range.from),
      ]),
    );
  }

  async queryRange(
    query: string,
    { from, to, step }: { readonly from: number; readonly to: number; readonly step: number },
  ): Promise<readonly Result[]> {
    return await this.#query('query_range', { query, start: from, end: to, step });
  }

  async #query(
    path: string,
    parameters: Readonly<Record<string, string | number>>,
  ): Promise<readonly Result[]> {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) search.set(name, String(value));
    const url = `http://127.0.0.1:${this.#port}/api/v1/${path}?${search}`;
    const body = (await (await fetch(url)).json()) as {
      readonly status: string;
      readonly warnings?: readonly string[];
      readonly error?: string;
      readonly data: { readonly result: readonly Result[] };
    };
    // A failed remote read is only a warning.
    if (body.status !== 'success' || body.warnings !== undefined)
      throw new Error(`${search}: ${body.error ?? body.warnings?.join()}`);
    return body.data.result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
