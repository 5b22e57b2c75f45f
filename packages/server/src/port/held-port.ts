import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { BindAddress } from '@plinth/kernel';

/** An address that is bound before it is served: whoever comes meanwhile is turned away at once. */
export interface HeldPort {
  /** What to serve takes its place by `listen(socket)`; it is theirs to close then. */
  readonly socket: Server;
  /** As it was given. */
  readonly host: string;
  /** Gives the address back when it is not served. */
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
