import assert from 'node:assert/strict';
import type { HttpResponse, RunningServer } from '../../harness/index.js';

export interface WireRecord {
  readonly id: string;
  readonly [name: string]: unknown;
}

export interface Envelope {
  readonly total: number;
  readonly items?: readonly WireRecord[];
  readonly [name: string]: unknown;
}

/** Body of a successful JSON response. */
export async function getJson<T>(
  server: RunningServer,
  path: string,
): Promise<{ readonly body: T; readonly headers: HttpResponse['headers'] }> {
  const response = await server.http.send(path);
  assert.equal(response.status, 200, `${path}: ${response.text.slice(0, 300)}`);
  return { body: JSON.parse(response.text) as T, headers: response.headers };
}

/** Asserts a 400 response in the format of game data for this parameter. */
export async function refused(
  server: RunningServer,
  path: string,
  code: string,
  param: string,
): Promise<WireRecord> {
  const response = await server.http.send(path);
  assert.equal(response.status, 400, `${path}: ${response.text.slice(0, 200)}`);
  const body = JSON.parse(response.text) as WireRecord;
  assert.equal(Object.keys(body)[0], 'error');
  assert.deepEqual([body['code'], body['param']], [code, param], path);
  assert.equal(response.headers['access-control-allow-origin'], '*');
  assert.equal(response.headers['cache-control'], 'no-store');
  return body;
}

/** Files in the layout of the community's repository. */
export const COMMUNITY_FILES = {
  'items.en.json': {
    aaaaaaaaaaaaaaaaaaaaaaa1: {
      id: 'aaaaaaaaaaaaaaaaaaaaaaa1',
      name: 'Red card',
      shortName: 'Red',
    },
  },
  'levels.json': { 1: { exp: 0, group: 1 }, 2: { exp: 1000, group: 1 } },
};
