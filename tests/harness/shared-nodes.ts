import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnServer } from './running-server.js';
import { ServerInProcess } from './server-in-process.js';
import { ServerProcess, type ServerProcessOptions } from './server-process.js';
import { TestDatabase } from './test-database.js';

/** Timeout for changes that normally arrive immediately. */
const PATIENCE_MS = 20_000;

/** Environment of all nodes of one platform: they share the master key. */
export const SHARED_ENV = { PLINTH_MASTER_KEY: 'one key for all the nodes of this test' };

/** Options of a single node; `databaseUrl` if it does not reach the database directly. */
type NodeOptions = ServerProcessOptions & { readonly databaseUrl?: string };

/** Nodes with separate folders on one database. */
export class SharedNodes implements AsyncDisposable {
  readonly database: TestDatabase;
  readonly #alike: ServerProcessOptions;
  readonly #started: OwnServer[] = [];

  /** @param alike options for all nodes. */
  static async create(alike: ServerProcessOptions): Promise<SharedNodes> {
    return new SharedNodes(await TestDatabase.create(), alike);
  }

  private constructor(database: TestDatabase, alike: ServerProcessOptions) {
    this.database = database;
    this.#alike = alike;
  }

  /** Starts a node in the test's process. */
  async start(more: NodeOptions = {}): Promise<ServerInProcess> {
    return this.#keep(await ServerInProcess.start(this.#optionsOf(more)));
  }

  /** For tests that kill or suspend a process. */
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
