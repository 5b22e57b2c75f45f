import { execFile } from 'node:child_process';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freshBundle } from '@plinth/cli/fresh-bundle';
import type { startServer } from '@plinth/server';
import { FastClock } from './fast-clock.js';
import { HttpClient } from './http-client.js';
import type { OwnServer } from './running-server.js';
import {
  LogTail,
  type ServerProcessOptions,
  StartFailed,
  TEST_SETTINGS,
} from './server-process.js';

type Started = Awaited<ReturnType<typeof startServer>>;
/**
 * The server options that do not require a separate process. `env` contains settings, not variables that the server's
 * child programs read.
 */
export interface ServerInProcessOptions
  extends Pick<ServerProcessOptions, 'flags' | 'env' | 'dataDir'> {
  /** The server's clock runs this many times faster, so that tests of its timers need not wait. */
  readonly speed?: number;
}

/**
 * A complete server on its own port and data folder, in the test's process, for files that start many servers. It
 * provides everything that a `ServerProcess` has except signals, process limits, and its own memory and threads.
 */
export class ServerInProcess implements OwnServer {
  readonly dataDir: string;
  readonly url: string;
  readonly http: HttpClient;
  readonly #server: Started;
  readonly #ownsDataDir: boolean;
  readonly #log: LogTail;
  #isRunning = true;

  /** Resolves when the server listens, or throws `StartFailed`. Without other flags it requires no token. */
  static async start(options: ServerInProcessOptions = {}): Promise<ServerInProcess> {
    const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'plinth-test-')));
    const ownsDataDir = options.dataDir === undefined;
    const given = options.flags ?? ['--without-auth'];
    const log = new LogTail();
    // Loaded on demand, because it takes almost a second and each test file loads the harness.
    const { explainFailedStart, readSettings, startServer } = await loadServer();
    try {
      const flags = valuesOf(['--data-dir', dataDir, '--http-bind', '127.0.0.1:0', ...given]);
      const settings = readSettings({ env: { ...TEST_SETTINGS, ...options.env }, flags });
      const logDestination = { write: (line: string) => log.add(line.trimEnd()) };
      const server = await startServer({
        settings,
        logDestination,
        ...(options.speed !== undefined && { clock: new FastClock(options.speed) }),
      });
      return new ServerInProcess({ server, dataDir, ownsDataDir, log });
    } catch (error) {
      if (ownsDataDir) await rm(dataDir, { recursive: true, force: true });
      const failed = explainFailedStart(error) as Error & { readonly exitCode?: number };
      throw new StartFailed(failed.message, { code: failed.exitCode ?? 1, log: log.text });
    }
  }

  private constructor(parts: {
    readonly server: Started;
    readonly dataDir: string;
    readonly ownsDataDir: boolean;
    readonly log: LogTail;
  }) {
    this.#server = parts.server;
    this.url = parts.server.address.url;
    this.http = new HttpClient(this.url);
    this.dataDir = parts.dataDir;
    this.#ownsDataDir = parts.ownsDataDir;
    this.#log = parts.log;
  }

  get logText(): string {
    return this.#log.text;
  }

  logged(message: string): Readonly<Record<string, unknown>> | undefined {
    return this.#log.find(message);
  }

  /** Stops the server like SIGTERM. Idempotent. @returns 0, like the exit code of a process. */
  async stop(): Promise<0> {
    this.#isRunning = false;
    this.http.close();
    await this.#server.close();
    return 0;
  }

  /**
   * Leaves the data folder with its current files, like `kill -9` of an idle server. Use `ServerProcess` to kill a server
   * that is writing. Does nothing after a stop.
   */
  async kill(): Promise<void> {
    if (!this.#isRunning) return;
    const copy = `${this.dataDir}-killed`;
    // By another process: closing a file of SQLite in this process would release the server's locks.
    await promisify(execFile)('cp', ['-a', this.dataDir, copy]);
    await this.stop();
    await rm(this.dataDir, { recursive: true });
    await rename(copy, this.dataDir);
  }

  /** Stops the server and removes its data folder. Idempotent. */
  async close(): Promise<void> {
    await this.stop();
    if (this.#ownsDataDir) await rm(this.dataDir, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Loads the bundle, like the command, or the modules if `NODE_OPTIONS` enables source maps, as mutation tests do. */
async function loadServer(): Promise<typeof import('@plinth/server')> {
  const { NODE_OPTIONS = '' } = process.env;
  const bundle = NODE_OPTIONS.includes('source-maps') ? undefined : freshBundle();
  return bundle === undefined
    ? await import('@plinth/server')
    : await import(new URL('server.mjs', bundle).href);
}

/** Parses command-line flags: `--name value`, `--name=value`, or `--name` for a switch. The last value of a name counts. */
function valuesOf(words: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const [index, word] of words.entries()) {
    const [, name, value] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === undefined) continue;
    const next = words[index + 1];
    values.set(name, value ?? (next === undefined || next.startsWith('--') ? 'true' : next));
  }
  return values;
}
