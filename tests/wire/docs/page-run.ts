import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  freePort,
  type OwnServer,
  pythonWith,
  ServerInProcess,
  ServerProcess,
  WITH_SAMPLE_DATA,
} from '../../harness/index.js';
import { assertJsonPrinted, assertPrinted } from './assert-printed.js';
import type { Step } from './page.js';
import { PageShell } from './page-shell.js';

type Block = Extract<Step, { readonly kind: 'block' }>;

/** Result of a block. */
export type Outcome = 'run' | 'compared' | 'used' | 'marked' | 'not here';

const at = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
const ESBUILD = at('node_modules/.bin/esbuild');
const PYTHON = {
  name: 'clients',
  packages: ['influxdb3-python', 'adbc-driver-flightsql', 'pyarrow'],
  probe: 'import influxdb_client_3, adbc_driver_flightsql, pyarrow.flight',
};
const SHELLS = /^(?:sh|bash)$/;
const SERVES = /^(?:npm start(?: --)?|plinth serve)(?=\s|$)/;
/** Flags whose values the test sets. */
const OWN_FLAGS = /^--(?:http-bind|data-dir|node-id)$/;
const PORT_TIMEOUT_MS = 30_000;

/** A page whose blocks are being run, with its server, shell and folder. */
export class PageRun {
  readonly #shell: PageShell;
  readonly #dataDir: string;
  readonly #steps: readonly Step[];
  /** Actual ports by the port written on the page. */
  readonly #ports = new Map<string, number>();
  #server: OwnServer | undefined;
  #printed: string | undefined;

  static async start(steps: readonly Step[]): Promise<PageRun> {
    // Below the packages, so that a program finds them as in its own project.
    const shell = await PageShell.start(await mkdtemp(at('tests/dist/page-')));
    return new PageRun(shell, await mkdtemp(join(tmpdir(), 'plinth-test-')), steps);
  }

  private constructor(shell: PageShell, dataDir: string, steps: readonly Step[]) {
    this.#shell = shell;
    this.#dataDir = dataDir;
    this.#steps = steps;
  }

  /** @returns the result of a block; `undefined` for steps that are hidden from readers. */
  async take(step: Step): Promise<Outcome | undefined> {
    const { skip, needs } = step.marks;
    if (skip !== undefined) return 'marked';
    if (needs !== undefined && !isHere(needs))
      return step.kind === 'block' ? 'not here' : undefined;
    if (step.kind === 'serve') {
      await this.#serve(step.flags);
      return undefined;
    }
    if (step.kind === 'block') return await this.#takeBlock(step);
    await this.#run(step.text);
    return undefined;
  }

  async close(): Promise<void> {
    try {
      await this.#shell.close();
    } finally {
      await this.#server?.close();
    }
    const folders = [this.#shell.folder, this.#dataDir];
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
  }

  async #takeBlock(block: Block): Promise<Outcome> {
    const { language, text, marks } = block;
    if (marks.file !== undefined) return await this.#keep(marks.file, text, block);
    if (marks.output === true || /^(?:text)?$/.test(language)) return this.#compare(block);
    if (marks.background !== undefined) {
      await this.#begin(marks.background, block);
      return 'run';
    }
    const server = SHELLS.test(language) ? flagsOf(text) : undefined;
    if (server !== undefined) {
      await this.#serve(server);
      return 'run';
    }
    if (language === 'python' && (await pythonHere()) === undefined) return 'not here';
    this.#printed = await this.#run(await this.#commandsOf(block));
    return 'run';
  }

  /** Returns the shell commands for a block. */
  async #commandsOf({ language, text, line }: Block): Promise<string> {
    const file = join(this.#shell.folder, `block-${line}`);
    if (SHELLS.test(language)) return text;
    if (language === 'sql') return `plinth query ${quote(text.trim())}\n`;
    if (language === 'influxql') return `plinth query --language influxql ${quote(text.trim())}\n`;
    await this.#ensureServer();
    await writeFile(`${file}.${language}`, this.#here(text));
    if (language === 'python') return `${await pythonHere()} ${file}.python\n`;
    if (language === 'js' || language === 'ts') {
      const compile = `${ESBUILD} --log-level=warning ${file}.${language} --outfile=${file}.mjs`;
      return `${compile}\n'${process.execPath}' ${file}.mjs\n`;
    }
    throw new Error(`nothing runs "${language}": mark the block, or say what it is for`);
  }

  /** Saves the file of a block. Fails if no later command of the page names it, because it would not be tested. */
  async #keep(name: string, text: string, block: Block): Promise<Outcome> {
    const later = this.#steps.slice(this.#steps.indexOf(block) + 1);
    const isUsed = later.some((step) =>
      (step.kind === 'serve' ? step.flags : step.text).includes(name.split('/')[0] ?? name),
    );
    if (!isUsed) throw new Error(`nothing on the page uses ${name}`);
    await this.#ensureServer();
    const file = join(this.#shell.folder, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, this.#here(text));
    return 'used';
  }

  #compare({ text, language }: Block): Outcome {
    if (this.#printed === undefined) {
      throw new Error('no block before this one prints anything: mark it, or name its language');
    }
    if (language === 'json') assertJsonPrinted(this.#printed, text);
    else assertPrinted(this.#printed, this.#here(text));
    this.#printed = undefined;
    return 'compared';
  }

  async #run(script: string): Promise<string> {
    await this.#ensureServer();
    return await this.#shell.run(this.#here(script));
  }

  async #begin(port: string, block: Block): Promise<void> {
    await this.#ensureServer();
    const free = await freePort();
    this.#ports.set(port, free);
    await this.#shell.begin(this.#here(await this.#commandsOf(block)));
    const endMs = Date.now() + PORT_TIMEOUT_MS;
    while (!(await isOpen(free))) {
      if (Date.now() > endMs) throw new Error(`nothing listens on port ${port} of the page`);
      await sleep(100);
    }
  }

  async #ensureServer(): Promise<void> {
    if (this.#server === undefined) await this.#serve('');
  }

  /** Starts a server on the folder of the previous one. @param words its flags as shell words. */
  async #serve(words: string): Promise<void> {
    await this.#server?.close();
    const given = (await this.#shell.run(`printf '%s\\n' ${words}\n`)).split('\n').filter(Boolean);
    const kept = given.filter(
      (flag, index) => !OWN_FLAGS.test(flag) && !OWN_FLAGS.test(given[index - 1] ?? ''),
    );
    const flags = kept.map((flag) => flag.replace(/^\.(?=\/)/, this.#shell.folder));
    // Only the command reads a configuration file.
    const Server = flags.some((flag) => /^--config\b/.test(flag)) ? ServerProcess : ServerInProcess;
    this.#server = await Server.start({
      flags,
      env: WITH_SAMPLE_DATA,
      dataDir: this.#dataDir,
    });
    await this.#shell.run(`export PLINTH_HOST_URL=${this.#server.url}\n`);
  }

  /** Replaces the ports of the page with the ports of this run. */
  #here(text: string): string {
    const port = this.#server === undefined ? '8181' : new URL(this.#server.url).port;
    let here = text.replaceAll('npm run -s plinth --', 'plinth').replaceAll(/\b8181\b/g, port);
    for (const [said, port] of this.#ports) {
      here = here.replaceAll(new RegExp(`\\b${said}\\b`, 'g'), String(port));
    }
    return here;
  }
}

/** Returns the flags of a block that only starts a server. */
function flagsOf(text: string): string | undefined {
  const commands = text.replaceAll('\\\n', ' ').replaceAll(/^#.*$/gm, '').trim();
  if (commands.includes('\n') || !SERVES.test(commands)) return undefined;
  return commands.replace(SERVES, '');
}

const pythonHere = (): Promise<string | undefined> => pythonWith(PYTHON, { skip: () => {} });

const isHere = (name: string): boolean =>
  /^[A-Z_]+$/.test(name)
    ? process.env[name] !== undefined
    : spawnSync('sh', ['-c', `PATH=$PATH:/usr/sbin command -v ${name}`]).status === 0;

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (isThere: boolean) => () => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('connect', end(true)).once('error', end(false));
  });
