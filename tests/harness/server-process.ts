import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { CLI, countStart } from './cli.js';
import { HttpClient } from './http-client.js';
import type { OwnServer } from './running-server.js';

/** Startup takes a second, but has taken more than half a minute on a machine that was busy with other tests. */
const START_TIMEOUT_MS = 90_000;
/** Number of recent log lines that are kept. */
const KEPT_LINE_COUNT = 200;

/** The process exited or was killed before it was listening. */
export class StartFailed extends Error {
  override readonly name = 'StartFailed';
  /** `null` when a signal killed it. */
  readonly code: number | null;
  constructor(why: string, options: { readonly code: number | null; readonly log: string }) {
    super(`${why}\n${options.log}`);
    this.code = options.code;
  }
}

export interface ServerProcessOptions {
  /** Flags after `serve`; the data folder and the port are set by the harness. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Data folder of an earlier process. If set, `close` does not delete it. */
  readonly dataDir?: string;
  /** Kills the process immediately, even during startup. */
  readonly signal?: AbortSignal;
  /** Entry file of another installation. */
  readonly cli?: string;
  /** Shell commands that set limits before the server replaces the shell, such as `ulimit -f 100`. */
  readonly limits?: string;
}

/** Loading the sample game data takes 0.4 s of CPU per server. A test that reads them adds `WITH_SAMPLE_DATA` to `env`. */
export const TEST_SETTINGS = { PLINTH_GAMEDATA_SAMPLE: 'false' };
export const WITH_SAMPLE_DATA = { PLINTH_GAMEDATA_SAMPLE: 'true' };

/** The environment without the variables that control the tests. */
export const ownVariables = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^PLINTH_(?:TEST|CRASH|FUZZ|STORM)_/.test(name),
    ),
  );

/** A complete server in its own process, on a free port and with its own data folder. */
export class ServerProcess implements OwnServer {
  readonly dataDir: string;
  readonly url: string;
  readonly http: HttpClient;
  readonly #child: ChildProcess;
  readonly #ownsDataDir: boolean;
  readonly #log: LogTail;

  /** Resolves when the port responds, or throws `StartFailed`. Without other flags the server requires no token. */
  static async start(options: ServerProcessOptions = {}): Promise<ServerProcess> {
    const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'plinth-test-')));
    const flags = options.flags ?? ['--without-auth'];
    const cli = options.cli ?? CLI;
    const command = [cli, 'serve', '--data-dir', dataDir, '--http-bind', '127.0.0.1:0', ...flags];
    const [program, args] =
      options.limits === undefined
        ? [process.execPath, command]
        : ['bash', ['-c', `${options.limits}; exec "$0" "$@"`, process.execPath, ...command]];
    await countStart();
    const child = spawn(program, args, {
      env: { ...ownVariables(), ...TEST_SETTINGS, ...options.env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const kill = () => child.kill('SIGKILL');
    options.signal?.addEventListener('abort', kill, { once: true });
    if (options.signal?.aborted) kill();
    try {
      const log = new LogTail();
      const url = await addressOf(child, log);
      const ownsDataDir = options.dataDir === undefined;
      return new ServerProcess({ child, url, dataDir, ownsDataDir, log });
    } catch (error) {
      kill();
      if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
      throw error;
    }
  }

  private constructor(options: {
    readonly child: ChildProcess;
    readonly url: string;
    readonly dataDir: string;
    readonly ownsDataDir: boolean;
    readonly log: LogTail;
  }) {
    this.#child = options.child;
    this.url = options.url;
    this.dataDir = options.dataDir;
    this.#ownsDataDir = options.ownsDataDir;
    this.#log = options.log;
    this.http = new HttpClient(options.url);
  }

  get logText(): string {
    return this.#log.text;
  }

  logged(message: string): Readonly<Record<string, unknown>> | undefined {
    return this.#log.find(message);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Sends a signal without waiting. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Sends SIGTERM and waits; returns the server's exit code. */
  async stop(): Promise<number | null> {
    return await this.#end('SIGTERM');
  }

  /** Kills the process immediately, like a power failure. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Stops the server and removes its data folder. Idempotent. */
  async close(): Promise<void> {
    await this.#end('SIGTERM');
    if (this.#ownsDataDir) await rm(this.dataDir, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    this.http.close();
    const child = this.#child;
    if (this.isRunning) {
      // At that point, the last log lines have been read.
      const closed = once(child, 'close');
      child.kill(signal);
      await closed;
    }
    return child.exitCode;
  }
}

/** The most recent lines of a server's log: JSON, one object per line. */
export class LogTail {
  readonly #lines: string[] = [];

  get text(): string {
    return this.#lines.join('\n');
  }

  add(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > KEPT_LINE_COUNT) this.#lines.shift();
  }

  find(message: string): Readonly<Record<string, unknown>> | undefined {
    const line = this.#lines.findLast((text) => text.endsWith(`"msg":${JSON.stringify(message)}}`));
    return line === undefined ? undefined : (JSON.parse(line) as Record<string, unknown>);
  }
}

/** The server logs its address in one JSON line when it listens. */
async function addressOf(child: ChildProcess, log: LogTail): Promise<string> {
  return await new Promise((resolve, reject) => {
    const fail = (why: string, code: number | null) =>
      reject(new StartFailed(why, { code, log: log.text }));
    const timer = setTimeout(
      () => fail('the server did not start in time', null),
      START_TIMEOUT_MS,
    );
    if (child.stderr === null) throw new Error('standard error is a pipe');
    const lines = createInterface({ input: child.stderr });
    // Reading continues after startup, because a full pipe would block the server.
    lines.on('line', (line) => {
      log.add(line);
      const url = /"address":"(http[^"]+)".*"msg":"server listens"/.exec(line)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    });
    // On `close`, so that the last lines have been read.
    child.once('close', (code) => {
      clearTimeout(timer);
      fail(`the server ended with code ${code} before it listened`, code);
    });
  });
}
