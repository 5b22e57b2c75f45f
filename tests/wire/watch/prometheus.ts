import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort, temporaryFolder } from '../../harness/index.js';

const isInstalled = ['prometheus', 'promtool'].every(
  (program) => spawnSync(program, ['--version']).status === 0,
);
export const NO_PROMETHEUS = isInstalled ? false : 'prometheus is not installed';

const PACKAGING = new URL('../../../../packaging/', import.meta.url);
/** Path of a released file. */
export const packaged = (name: string): string => fileURLToPath(new URL(name, PACKAGING));
export const GUIDE = packaged('../docs/MONITORING.md');
const PATIENCE_MS = 90_000;

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** A Prometheus that scrapes one server every second; alerts wait two seconds instead of minutes. */
export class Prometheus implements AsyncDisposable {
  readonly #url: string;
  readonly #folder: string;
  readonly #child: ChildProcess;

  /**
   * Configured as described in the guide.
   * @param target host and port.
   */
  static async start(target: string, token = 'none'): Promise<Prometheus> {
    const folder = await temporaryFolder();
    const rules = await readFile(packaged('prometheus/rules.yaml'), 'utf8');
    await writeFile(join(folder, 'rules.yaml'), rules.replaceAll(/for: \d+m/g, 'for: 2s'));
    const tokenFile = join(folder, 'token');
    await writeFile(tokenFile, token);
    const [, documented = ''] =
      /```yaml\n(global:.*?)```/s.exec(await readFile(GUIDE, 'utf8')) ?? [];
    const config = [
      ['15s', '1s'],
      ['/etc/prometheus/plinth-rules.yaml', join(folder, 'rules.yaml')],
      ['/etc/prometheus/plinth.token', tokenFile],
      ['127.0.0.1:8181', target],
    ].reduce((text, [from = '', to = '']) => {
      assert.ok(text.includes(from), `the guide has no ${from}`);
      return text.replaceAll(from, to);
    }, documented);
    await writeFile(join(folder, 'prometheus.yml'), config);
    const address = `127.0.0.1:${await freePort()}`;
    const flags = [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
      '--log.level=error',
    ];
    const child = spawn('prometheus', flags, { stdio: ['ignore', 'ignore', 'inherit'] });
    const started = new Prometheus(`http://${address}`, folder, child);
    await started.#until('ready', async () => (await fetch(`${started.#url}/-/ready`)).ok);
    return started;
  }

  private constructor(url: string, folder: string, child: ChildProcess) {
    this.#url = url;
    this.#folder = folder;
    this.#child = child;
  }

  /** Returns the series of an instant query. */
  async query(expression: string): Promise<readonly Series[]> {
    const { result } = await this.#get(`query?query=${encodeURIComponent(expression)}`);
    return result as readonly Series[];
  }

  /** Returns the rows as soon as there are any. */
  async untilRows(expression: string): Promise<readonly Series[]> {
    let rows: readonly Series[] = [];
    await this.#until(expression, async () => {
      rows = await this.query(expression);
      return rows.length > 0;
    });
    return rows;
  }

  /** Returns the names of the rules and their health. */
  async rules(): Promise<readonly { readonly name: string; readonly health: string }[]> {
    const { groups } = (await this.#get('rules')) as {
      groups: readonly { rules: readonly { name: string; health: string }[] }[];
    };
    return groups.flatMap(({ rules }) => rules);
  }

  async untilFiring(alert: string, isFiring: boolean): Promise<void> {
    await this.#until(`${alert} ${isFiring ? 'fires' : 'clears'}`, async () => {
      const { alerts } = (await this.#get('alerts')) as {
        alerts: readonly { labels: Record<string, string>; state: string }[];
      };
      const fires = alerts.some(
        ({ labels, state }) => labels['alertname'] === alert && state === 'firing',
      );
      return fires === isFiring;
    });
  }

  async close(): Promise<void> {
    if (this.#child.exitCode === null) {
      const ended = once(this.#child, 'exit');
      this.#child.kill('SIGTERM');
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #get(path: string): Promise<Record<string, unknown>> {
    const response = await fetch(`${this.#url}/api/v1/${path}`);
    const body = (await response.json()) as { status: string; data: Record<string, unknown> };
    assert.equal(body.status, 'success', `${path}: ${JSON.stringify(body)}`);
    return body.data;
  }

  async #until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    for (const endMs = Date.now() + PATIENCE_MS; ; await sleep(300)) {
      if (await isSo().catch(() => false)) return;
      assert.ok(Date.now() < endMs, `Prometheus: not within ${PATIENCE_MS} ms: ${what}`);
    }
  }
}
