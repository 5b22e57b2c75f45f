import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

type Negotiate = (socket: Socket, asked: (target: string) => Promise<void>) => void;

/** A proxy that records the targets of its CONNECT requests. */
export class EgressProxy {
  readonly url: string;
  /** `address:port`, in the order of the requests. */
  readonly targets: readonly string[];
  readonly #listener: Server;

  /** @param kind Source of `socks5`: RFC 1928. */
  static async start(kind: 'http' | 'socks5'): Promise<EgressProxy> {
    const targets: string[] = [];
    const listener = createServer((socket) => {
      socket.on('error', () => {});
      NEGOTIATE[kind](socket, async (target) => {
        targets.push(target);
        const colon = target.lastIndexOf(':');
        const upstream = connect(Number(target.slice(colon + 1)), target.slice(0, colon));
        upstream.on('error', () => socket.destroy());
        await once(upstream, 'connect');
        socket.pipe(upstream).pipe(socket);
      });
    });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    listener.unref();
    const { port } = listener.address() as AddressInfo;
    return new EgressProxy(listener, `${kind}://127.0.0.1:${port}`, targets);
  }

  private constructor(listener: Server, url: string, targets: readonly string[]) {
    this.#listener = listener;
    this.url = url;
    this.targets = targets;
  }

  close(): void {
    this.#listener.close();
  }
}

const NEGOTIATE: Readonly<Record<'http' | 'socks5', Negotiate>> = {
  http: (socket, asked) => {
    socket.once('data', async (head) => {
      const [, target = ''] = /^CONNECT (\S+) HTTP\/1\.1\r\n/.exec(head.toString()) ?? [];
      await asked(target);
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    });
  },
  socks5: (socket, asked) => {
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0]));
      socket.once('data', async (request) => {
        assert.deepEqual([...request.subarray(0, 4)], [5, 1, 0, 1]);
        await asked(`${[...request.subarray(4, 8)].join('.')}:${request.readUInt16BE(8)}`);
        socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
      });
    });
  },
};
