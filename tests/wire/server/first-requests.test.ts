// Source: tsdb-http, "Service endpoints": a listening server accepts requests, even while it builds its routes.
// Own process: what its first requests load is measured.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RawConnection, ServerProcess } from '../../harness/index.js';

/** One of each kind: fixed path, parametric path, each service, refused, preflight, unknown path. */
const REQUESTS: readonly (readonly [head: string, status: number])[] = [
  ['GET /health', 200],
  ['GET /ping', 200],
  ['GET /metrics', 200],
  ['GET /api/v3/configure/database?format=json', 200],
  ['OPTIONS /api/v3/write_lp', 204],
  ['GET /nowhere', 404],
  ['GET /v2/core/accounts', 401],
  ['GET /app', 401],
  ['GET /rate_limit', 200],
];

describe('the first requests after the port opens', () => {
  it('get the same responses as later requests', async () => {
    const server = await ServerProcess.start();
    try {
      const ask = async (head: string): Promise<string> => {
        using connection = await RawConnection.open(server.url);
        connection.send(`${head} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
        return await connection.untilEnd();
      };
      const askAll = async (): Promise<readonly string[]> =>
        await Promise.all(REQUESTS.map(async ([head]) => statusAndType(await ask(head))));
      const early = await askAll();
      for (const [index, [head, status]] of REQUESTS.entries()) {
        assert.equal(early[index]?.slice(0, 3), String(status), head);
      }
      assert.deepEqual(await askAll(), early);
    } finally {
      await server.close();
    }
  });
});

const statusAndType = (response: string): string => {
  const type = /^content-type: (.*)$/im.exec(response)?.[1] ?? '';
  return `${response.slice(9, 12)} ${type}`;
};
