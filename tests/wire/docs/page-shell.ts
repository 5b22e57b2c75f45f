import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { CLI } from '../../harness/cli.js';

const TIMEOUT_MS = 180_000;

/** One shell for all commands of a page, so that variables of one block exist in the next. */
export class PageShell {
  readonly folder: string;
  readonly #child: ChildProcess;
  readonly #lines: NodeJS.AsyncIterator<string>;
  /** Process groups of background commands, which outlive a shell whose commands fail. */
  readonly #groups: number[] = [];
  #count = 0;

  /** The shell finds the command `plinth` of this checkout. */
  static async start(folder: string): Promise<PageShell> {
    const command = `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`;
    await writeFile(join(folder, 'plinth'), command, { mode: 0o755 });
    return new PageShell(folder);
  }

  private constructor(folder: string) {
    this.folder = folder;
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(?:PLINTH|INFLUXDB3)_/.test(name),
    );
    this.#child = spawn('bash', ['--noprofile', '--norc'], {
      cwd: folder,
      env: {
        ...Object.fromEntries(inherited),
        PATH: `${folder}:${process.env['PATH']}:/usr/sbin`,
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    // The shell exits when a command fails, possibly before it receives `exit`.
    this.#child.stdin?.on('error', () => undefined);
    if (this.#child.stdout === null) throw new Error('standard output is a pipe');
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    this.#say('set -m');
  }

  /** @returns the output of the commands; throws their error output when one fails. */
  async run(script: string): Promise<string> {
    const file = await this.#save(script);
    this.#say(
      `set -e -o pipefail; . ${file} >${file}.out 2>${file}.err </dev/null; set +e; echo done`,
    );
    const slow = setTimeout(() => this.#endAtOnce(), TIMEOUT_MS);
    const { value } = await this.#lines.next();
    clearTimeout(slow);
    const read = (ending: string): Promise<string> => readFile(file + ending, 'utf8');
    if (value === 'done') return await read('.out');
    throw new Error(`the commands failed: ${await read('.err')}\n${await read('.out')}`);
  }

  /** Starts background commands; their output goes to `background.txt`. */
  async begin(script: string): Promise<void> {
    const file = await this.#save(script);
    this.#say(`. ${file} >>background.txt 2>&1 </dev/null & echo $!`);
    const { value } = await this.#lines.next();
    this.#groups.push(Number(value));
  }

  /** Also ends background commands. */
  async close(): Promise<void> {
    for (const group of this.#groups) {
      try {
        process.kill(-group, 'SIGTERM');
      } catch {
        // The process has already ended.
      }
    }
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const closed = once(this.#child, 'close');
    // Commands of a block that end with `&` also have their own process groups.
    this.#say('for job in $(jobs -p); do kill -- -$job; done 2>/dev/null; exit 0');
    await closed;
  }

  /** Also kills the hanging command, which is a grandchild with its own process group. */
  #endAtOnce(): void {
    spawnSync('pkill', ['-KILL', '-P', String(this.#child.pid)]);
    this.#child.kill('SIGKILL');
  }

  async #save(script: string): Promise<string> {
    this.#count += 1;
    const file = join(this.folder, `commands-${this.#count}`);
    await writeFile(file, script);
    return file;
  }

  #say(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }
}
