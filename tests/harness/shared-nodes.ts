import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnServer } from './running-server.js';
import { ServerInProcess } from './server-in-process.js';
import { ServerProcess, type ServerProcessOptions } from './server-process.js';
import { TestDatabase } from './test-database.js';

/** For what comes at once on a machine that has time. */
const PATIENCE_MS = 20_000;

/** Of nodes of one platform: the master key is the same. */
export const SHARED_ENV = { PLINTH_MASTER_KEY: 'one key for all the nodes of this test' };

/** What a node has of its own; `databaseUrl` where it does not reach the database directly. */
type NodeOptions = ServerProcessOptions & { readonly databaseUrl?: string };

/** Nodes with folders of their own on one database. */
export class SharedNodes implements AsyncDisposable {
  readonly database: TestDatabase;
  readonly #alike: ServerProcessOptions;
  readonly #started: OwnServer[] = [];

  /** @param alike what all of them are started with. */
  static async create(alike: ServerProcessOptions): Promise<SharedNodes> {
    return new SharedNodes(await TestDatabase.create(), alike);
  }

  private constructor(database: TestDatabase, alike: ServerProcessOptions) {
    this.database = database;
    this.#alike = alike;
  }

  /** A node in the process of the test. */
  async start(more: NodeOptions = {}): Promise<ServerInProcess> {
    return this.#keep(await ServerInProcess.start(this.#optionsOf(more)));
  }

  /** For what ends or stops a process. */
  async startProcess(more: NodeOptions = {}): Promise<ServerProcess> {
    return this.#keep(await ServerProcess.start(this.#optionsOf(more)));
  }

  #optionsOf({ flags = [], databaseUrl = this.database.url, ...rest }: NodeOptions) {
    const { flags: alike = [], env, ...others } = this.#alike;
    return {
      ...others,
      ...rest,
      env: { ...SHARED_ENV, ...env },
      flags: [...alike, `--server-database-url=${databaseUrl}`, ...flags],
    };
  }

  #keep<Server extends OwnServer>(server: Server): Server {
    this.#started.push(server);
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#started) await server.close();
    await this.database[Symbol.asyncDispose]();
  }
}

export async function until(
  isSo: () => Promise<boolean>,
  what: string,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const startMs = performance.now();
  while (!(await isSo())) {
    assert.ok(performance.now() - startMs < patienceMs, `it never came: ${what}`);
    await sleep(20);
  }
}
