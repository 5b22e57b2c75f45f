import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { BindAddress } from '@plinth/kernel';

/** A bound address that is not served yet: connections are closed immediately. */
export interface HeldPort {
  /** A server takes over with `listen(socket)`, and then closes the socket. */
  readonly socket: Server;
  /** The configured host. */
  readonly host: string;
  /** Unbinds the address if it was never served. */
  release(): Promise<void>;
}

const reject = (socket: Socket): void => {
  socket.on('error', () => undefined);
  socket.resetAndDestroy();
};

/** Throws as `listen` does: `EADDRINUSE`, `EACCES`. */
export async function holdPort({ host, port }: BindAddress): Promise<HeldPort> {
  const socket = createServer(reject);
  socket.listen({ host, port });
  await once(socket, 'listening');
  return {
    socket,
    host,
    async release() {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}
