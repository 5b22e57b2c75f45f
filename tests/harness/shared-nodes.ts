import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServerProcess, type ServerProcessOptions } from './server-process.js';
import { TestDatabase } from './test-database.js';

/** For what comes at once on a machine that has time. */
const PATIENCE_MS = 20_000;

/** Of nodes of one platform: the master key is the same. */
export const SHARED_ENV = { PLINTH_MASTER_KEY: 'one key for all the nodes of this test' };

/** Nodes with folders of their own on one database. */
export class SharedNodes implements AsyncDisposable {
  readonly database: TestDatabase;
  readonly #alike: ServerProcessOptions;
  readonly #started: ServerProcess[] = [];

  /** @param alike what all of them are started with. */
  static async create(alike: ServerProcessOptions): Promise<SharedNodes> {
    return new SharedNodes(await TestDatabase.create(), alike);
  }

  private constructor(database: TestDatabase, alike: ServerProcessOptions) {
    this.database = database;
    this.#alike = alike;
  }

  /** @param more its own; `databaseUrl` where it does not reach the database directly. */
  async start(
    more: ServerProcessOptions & { readonly databaseUrl?: string } = {},
  ): Promise<ServerProcess> {
    const { flags = [], databaseUrl = this.database.url, ...rest } = more;
    const { flags: alike = [], env, ...others } = this.#alike;
    const server = await ServerProcess.start({
      ...others,
      ...rest,
      env: { ...SHARED_ENV, ...env },
      flags: [...alike, `--server-database-url=${databaseUrl}`, ...flags],
    });
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
