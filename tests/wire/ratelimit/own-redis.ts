import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../../harness/index.js';

/** An end, not a claim: a busy machine takes a while. */
const PATIENCE_MS = 120_000;

/** Why tests that start servers of their own have to be left out; `false`: they need not be. */
export const noOwnRedis = (() => {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'there is no redis-server';
  }
})();

/** Redis servers that belong to one test, so that it may stop them and wipe them; they keep nothing on disk. */
export class OwnRedis implements AsyncDisposable {
  readonly ports: readonly number[];
  readonly #children: readonly ChildProcess[];
  readonly #folders: readonly string[];

  /** @param count more than one: shards of a cluster. */
  static async start(count = 1): Promise<OwnRedis> {
    // A member of a cluster also listens 10,000 above.
    const ports = await freePorts(count, 55_536);
    const folders = await Promise.all(ports.map(() => mkdtemp(join(tmpdir(), 'plinth-redis-'))));
    // One shard that is away must not take the others with it.
    const cluster = ['--cluster-enabled', 'yes', '--cluster-require-full-coverage', 'no'];
    // On a busy machine the others are slow, not away: whoever is told otherwise counts for itself.
    const patient = ['--cluster-node-timeout', '600000'];
    const more = count > 1 ? [...cluster, ...patient] : [];
    const children = ports.map((port, index) => {
      const where = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folders[index] ?? '.'];
      const args = [...where, '--save', '', '--appendonly', 'no', ...more];
      return spawn('redis-server', args, { stdio: 'ignore' });
    });
    const redis = new OwnRedis(ports, children, folders);
    await eventually(() => ports.every((port) => redis.ask(port, 'PING') === 'PONG'));
    if (count > 1) await redis.#join();
    return redis;
  }

  private constructor(
    ports: readonly number[],
    children: readonly ChildProcess[],
    folders: readonly string[],
  ) {
    this.ports = ports;
    this.#children = children;
    this.#folders = folders;
  }

  /** Settings of a server that keeps its counters here. */
  flags(timeoutMs: number): readonly string[] {
    const url = `redis://127.0.0.1:${this.ports[0]}`;
    const where = ['--rate-limit-store', 'redis', '--rate-limit-redis-url', url];
    return [...where, '--rate-limit-redis-timeout-ms', String(timeoutMs)];
  }

  /** @param port of the only one that is meant. */
  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL', port?: number): void {
    for (const [index, child] of this.#children.entries()) {
      if (port === undefined || port === this.ports[index]) child.kill(signal);
    }
  }

  /** What a server answers, `''` while it does not. */
  ask(port: number, ...command: readonly string[]): string {
    try {
      const args = ['-p', String(port), ...command];
      return execFileSync('redis-cli', args, { stdio: 'pipe' }).toString().trim();
    } catch {
      return '';
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = this.#children.map(async (child) => {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit');
        child.kill('SIGKILL');
        await exited;
      }
    });
    await Promise.all(ended);
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true });
  }

  async #join(): Promise<void> {
    const addresses = this.ports.map((port) => `127.0.0.1:${port}`);
    const args = ['--cluster', 'create', ...addresses, '--cluster-yes'];
    execFileSync('redis-cli', args, { stdio: 'ignore' });
    const isWhole = (port: number) => /cluster_state:ok/.test(this.ask(port, 'CLUSTER', 'INFO'));
    await eventually(() => this.ports.every(isWhole));
  }
}

/** Looks until it is so. */
export async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error('it never was so');
    await sleep(50);
  }
}
