import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { FastConnection, type WrittenResponse } from './fast-connection.js';

/** Below the socket's high-water mark. */
const RESPONSE_SIZE_BYTES = 8000;
const QUIET_MS = 500;
const MAX_PENDING_BYTES = 100_000;

/** A client and a server connection; the server responds to every byte with `answer`. */
async function openPair(response: WrittenResponse) {
  let responseCount = 0;
  let goneCount = 0;
  let served: Socket | undefined;
  const server = createServer((socket) => {
    served = socket;
    new FastConnection(socket, {
      nowMs: 0,
      read: () => {
        responseCount += 1;
        const onClosed = () => {
          goneCount += 1;
        };
        return { sizeBytes: 1, respond: async () => response, onClosed };
      },
      onResponseFailed: () => undefined,
      onConnectionClosed: () => undefined,
      handToNode: () => undefined,
    }).start();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  const client = connect(port, '127.0.0.1');
  await once(client, 'connect');
  return {
    client,
    responseCount: () => responseCount,
    goneCount: () => goneCount,
    pendingBytes: () => served?.writableLength ?? 0,
    [Symbol.dispose]: () => {
      client.destroy();
      server.close();
    },
  };
}

const aWhile = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends bytes one by one, each after the previous response, until the server stops responding. */
async function askUntilFull(pair: Awaited<ReturnType<typeof openPair>>): Promise<void> {
  for (let asked = 1; ; asked++) {
    pair.client.write('?');
    for (let waitedMs = 0; pair.responseCount() < asked; waitedMs += 5) {
      if (waitedMs > QUIET_MS && pair.pendingBytes() > 0) return;
      await aWhile(waitedMs === 0 ? 0 : 5);
    }
  }
}

/** A server whose requests end with `;` and are echoed. Those starting with `!` are for Node's HTTP server. */
async function openEcho(options: { readonly pauseMs?: number } = {}) {
  const handedOver: Socket[] = [];
  const connections: FastConnection[] = [];
  const waiting: number[] = [];
  const turns: number[] = [];
  let turn = 0;
  let counting: NodeJS.Immediate;
  const count = (): void => {
    turn += 1;
    counting = setImmediate(count);
  };
  count();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const connection = new FastConnection(socket, {
      nowMs: 0,
      read: (bytes) => {
        const sizeBytes = bytes.indexOf(';') + 1;
        waiting.push(bytes.length + socket.readableLength);
        turns.push(turn);
        if (bytes.toString('latin1', 0, 1) === '!') return undefined;
        if (sizeBytes === 0) return 'incomplete';
        const start = bytes.toString('latin1', 0, sizeBytes);
        const isLast = start === 'last;';
        const respond = async () => {
          if (options.pauseMs !== undefined) await aWhile(options.pauseMs);
          return { start, isLast };
        };
        return { sizeBytes, respond, onClosed: () => undefined };
      },
      onResponseFailed: () => undefined,
      onConnectionClosed: () => undefined,
      handToNode: () => handedOver.push(socket),
    });
    connections.push(connection);
    connection.start();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  const client = connect(port, '127.0.0.1');
  await once(client, 'connect');
  let received = '';
  client.setEncoding('latin1').on('data', (piece: string) => {
    received += piece;
  });
  return {
    client,
    connections,
    handedOver,
    /** Unread bytes at each read. */
    waiting,
    /** Event-loop ticks of each read. */
    turns,
    until: async (isThere: (text: string) => boolean) => {
      const signal = AbortSignal.timeout(10_000);
      while (!isThere(received)) {
        signal.throwIfAborted();
        await aWhile(5);
      }
    },
    [Symbol.dispose]: () => {
      clearImmediate(counting);
      client.destroy();
      for (const socket of handedOver) socket.destroy();
      server.close();
    },
  };
}

describe('pipelined requests', () => {
  it('are answered in order, one per event-loop tick', async () => {
    using echo = await openEcho();
    const text = Array.from({ length: 200 }, (_, index) => `${index};`).join('');
    echo.client.write(text);
    await echo.until((received) => received === text);
    assert.equal(new Set(echo.turns).size, 200);
    assert.equal(echo.handedOver.length, 0);
  });

  it('wait in the socket', async () => {
    using echo = await openEcho();
    const one = `${'x'.repeat(499)};`;
    echo.client.write(one.repeat(10_000));
    await echo.until((received) => received.length >= 2_500_000);
    const most = Math.max(...echo.waiting);
    assert.ok(most <= 128 * 1024, `${most} bytes were read ahead`);
  });

  it('wait for the rest of a cut request, and go to the server if it does not arrive', async () => {
    using echo = await openEcho();
    echo.client.write('a;b');
    await echo.until((received) => received === 'a;');
    echo.client.write('c;d');
    await echo.until((received) => received === 'a;bc;');
    await echo.until(() => echo.handedOver.length > 0);
    assert.equal(String(echo.handedOver[0]?.read()), 'd');
  });

  it('go to the server with all later data when they are not for the reader', async () => {
    using echo = await openEcho();
    echo.client.end('a;!b;c;');
    await echo.until((received) => received === 'a;');
    await echo.until(() => echo.handedOver.length > 0);
    assert.equal(await text(echo.handedOver[0] as Socket), '!b;c;'); // It was read and put back.
  });

  it('are answered for a half-closed client', async () => {
    using echo = await openEcho({ pauseMs: 20 });
    echo.client.end('a;b;c;');
    await once(echo.client, 'end');
    await echo.until((received) => received === 'a;b;c;');
  });

  it('are not started after a response that ends the connection', async () => {
    using echo = await openEcho();
    echo.client.write('a;last;b;c;');
    await once(echo.client, 'end');
    await echo.until((received) => received === 'a;last;');
    assert.equal(echo.handedOver.length, 0);
  });

  it('go to the server when the reader closes', async () => {
    using echo = await openEcho({ pauseMs: 50 });
    echo.client.write('a;b;');
    await echo.until(() => echo.waiting.length > 0);
    echo.connections[0]?.closeWhenIdle();
    await echo.until(() => echo.handedOver.length > 0);
    await echo.until((received) => received === 'a;');
    assert.equal(String(echo.handedOver[0]?.read()), 'b;');
  });
});

describe('FastConnection', () => {
  const start = Buffer.alloc(RESPONSE_SIZE_BYTES, 's');
  const body = Buffer.alloc(RESPONSE_SIZE_BYTES / 2, 'b');
  for (const [what, response] of [
    ['one piece', { start }],
    ['two pieces', { start: 'head', body }],
  ] as const) {
    it(`continues with a client that paused reading short answers of ${what}`, async () => {
      using pair = await openPair(response);
      pair.client.pause();
      await askUntilFull(pair);
      const before = pair.responseCount();
      assert.ok(pair.pendingBytes() < MAX_PENDING_BYTES, 'what is sent ahead waits in the socket');
      pair.client.resume();
      const signal = AbortSignal.timeout(10_000);
      while (pair.responseCount() === before) {
        signal.throwIfAborted();
        await aWhile(5);
      }
    });

    it(`reports once for each short answer of ${what} that it was received or the client disconnected`, async () => {
      using pair = await openPair(response);
      pair.client.pause();
      await askUntilFull(pair);
      assert.equal(pair.goneCount(), pair.responseCount() - 1, 'one waits to be taken');
      pair.client.destroy();
      const signal = AbortSignal.timeout(10_000);
      while (pair.goneCount() < pair.responseCount()) {
        signal.throwIfAborted();
        await aWhile(5);
      }
      await aWhile(50);
      assert.equal(pair.goneCount(), pair.responseCount());
    });
  }

  it('answers a half-closed client, even if the handler uses the disconnect signal', async () => {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      new FastConnection(socket, {
        nowMs: 0,
        read: (_bytes, disconnectSignal) => ({
          sizeBytes: 1,
          async respond() {
            disconnectSignal();
            await once(socket, 'end');
            await aWhile(50);
            return { start: 'answer' };
          },
          onClosed: () => undefined,
        }),
        onResponseFailed: () => undefined,
        onConnectionClosed: () => undefined,
        handToNode: () => undefined,
      }).start();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // It listens on TCP.
    const client = connect(port, '127.0.0.1');
    client.end('?');
    assert.equal(await text(client), 'answer');
    server.close();
  });

  for (const [how, leave] of [
    ['has ended its side', (client: Socket) => client.end()],
    ['is gone', (client: Socket) => client.destroy()],
  ] as const) {
    it(`informs a late listener that the client ${how}`, async () => {
      const told = new EventEmitter();
      const begun = once(told, 'begun');
      const asked = once(told, 'asked');
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        new FastConnection(socket, {
          nowMs: 0,
          read: (_bytes, disconnectSignal) => ({
            sizeBytes: 1,
            async respond() {
              told.emit('begun');
              await aWhile(100); // The client has disconnected by then.
              told.emit('asked', disconnectSignal());
              return await new Promise<never>(() => undefined);
            },
            onClosed: () => undefined,
          }),
          onResponseFailed: () => undefined,
          onConnectionClosed: () => undefined,
          handToNode: () => undefined,
        }).start();
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo; // It listens on TCP.
      const client = connect(port, '127.0.0.1');
      client.on('error', () => undefined);
      client.write('?');
      await begun;
      leave(client);
      const [signal] = (await asked) as [AbortSignal]; // As emitted above.
      if (!signal.aborted) await once(signal, 'abort');
      assert.ok(signal.aborted);
      server.close();
    });
  }
});
