import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { HttpClient } from './http-client.js';

const CLI = fileURLToPath(new URL('../../../packages/server/dist/cli.js', import.meta.url));
const START_TIMEOUT_MS = 30_000;
/** Last lines of the log that a failed start shows. */
const KEPT_LINE_COUNT = 40;

export interface ServerProcessOptions {
  /** Flags after `serve`; the data folder and the port are set by the harness. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Folder of an earlier process; it is kept on `close` then. */
  readonly dataDir?: string;
}

/** A whole server in a process of its own, on a free port and with its own data folder. */
export class ServerProcess {
  readonly dataDir: string;
  readonly url: string;
  readonly http: HttpClient;
  readonly #child: ChildProcess;
  readonly #ownsDataDir: boolean;
  readonly #log: LogTail;

  /** Resolves when the port answers. Without other flags the server asks for no token. */
  static async start(options: ServerProcessOptions = {}): Promise<ServerProcess> {
    const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'plinth-test-')));
    const flags = options.flags ?? ['--without-auth'];
    const child = spawn(
      process.execPath,
      [CLI, 'serve', '--data-dir', dataDir, '--http-bind', '127.0.0.1:0', ...flags],
      { env: { ...process.env, ...options.env }, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    try {
      const log = new LogTail();
      const url = await addressOf(child, log);
      const ownsDataDir = options.dataDir === undefined;
      return new ServerProcess({ child, url, dataDir, ownsDataDir, log });
    } catch (error) {
      child.kill('SIGKILL');
      if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
      throw error;
    }
  }

  private constructor(at: {
    readonly child: ChildProcess;
    readonly url: string;
    readonly dataDir: string;
    readonly ownsDataDir: boolean;
    readonly log: LogTail;
  }) {
    this.#child = at.child;
    this.url = at.url;
    this.dataDir = at.dataDir;
    this.#ownsDataDir = at.ownsDataDir;
    this.#log = at.log;
    this.http = new HttpClient(at.url);
  }

  /** Everything that the server logged last, as text. */
  get logText(): string {
    return this.#log.text;
  }

  /** Fields of the last log line with this message, among those that are kept. */
  logged(message: string): Readonly<Record<string, unknown>> | undefined {
    return this.#log.find(message);
  }

  /** Asks the server to stop and waits; returns its exit code. */
  async stop(): Promise<number | null> {
    return await this.#end('SIGTERM');
  }

  /** Ends the process at once, as a power failure would. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Stops the server and removes its data folder. Twice is harmless. */
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
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
    }
    return child.exitCode;
  }
}

/** The last lines of a server's log: JSON, one object per line. */
class LogTail {
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
    const fail = (why: string) => reject(new Error(`${why}\n${log.text}`));
    const timer = setTimeout(() => fail('the server did not start in time'), START_TIMEOUT_MS);
    if (child.stderr === null) throw new Error('standard error is a pipe');
    const lines = createInterface({ input: child.stderr });
    // Reading goes on after the start: a full pipe would stop the server.
    lines.on('line', (line) => {
      log.add(line);
      const url = /"address":"(http[^"]+)".*"msg":"server listens"/.exec(line)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    });
    child.once('exit', (code) => {
      clearTimeout(timer);
      fail(`the server ended with code ${code} before it listened`);
    });
  });
}
