import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { freePort } from './free-ports.js';

/** The unpacked `trino-server-476`. */
const HOME = process.env['PLINTH_TEST_TRINO'];
const JAVA_HOME = process.env['PLINTH_TEST_TRINO_JAVA'] ?? '/usr/lib/jvm/temurin-25-jdk-amd64';
const START_TIMEOUT_MS = 240_000;
const QUERY_TIMEOUT_MS = 120_000;
const POLL_MS = 50;

/** One node of Trino with a heap of 1 GB: coordinator and worker. */
export class Trino implements AsyncDisposable {
  readonly #url: string;
  readonly #child: ChildProcess;
  readonly #folder: string;

  /** @param catalogs properties by catalog @returns `undefined` (and the test is skipped) if Trino is not there */
  static async start(
    context: Pick<TestContext, 'skip'>,
    catalogs: Readonly<Record<string, Readonly<Record<string, string>>>>,
  ): Promise<Trino | undefined> {
    const java = join(JAVA_HOME, 'bin', 'java');
    if (HOME === undefined || !existsSync(java)) {
      context.skip(
        'Trino is not there; unpack io.trino:trino-server:476:tar.gz, and set PLINTH_TEST_TRINO to its folder and PLINTH_TEST_TRINO_JAVA to a JDK 24 or newer',
      );
      return undefined;
    }
    const folder = await mkdtemp(join(tmpdir(), 'plinth-trino-'));
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    await mkdir(join(folder, 'catalog'));
    for (const [name, properties] of Object.entries(catalogs))
      await writeFile(join(folder, 'catalog', `${name}.properties`), propertiesText(properties));
    const config = {
      coordinator: 'true',
      'node-scheduler.include-coordinator': 'true',
      'http-server.http.port': String(port),
      'discovery.uri': url,
      'catalog.config-dir': join(folder, 'catalog'),
      'plugin.dir': join(HOME, 'plugin'),
      'query.max-memory-per-node': '200MB',
      'memory.heap-headroom-per-node': '250MB',
    };
    await writeFile(join(folder, 'config.properties'), propertiesText(config));
    const child = spawn(
      java,
      [
        ...['-Xmx1G', '-XX:+UseG1GC', '-Djdk.attach.allowAttachSelf=true'],
        ...['--enable-native-access=ALL-UNNAMED', '--sun-misc-unsafe-memory-access=allow'],
        ...['-Dnode.environment=test', '-Dnode.id=one', `-Dnode.data-dir=${folder}`],
        ...[`-Dconfig=${join(folder, 'config.properties')}`, '-Dlog.enable-console=true'],
        ...['-cp', join(HOME, 'lib', '*'), 'io.trino.server.TrinoServer'],
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (piece: string) => {
        output = `${output}${piece}`.slice(-4000);
      });
    const trino = new Trino(url, child, folder);
    try {
      await trino.#untilStarted();
    } catch (error) {
      await trino[Symbol.asyncDispose]();
      throw new Error(`Trino does not start\n${output}`, { cause: error });
    }
    return trino;
  }

  private constructor(url: string, child: ChildProcess, folder: string) {
    this.#url = url;
    this.#child = child;
    this.#folder = folder;
  }

  /** Returns the rows of a statement. Integers above 2^53 must be cast to text. */
  async query(statement: string): Promise<readonly (readonly unknown[])[]> {
    const deadlineMs = performance.now() + QUERY_TIMEOUT_MS;
    const rows: unknown[][] = [];
    let page = await this.#call(`${this.#url}/v1/statement`, statement);
    for (;;) {
      if (page.error !== undefined) throw new Error(`${statement}: ${page.error.message}`);
      rows.push(...(page.data ?? []));
      if (page.nextUri === undefined) return rows;
      if (performance.now() > deadlineMs) throw new Error(`${statement}: timed out`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      page = await this.#call(page.nextUri);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGKILL');
      await once(this.#child, 'exit');
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #untilStarted(): Promise<void> {
    const deadlineMs = performance.now() + START_TIMEOUT_MS;
    for (;;) {
      const info = await fetch(`${this.#url}/v1/info`)
        .then((response) => response.json())
        .catch(() => undefined);
      if (Reflect.get(Object(info), 'starting') === false) return;
      if (performance.now() > deadlineMs || this.#child.exitCode !== null)
        throw new Error('the port does not respond');
      await new Promise((resolve) => setTimeout(resolve, 2 * POLL_MS));
    }
  }

  async #call(url: string, body?: string): Promise<Page> {
    const response = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-trino-user': 'test' },
      ...(body !== undefined && { body }),
    });
    return (await response.json()) as Page; // Source: Trino client protocol, "Query results attributes".
  }
}

interface Page {
  readonly nextUri?: string;
  readonly data?: unknown[][];
  readonly error?: { readonly message: string };
}

const propertiesText = (properties: Readonly<Record<string, string>>): string =>
  Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
