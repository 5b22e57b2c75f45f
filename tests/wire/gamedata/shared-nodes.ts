import assert from 'node:assert/strict';
import {
  type RunningServer,
  SHARED_ENV,
  SharedNodes,
  until,
  WITH_SAMPLE_DATA,
} from '../../harness/index.js';
import type { WireRecord } from './game-client.js';

export const EDITOR_TOKEN = 'editor-token-for-tests';
export const NODE = {
  flags: ['--services', 'gamedata', '--disable-authz', 'health,ready,metrics'],
  env: {
    ...WITH_SAMPLE_DATA,
    ...SHARED_ENV,
    PLINTH_GAMEDATA_ADMIN_TOKEN: EDITOR_TOKEN,
  },
};

export interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly json: Record<string, unknown> & { readonly data?: WireRecord };
}

export const gamedataNodes = () => SharedNodes.create(NODE);

export async function edit(
  server: RunningServer,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const { status, text, ...response } = await server.http.send(`/api/editor/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${EDITOR_TOKEN}`,
      'content-type': 'application/json',
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status, headers: response.headers, json: JSON.parse(text) };
}

/** Like `edit`, but asserts success. */
export async function done(...request: Parameters<typeof edit>): Promise<Response> {
  const response = await edit(...request);
  assert.equal(
    response.status,
    200,
    `${request[1]} ${request[2]}: ${JSON.stringify(response.json)}`,
  );
  return response;
}

const LISTS = ['items', 'traders', 'maps', 'quests', 'item-presets', 'ammunition', 'storyline'];

/** All data that a node serves to readers and editors. */
export async function shownBy(server: RunningServer): Promise<string> {
  const shown: unknown[] = [];
  for (const list of LISTS) {
    const { status, text, headers } = await server.http.send(`/api/${list}?limit=5000`);
    shown.push([list, status, headers['etag'], headers['x-data-version'], text]);
    shown.push((await edit(server, 'GET', list)).json);
  }
  shown.push((await server.http.send('/api/versions')).text);
  return JSON.stringify(shown);
}

export async function untilEqual(servers: readonly RunningServer[]): Promise<void> {
  const areEqual = async () => new Set(await Promise.all(servers.map(shownBy))).size === 1;
  await until(areEqual, 'all nodes show the same');
}

export const isOpen = async (server: RunningServer): Promise<boolean> =>
  (await server.http.send('/api/items?limit=1')).status === 200;
