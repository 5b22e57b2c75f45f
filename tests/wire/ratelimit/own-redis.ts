import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../../harness/index.js';

/** An upper bound for busy machines, not an expectation. */
const PATIENCE_MS = 120_000;

/** Reason to skip tests that start their own Redis servers; `false` to run them. */
export const noOwnRedis = (() => {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'there is no redis-server';
  }
})();

/** Redis servers of one test, which may stop and clear them. They store nothing on disk. */
export class OwnRedis implements AsyncDisposable {
  readonly ports: readonly number[];
  readonly #children: readonly ChildProcess[];
  readonly #folders: readonly string[];

  /** @param count more than one: shards of a cluster. */
  static async start(count = 1): Promise<OwnRedis> {
    // A cluster member also listens on its port plus 10,000.
    const ports = await freePorts(count, 55_536);
    const folders = await Promise.all(ports.map(() => mkdtemp(join(tmpdir(), 'plinth-redis-'))));
    // One unavailable shard must not make the others unavailable.
    const cluster = ['--cluster-enabled', 'yes', '--cluster-require-full-coverage', 'no'];
    // On a busy machine the other shards may be slow; nodes must not treat them as unavailable and count separately.
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

  /** Server settings for this Redis. */
  flags(timeoutMs: number): readonly string[] {
    const url = `redis://127.0.0.1:${this.ports[0]}`;
    const where = ['--rate-limit-store', 'redis', '--rate-limit-redis-url', url];
    return [...where, '--rate-limit-redis-timeout-ms', String(timeoutMs)];
  }

  /** @param port signals only the server with this port. */
  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL', port?: number): void {
    for (const [index, child] of this.#children.entries()) {
      if (port === undefined || port === this.ports[index]) child.kill(signal);
    }
  }

  /** Output of a Redis command, `''` while the server does not respond. */
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

/** Polls until the condition is true. */
export async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error('it never was so');
    await sleep(50);
  }
}
