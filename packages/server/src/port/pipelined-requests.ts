import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { cutWhenSilent } from './half-closed.js';

/**
 * Requests of one connection that may wait for those before them, and what came in one piece with the last; more wait in the
 * socket, and the client with them.
 */
const MAX_WAITING = 64;

interface Pipeline {
  last: ServerResponse;
  waitingCount: number;
}

/**
 * Begins a request when the one before it on its connection is answered: who sends ahead a write and a query of what was
 * written gets the rows, and a later write stays the later one. Node begins them all at once and orders the answers alone.
 * Source: RFC 9112, section 9.3.2. A client that has ended its side behind its requests gets their answers all the same.
 * @returns whether a request of a connection has no whole answer yet.
 */
export function serveInOrder(http1: Server): (socket: Socket) => boolean {
  // Without it Node ends the connection together with its client's side. It has no documentation, and no other way.
  Object.assign(http1, { httpAllowHalfOpen: true });
  // The server's own listeners for its own event.
  const listeners = http1.listeners('request') as ((
    request: IncomingMessage,
    response: ServerResponse,
  ) => void)[];
  http1.removeAllListeners('request');
  const pipelines = new WeakMap<Socket, Pipeline>();
  http1.on('request', (request, response) => {
    const { socket } = request;
    const serve = (): void => {
      // Who is told so sends nothing more on a connection that is about to end.
      if (!http1.listening) response.shouldKeepAlive = false;
      for (const listener of listeners) Reflect.apply(listener, http1, [request, response]);
    };
    const pipeline = pipelines.get(socket);
    if (pipeline === undefined) {
      const first: Pipeline = { last: response, waitingCount: 0 };
      pipelines.set(socket, first);
      socket.once('end', () => cutWhenSilent(socket));
      // Node goes on reading whenever it has read a whole request.
      socket.on('resume', () => {
        if (first.waitingCount >= MAX_WAITING) socket.pause();
      });
      serve();
      return;
    }
    const before = pipeline.last;
    pipeline.last = response;
    if (before.closed) {
      serve();
      return;
    }
    pipeline.waitingCount += 1;
    if (pipeline.waitingCount >= MAX_WAITING) socket.pause();
    before.once('close', () => {
      pipeline.waitingCount -= 1;
      // An answer may have been the last one of the connection: nobody would hear of what comes behind it.
      if (socket.destroyed || socket.writableEnded) return;
      serve();
      if (pipeline.waitingCount < MAX_WAITING) socket.resume();
    });
  });
  return (socket) => pipelines.get(socket)?.last.closed === false;
}
