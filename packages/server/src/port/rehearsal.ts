import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { invariant, type PlainRoute, type Rehearsal } from '@plinth/kernel';
import { RouteNumbers } from '../http/http-metrics.js';
import { PlainSide, type PlainSideParts } from './plain-side.js';

const LOOPBACK = '127.0.0.1';
/** Between two questions of a rehearsal users may have theirs. */
const LONGEST_PAUSE_MS = 60 * 60 * 1000;
const HEAD_END = '\r\n\r\n';
const LAST_CHUNK = Buffer.from('0\r\n\r\n', 'latin1');

/**
 * Serves plain routes on one connection within this process, through the same code as those of clients, so that the runtime
 * compiles it before the first of them. Nobody else reaches the routes, and no metric counts what is asked.
 */
export async function openRehearsal(
  routes: readonly PlainRoute[],
  parts: Pick<PlainSideParts, 'clock' | 'log' | 'headerLines'>,
): Promise<Rehearsal> {
  const numbers = new RouteNumbers({});
  const side = new PlainSide(
    {
      ...{ ...parts, routes },
      authenticate: () => undefined,
      numbersOf: () => numbers,
      isDraining: () => false,
    },
    LONGEST_PAUSE_MS,
  );
  const [served, asking] = await socketPair();
  side.take(served, () => served.destroy());
  const client = new RehearsalClient(asking);
  return {
    ask: (url) => client.ask(url),
    close() {
      side.closeGracefully();
      side.destroy();
      asking.destroy();
    },
  };
}

/** Both ends of a connection. The port is open until it is there. */
async function socketPair(): Promise<readonly [served: Socket, asking: Socket]> {
  const server = createServer();
  server.listen(0, LOOPBACK);
  await once(server, 'listening');
  const address = server.address();
  invariant(address !== null && typeof address === 'object', 'it listens on a TCP port');
  const asking = connect(address.port, LOOPBACK);
  try {
    const served = new Promise<Socket>((resolve) => {
      server.on('connection', (socket: Socket) => {
        if (socket.remotePort === asking.localPort) resolve(socket);
        else socket.destroy();
      });
    });
    await once(asking, 'connect');
    return [await served, asking];
  } catch (error) {
    asking.destroy();
    throw error;
  } finally {
    server.close();
  }
}

/** Knows as much of HTTP as answers of the plain side take. */
class RehearsalClient {
  readonly #socket: Socket;
  #head: string | undefined;
  #sizeBytes: number | undefined;
  #received = 0;
  /** The last bytes that were received. */
  #tail = Buffer.alloc(0);
  #waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', this.#onData);
    socket.on('error', () => undefined); // Its end is what counts.
    socket.on('close', () => this.#waiting?.reject(new Error('the connection was closed')));
  }

  async ask(url: string): Promise<void> {
    this.#head = undefined;
    this.#sizeBytes = undefined;
    this.#received = 0;
    this.#tail = Buffer.alloc(0);
    await new Promise<void>((resolve, reject) => {
      if (this.#socket.destroyed) reject(new Error('the connection is closed'));
      this.#waiting = { resolve, reject };
      const head = `GET ${url} HTTP/1.1\r\nHost: ${LOOPBACK}\r\nAccept: */*\r\n\r\n`;
      this.#socket.write(head, 'latin1');
    });
  }

  readonly #onData = (bytes: Buffer): void => {
    this.#received += bytes.length;
    this.#head ??= this.#readHead(bytes);
    this.#tail = Buffer.concat([this.#tail, bytes.subarray(-LAST_CHUNK.length)]);
    this.#tail = this.#tail.subarray(-LAST_CHUNK.length);
    const isWhole =
      this.#sizeBytes === undefined
        ? this.#tail.equals(LAST_CHUNK)
        : this.#received >= this.#sizeBytes;
    if (!isWhole) return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (this.#head.startsWith('HTTP/1.1 200 ')) waiting?.resolve();
    else waiting?.reject(new Error(`an answer of ${this.#head.slice(9, 12)}`));
  };

  #readHead(bytes: Buffer): string {
    const length = bytes.indexOf(HEAD_END);
    const head = bytes.toString('latin1', 0, length);
    const size = /^content-length: (\d+)\r?$/m.exec(head)?.[1];
    this.#sizeBytes =
      size === undefined ? undefined : length + HEAD_END.length + Number.parseInt(size, 10);
    return head;
  }
}
