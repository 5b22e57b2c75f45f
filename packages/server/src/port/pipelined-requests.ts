import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { cutWhenSilent } from './half-closed.js';

/**
 * Pipelined requests of one connection that may wait, plus the requests of the same piece. Further data stays in the
 * socket, which applies backpressure to the client.
 */
const MAX_WAITING = 64;

interface Pipeline {
  last: ServerResponse;
  waitingCount: number;
}

/**
 * Starts a request only after the response to the previous one on its connection. A client that pipelines a write and
 * a query sees the written rows, and writes stay in order. Node would start all of them at the same time and only
 * order the responses. Source: RFC 9112, section 9.3.2. A client that has closed its sending side still receives its
 * responses.
 * @returns whether a connection has a request without a complete response.
 */
export function serveInOrder(http1: Server): (socket: Socket) => boolean {
  // Without this option Node closes the connection when the client half-closes it. The option is undocumented, but
  // it is the only one available.
  Object.assign(http1, { httpAllowHalfOpen: true });
  // The server's own listeners of its `request` event.
  const listeners = http1.listeners('request') as ((
    request: IncomingMessage,
    response: ServerResponse,
  ) => void)[];
  http1.removeAllListeners('request');
  const pipelines = new WeakMap<Socket, Pipeline>();
  http1.on('request', (request, response) => {
    const { socket } = request;
    const serve = (): void => {
      // Announces that the connection is about to close.
      if (!http1.listening) response.shouldKeepAlive = false;
      for (const listener of listeners) Reflect.apply(listener, http1, [request, response]);
    };
    const pipeline = pipelines.get(socket);
    if (pipeline === undefined) {
      const first: Pipeline = { last: response, waitingCount: 0 };
      pipelines.set(socket, first);
      socket.once('end', () => cutWhenSilent(socket));
      // Node resumes reading after each complete request.
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
      // The response may have closed the connection, so further requests would receive no response.
      if (socket.destroyed || socket.writableEnded) return;
      serve();
      if (pipeline.waitingCount < MAX_WAITING) socket.resume();
    });
  });
  return (socket) => pipelines.get(socket)?.last.closed === false;
}
