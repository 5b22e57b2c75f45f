import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as aWhile } from 'node:timers/promises';
import { serveInOrder } from './pipelined-requests.js';

const requestOf = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
/** More than ten times the size of one read. */
const FLOOD_COUNT = 30_000;

describe('serveInOrder', () => {
  it('leaves far-ahead requests in the socket and serves them in order later', async (context) => {
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
    // Until no more data is read.
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

  it('starts no request after the last response of a connection', async (context) => {
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

  it('answers all requests of a client that has half-closed the connection', async (context) => {
    const { client } = await open(context, ({ url = '' }, response) => {
      setTimeout(() => response.end(url), 50);
    });
    const paths = ['/first', '/second', '/third'];
    client.end(paths.map(requestOf).join(''));
    assert.deepEqual((await text(client)).match(/\/(first|second|third)/g), paths);
  });

  it('sends a complete long response to a half-closed client', async (context) => {
    const { client } = await open(context, async (_request, response) => {
      for (let piece = 0; piece < 6; piece++) {
        await aWhile(300);
        response.write('piece\n');
      }
      response.end();
    });
    client.end(requestOf('/'));
    assert.equal((await text(client)).match(/piece/g)?.length, 6);
  });

  for (const leave of ['end', 'destroy'] as const) {
    it(`tells a request that sends nothing that its client has left (${leave})`, async (context) => {
      const begun = new EventEmitter();
      const isBegun = once(begun, 'request');
      const { client } = await open(context, (_request, response) => {
        begun.emit('request', response);
      });
      client.resume();
      client.write(requestOf('/'));
      const [response] = (await isBegun) as [ServerResponse]; // As emitted above.
      const isClosed = once(response, 'close');
      client[leave]();
      await isClosed;
      assert.ok(!response.writableFinished);
    });
  }
});

async function open(
  context: TestContext,
  response: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly server: Server; readonly client: Socket }> {
  const server = createServer(response);
  serveInOrder(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1'); // It listens on TCP.
  client.on('error', () => undefined); // It may be reset with unread requests.
  context.after(() => {
    client.destroy();
    server.close();
    server.closeAllConnections();
  });
  return { server, client };
}
