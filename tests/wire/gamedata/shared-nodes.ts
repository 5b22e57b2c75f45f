import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServerProcess, TestDatabase } from '../../harness/index.js';
import type { WireRecord } from './game-client.js';

const TOKEN = 'editor-token-for-tests';
/** For what comes at once on a machine that has time. */
const PATIENCE_MS = 20_000;

export const NODE = {
  flags: ['--services', 'gamedata', '--disable-authz', 'health,ready,metrics'],
  env: {
    PLINTH_GAMEDATA_ADMIN_TOKEN: TOKEN,
    PLINTH_MASTER_KEY: 'one key for all the nodes of this test',
  },
};

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly json: Record<string, unknown> & { readonly data?: WireRecord };
}

/** Nodes with folders of their own on one database. */
export class SharedNodes {
  readonly database: TestDatabase;
  readonly #started: ServerProcess[] = [];

  static async create(): Promise<SharedNodes> {
    return new SharedNodes(await TestDatabase.create());
  }

  private constructor(database: TestDatabase) {
    this.database = database;
  }

  async start(
    more: { readonly flags?: readonly string[]; readonly dataDir?: string } = {},
  ): Promise<ServerProcess> {
    const { flags = [], ...rest } = more;
    const server = await ServerProcess.start({
      ...NODE,
      ...rest,
      flags: [...NODE.flags, `--server-database-url=${this.database.url}`, ...flags],
    });
    this.#started.push(server);
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#started) await server.close();
    await this.database[Symbol.asyncDispose]();
  }
}

export async function edit(
  server: ServerProcess,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const { status, text, ...answer } = await server.http.send(`/api/editor/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status, headers: answer.headers, json: JSON.parse(text) };
}

/** As `edit`, for what has to succeed. */
export async function done(...request: Parameters<typeof edit>): Promise<Answer> {
  const answer = await edit(...request);
  assert.equal(answer.status, 200, `${request[1]} ${request[2]}: ${JSON.stringify(answer.json)}`);
  return answer;
}

export async function until(isSo: () => Promise<boolean>, what: string): Promise<void> {
  const startMs = performance.now();
  while (!(await isSo())) {
    assert.ok(performance.now() - startMs < PATIENCE_MS, `it never came: ${what}`);
    await sleep(20);
  }
}

const LISTS = ['items', 'traders', 'maps', 'quests', 'item-presets', 'ammunition', 'storyline'];

/** All that a node says of its data, to readers and to editors. */
export async function shownBy(server: ServerProcess): Promise<string> {
  const shown: unknown[] = [];
  for (const list of LISTS) {
    const { status, text, headers } = await server.http.send(`/api/${list}?limit=5000`);
    shown.push([list, status, headers['etag'], headers['x-data-version'], text]);
    shown.push((await edit(server, 'GET', list)).json);
  }
  shown.push((await server.http.send('/api/versions')).text);
  return JSON.stringify(shown);
}

export async function untilEqual(servers: readonly ServerProcess[]): Promise<void> {
  const areEqual = async () => new Set(await Promise.all(servers.map(shownBy))).size === 1;
  await until(areEqual, 'all nodes show the same');
}

export const isOpen = async (server: ServerProcess): Promise<boolean> =>
  (await server.http.send('/api/items?limit=1')).status === 200;
