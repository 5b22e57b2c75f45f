import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { TestContext } from 'node:test';
import { freePorts } from './free-ports.js';

/** The unpacked `trino-server-476`. */
const HOME = process.env['PLINTH_TEST_TRINO'];
const JAVA_HOME = process.env['PLINTH_TEST_TRINO_JAVA'] ?? '/usr/lib/jvm/temurin-25-jdk-amd64';
const START_TIMEOUT_MS = 480_000;
const QUERY_TIMEOUT_MS = 120_000;
const POLL_MS = 50;
/** For some seconds after the start, the coordinator does not know which nodes have a catalog. */
const NOT_ANNOUNCED = 'No nodes available to run query';

type Properties = Readonly<Record<string, string>>;

/** One process of Trino with a heap of 1 GB. */
interface Node {
  readonly child: ChildProcess;
  /** The last lines of its log. */
  readonly output: () => string;
}

/** A coordinator that also computes, or a coordinator with separate workers. */
export class Trino implements AsyncDisposable {
  readonly url: string;
  readonly #nodes: readonly Node[];
  readonly #folder: string;

  /**
   * @param catalogs properties by catalog
   * @param workerCount processes beside the coordinator, which then only coordinates
   * @returns `undefined` (and the test is skipped) if Trino is not installed
   */
  static async start(
    context: Pick<TestContext, 'skip'>,
    catalogs: Readonly<Record<string, Properties>>,
    { workerCount = 0 }: { readonly workerCount?: number } = {},
  ): Promise<Trino | undefined> {
    const java = join(JAVA_HOME, 'bin', 'java');
    if (HOME === undefined || !existsSync(java)) {
      context.skip(
        'Trino is not installed; unpack io.trino:trino-server:476:tar.gz, and set PLINTH_TEST_TRINO to its folder and PLINTH_TEST_TRINO_JAVA to a JDK 24 or newer',
      );
      return undefined;
    }
    const folder = await mkdtemp(join(tmpdir(), 'plinth-trino-'));
    const ports = await freePorts(1 + workerCount);
    const url = `http://127.0.0.1:${ports[0]}`;
    await mkdir(join(folder, 'catalog'));
    for (const [name, properties] of Object.entries(catalogs))
      await writeFile(join(folder, 'catalog', `${name}.properties`), propertiesText(properties));
    await mkdir(join(folder, 'plugin'));
    // The other plugins only delay the start.
    await symlink(join(HOME, 'plugin', 'iceberg'), join(folder, 'plugin', 'iceberg'));
    const nodes: Node[] = [];
    for (const [index, port] of ports.entries()) {
      const isCoordinator = index === 0;
      const config = {
        coordinator: String(isCoordinator),
        ...(isCoordinator && { 'node-scheduler.include-coordinator': String(workerCount === 0) }),
        'http-server.http.port': String(port),
        'discovery.uri': url,
        'node.internal-address': '127.0.0.1',
        'catalog.config-dir': join(folder, 'catalog'),
        'plugin.dir': join(folder, 'plugin'),
        'query.max-memory-per-node': '200MB',
        // The default of a minute is the time until a lost worker fails a query.
        'exchange.max-error-duration': '20s',
        'query.remote-task.max-error-duration': '20s',
        'memory.heap-headroom-per-node': '250MB',
      };
      nodes.push(await startNode(java, join(folder, `node${index}`), config));
    }
    const trino = new Trino(url, nodes, folder);
    try {
      await trino.#untilStarted(Math.max(1, workerCount + 1));
    } catch (error) {
      const output = nodes.map((node) => node.output()).join('\n');
      await trino[Symbol.asyncDispose]();
      throw new Error(`Trino does not start\n${output}`, { cause: error });
    }
    return trino;
  }

  private constructor(url: string, nodes: readonly Node[], folder: string) {
    this.url = url;
    this.#nodes = nodes;
    this.#folder = folder;
  }

  /** Kills one worker, without a notice to the coordinator. */
  killWorker(): void {
    this.#nodes.at(-1)?.child.kill('SIGKILL');
  }

  /** Returns the rows of a statement. Integers above 2^53 must be cast to text. */
  async query(statement: string): Promise<readonly (readonly unknown[])[]> {
    const deadlineMs = performance.now() + QUERY_TIMEOUT_MS;
    const rows: unknown[][] = [];
    let page = await this.#call(`${this.url}/v1/statement`, statement);
    for (;;) {
      if (page.error?.message === NOT_ANNOUNCED && performance.now() < deadlineMs) {
        await new Promise((resolve) => setTimeout(resolve, 10 * POLL_MS));
        page = await this.#call(`${this.url}/v1/statement`, statement);
        continue;
      }
      if (page.error !== undefined) throw new Error(`${statement}: ${page.error.message}`);
      rows.push(...(page.data ?? []));
      if (page.nextUri === undefined) return rows;
      if (performance.now() > deadlineMs) throw new Error(`${statement}: timed out`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      page = await this.#call(page.nextUri);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child } of this.#nodes) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Resolves when all nodes are known to the coordinator. */
  async #untilStarted(nodeCount: number): Promise<void> {
    const deadlineMs = performance.now() + START_TIMEOUT_MS;
    const count = "SELECT count(*) FROM system.runtime.nodes WHERE state = 'active'";
    for (;;) {
      const info = await fetch(`${this.url}/v1/info`)
        .then((response) => response.json())
        .catch(() => undefined);
      const isUp = Reflect.get(Object(info), 'starting') === false;
      const [[active] = []] = isUp ? await this.query(count).catch(() => []) : [];
      if (active === nodeCount) return;
      if (
        performance.now() > deadlineMs ||
        this.#nodes.some(({ child }) => child.exitCode !== null)
      )
        throw new Error('the nodes do not start in time');
      await new Promise((resolve) => setTimeout(resolve, 10 * POLL_MS));
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

async function startNode(java: string, folder: string, config: Properties): Promise<Node> {
  await mkdir(folder);
  await writeFile(join(folder, 'config.properties'), propertiesText(config));
  const child = spawn(
    java,
    [
      ...['-Xmx1G', '-XX:+UseG1GC', '-Djdk.attach.allowAttachSelf=true'],
      ...['--enable-native-access=ALL-UNNAMED', '--sun-misc-unsafe-memory-access=allow'],
      ...['-Dnode.environment=test', `-Dnode.id=${basename(folder)}`, `-Dnode.data-dir=${folder}`],
      ...[`-Dconfig=${join(folder, 'config.properties')}`, '-Dlog.enable-console=true'],
      ...['-cp', join(HOME ?? '', 'lib', '*'), 'io.trino.server.TrinoServer'],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => {
      output = `${output}${piece}`.slice(-4000);
    });
  return { child, output: () => output };
}

interface Page {
  readonly nextUri?: string;
  readonly data?: unknown[][];
  readonly error?: { readonly message: string };
}

const propertiesText = (properties: Properties): string =>
  Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
