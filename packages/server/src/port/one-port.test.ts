import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createLogger, SystemClock } from '@plinth/kernel';
import { ConnectionLimit } from './connection-limit.js';
import { OnePort } from './one-port.js';
import { type GatedRoute, PlainSide } from './plain-side.js';

const plainRoute = (path: string): GatedRoute => ({
  route: {
    methods: ['GET'],
    path,
    access: 'admin',
    front: 'server',
    answer: () => ({ status: 200, headers: [], body: Buffer.from(`plain ${path}`) }),
  },
  method: 'GET',
  gate: undefined,
});

describe('OnePort before there are routes', () => {
  const clock = new SystemClock();
  const http1 = createServer((request, response) => response.end(`framework ${request.url}`));
  const plain = new PlainSide(
    {
      clock,
      log: createLogger({ level: 'fatal', destination: { write() {} } }),
      authenticate: () => ({ kind: 'admin', tokenId: 0, tokenName: '_admin' }),
      grants: () => true,
      headerLines: () => '',
      numbersOf: () => ({ count() {} }) as never, // Nobody reads what is counted.
      isDraining: () => false,
    },
    60_000,
  );
  const handler = () => assert.fail('nobody speaks HTTP/2');
  const port = new OnePort({
    http1,
    handler,
    plain,
    clock,
    tls: undefined,
    isProxy: undefined,
    limit: new ConnectionLimit(100, () => false),
  });
  before(async () => {
    http1.listen(0, '127.0.0.1');
    await once(http1, 'listening');
  });
  after(() => {
    http1.close();
    http1.closeAllConnections();
    port.closeGracefully();
    port.destroy();
  });

  async function ask(path: string): Promise<Client> {
    const socket = connect((http1.address() as AddressInfo).port, '127.0.0.1'); // It listens on TCP.
    await once(socket, 'connect');
    const client = new Client(socket);
    client.ask(path);
    return client;
  }

  it('answers plain requests as their routes come, and others when all are there', async () => {
    plain.add([plainRoute('/health')]);
    const first = await ask('/first');
    const second = await ask('/second');
    const other = await ask('/other');
    assert.equal(plain.isAnswering, false);
    const health = async (): Promise<void> => {
      const client = await ask('/health');
      assert.match(await client.answer(), /plain \/health$/);
      client.socket.destroy();
    };
    // Whoever came before has been looked at by then.
    await health();
    assert.equal(port.isWaitedFor, true);

    plain.add([plainRoute('/first')]);
    port.plainGrown();
    assert.match(await first.answer(), /plain \/first$/);
    plain.add([plainRoute('/second')]);
    port.plainGrown();
    assert.match(await second.answer(), /plain \/second$/);
    // The next request of a connection that has been answered waits as well.
    first.ask('/another');
    await health();
    assert.equal(other.received, '');
    assert.equal(first.received, '');

    port.routed();
    assert.equal(port.isWaitedFor, false);
    assert.match(await other.answer(), /framework \/other/);
    assert.match(await first.answer(), /framework \/another/);
    second.ask('/first');
    assert.match(await second.answer(), /plain \/first$/);

    for (const { socket } of [first, second, other]) socket.destroy();
  });

  it('knows whether an answer is being made', async () => {
    const { route, ...rest } = plainRoute('/slow');
    let answer = (): void => assert.fail('nobody has asked');
    const asked = new Promise<void>((resolve) => {
      const answered = new Promise<void>((end) => (answer = end));
      const slow = async () => {
        resolve();
        await answered;
        return { status: 200, headers: [], body: Buffer.from('slow') };
      };
      plain.add([{ ...rest, route: { ...route, answer: slow } }]);
    });
    const client = await ask('/slow');
    await asked;
    assert.equal(plain.isAnswering, true);
    answer();
    assert.match(await client.answer(), /slow$/);
    client.socket.destroy();
    while (plain.isAnswering) await turn();
  });
});

class Client {
  readonly socket: Socket;
  received = '';

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1').on('data', (text) => {
      this.received += text;
    });
  }

  ask(path: string): void {
    this.socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  }

  /** What has come since the last time, which is one whole answer: all of them go out in one piece. */
  async answer(): Promise<string> {
    if (this.received === '') await once(this.socket, 'data');
    const { received } = this;
    this.received = '';
    return received;
  }
}
