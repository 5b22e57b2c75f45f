import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { FastConnection, type WrittenAnswer } from './fast-connection.js';

/** Below what a socket keeps before it asks its writer to wait. */
const ANSWER_SIZE_BYTES = 8000;
const QUIET_MS = 500;
const MAX_PENDING_BYTES = 100_000;

/** Two ends of a connection, of which the server's answers every byte with `answer`. */
async function openPair(answer: WrittenAnswer) {
  let answerCount = 0;
  let goneCount = 0;
  let served: Socket | undefined;
  const server = createServer((socket) => {
    served = socket;
    new FastConnection(socket, {
      nowMs: 0,
      read: () => {
        answerCount += 1;
        const onGone = () => {
          goneCount += 1;
        };
        return { answer: async () => answer, onGone };
      },
      onCut: () => undefined,
      onLeft: () => undefined,
      handOver: () => undefined,
    }).start();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  const client = connect(port, '127.0.0.1');
  await once(client, 'connect');
  return {
    client,
    answerCount: () => answerCount,
    goneCount: () => goneCount,
    pendingBytes: () => served?.writableLength ?? 0,
    [Symbol.dispose]: () => {
      client.destroy();
      server.close();
    },
  };
}

const aWhile = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends byte after byte, each when the one before was answered, until the server answers no more. */
async function askUntilFull(pair: Awaited<ReturnType<typeof openPair>>): Promise<void> {
  for (let asked = 1; ; asked++) {
    pair.client.write('?');
    for (let waitedMs = 0; pair.answerCount() < asked; waitedMs += 5) {
      if (waitedMs > QUIET_MS && pair.pendingBytes() > 0) return;
      await aWhile(waitedMs === 0 ? 0 : 5);
    }
  }
}

describe('FastConnection', () => {
  const start = Buffer.alloc(ANSWER_SIZE_BYTES, 's');
  const body = Buffer.alloc(ANSWER_SIZE_BYTES / 2, 'b');
  for (const [what, answer] of [
    ['one piece', { start }],
    ['two pieces', { start: 'head', body }],
  ] as const) {
    it(`goes on with a client that stopped reading short answers of ${what}`, async () => {
      using pair = await openPair(answer);
      pair.client.pause();
      await askUntilFull(pair);
      const before = pair.answerCount();
      assert.ok(pair.pendingBytes() < MAX_PENDING_BYTES, 'what is sent ahead waits in the socket');
      pair.client.resume();
      const signal = AbortSignal.timeout(10_000);
      while (pair.answerCount() === before) {
        signal.throwIfAborted();
        await aWhile(5);
      }
    });

    it(`tells once of each short answer of ${what} that its client has it or is gone`, async () => {
      using pair = await openPair(answer);
      pair.client.pause();
      await askUntilFull(pair);
      assert.equal(pair.goneCount(), pair.answerCount() - 1, 'one waits to be taken');
      pair.client.destroy();
      const signal = AbortSignal.timeout(10_000);
      while (pair.goneCount() < pair.answerCount()) {
        signal.throwIfAborted();
        await aWhile(5);
      }
      await aWhile(50);
      assert.equal(pair.goneCount(), pair.answerCount());
    });
  }

  it('answers a client that has ended its side, also who works with its leaving in sight', async () => {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      new FastConnection(socket, {
        nowMs: 0,
        read: (_bytes, leaving) => ({
          async answer() {
            leaving();
            await once(socket, 'end');
            await aWhile(50);
            return { start: 'answer' };
          },
          onGone: () => undefined,
        }),
        onCut: () => undefined,
        onLeft: () => undefined,
        handOver: () => undefined,
      }).start();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // it listens on a port
    const client = connect(port, '127.0.0.1');
    client.end('?');
    assert.equal(await text(client), 'answer');
    server.close();
  });

  for (const [how, leave] of [
    ['has ended its side', (client: Socket) => client.end()],
    ['is gone', (client: Socket) => client.destroy()],
  ] as const) {
    it(`tells who asks late whether the client leaves that it ${how}`, async () => {
      const told = new EventEmitter();
      const begun = once(told, 'begun');
      const asked = once(told, 'asked');
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        new FastConnection(socket, {
          nowMs: 0,
          read: (_bytes, leaving) => ({
            async answer() {
              told.emit('begun');
              await aWhile(100); // It has left meanwhile.
              told.emit('asked', leaving());
              return await new Promise<never>(() => undefined);
            },
            onGone: () => undefined,
          }),
          onCut: () => undefined,
          onLeft: () => undefined,
          handOver: () => undefined,
        }).start();
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo; // it listens on a port
      const client = connect(port, '127.0.0.1');
      client.on('error', () => undefined);
      client.write('?');
      await begun;
      leave(client);
      const [signal] = (await asked) as [AbortSignal]; // as it is told
      if (!signal.aborted) await once(signal, 'abort');
      assert.ok(signal.aborted);
      server.close();
    });
  }
});
