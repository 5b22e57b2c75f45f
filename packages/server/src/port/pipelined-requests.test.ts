import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as aWhile } from 'node:timers/promises';
import { serveInTurn } from './pipelined-requests.js';

const requestOf = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
/** More than ten times what is read in one piece. */
const FLOOD_COUNT = 30_000;

describe('serveInTurn', () => {
  it('leaves what is far ahead in the socket, and serves it in its order later', async (context) => {
    const answered: string[] = [];
    let first: ServerResponse | undefined;
    const { server, client } = await open(context, ({ url = '' }, response) => {
      answered.push(url);
      if (url === '/first') first = response;
      else response.end(url);
    });
    let seenCount = 0;
    server.prependListener('request', () => {
      seenCount += 1;
    });
    client.resume();
    client.write(requestOf('/first'));
    const flood = Array.from({ length: FLOOD_COUNT }, (_, index) => requestOf(`/${index}`)).join(
      '',
    );
    const isTaken = new Promise((resolve) => client.write(flood, resolve));
    let before = -1;
    // Until nothing more is read.
    for (; seenCount > before || seenCount < 65; await aWhile(100)) before = seenCount;
    assert.ok(
      seenCount < FLOOD_COUNT / 2,
      `${seenCount} requests were read ahead of one that is not answered`,
    );
    assert.deepEqual(answered, ['/first']);
    assert.ok(first !== undefined);
    first.end('first');
    await isTaken;
    while (answered.length <= FLOOD_COUNT) await aWhile(10);
    answered.shift();
    assert.ok(answered.every((url, index) => url === `/${index}`));
  });

  it('begins nothing behind the last answer of a connection', async (context) => {
    const begun: string[] = [];
    const { client } = await open(context, ({ url = '' }, response) => {
      begun.push(url);
      response.setHeader('connection', 'close');
      setImmediate(() => response.end(url));
    });
    const isOver = once(client, 'close');
    client.resume();
    client.write(requestOf('/first') + requestOf('/second'));
    await isOver;
    assert.deepEqual(begun, ['/first']);
  });
});

async function open(
  context: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly server: Server; readonly client: Socket }> {
  const server = createServer(answer);
  serveInTurn(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1'); // It listens on TCP.
  client.on('error', () => undefined); // It may be reset with requests that nobody reads.
  context.after(() => {
    client.destroy();
    server.close();
    server.closeAllConnections();
  });
  return { server, client };
}
