import type { Server } from 'node:http';
import {
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { Socket } from 'node:net';

/** Source: RFC 9113, section 3.4. */
const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/** A connection that says nothing for so long is closed. */
const FIRST_BYTES_TIMEOUT_MS = 60_000;

export type Http2Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

/**
 * Makes an HTTP/1.1 server also speak HTTP/2 by prior knowledge: the first bytes of each connection decide, once.
 * The HTTP/1.1 server keeps listening and counting connections itself, so its limits and its closing stay whole.
 */
export function serveHttp2Too(http1: Server, handler: Http2Handler): Http2Side {
  const http2 = createServer({}, (request, response) => {
    announceBody(request);
    handler(request, response);
  });
  const sessions = new Set<ServerHttp2Session>();
  http2.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  // The session closes itself on a protocol error; nobody else is concerned.
  http2.on('sessionError', () => {});

  /** Connections that have not said yet what they speak. */
  const silent = new Set<Socket>();
  const serveHttp1 = http1.listeners('connection');
  http1.removeAllListeners('connection');
  http1.on('connection', (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
    whenTold(socket, (isHttp2) => {
      silent.delete(socket);
      if (isHttp2) http2.emit('connection', socket);
      else for (const serve of serveHttp1) Reflect.apply(serve, http1, [socket]);
    });
  });
  return {
    closeGracefully() {
      for (const socket of silent) socket.destroy();
      for (const session of sessions) session.close();
    },
    destroy() {
      for (const session of sessions) session.destroy();
    },
  };
}

/**
 * The router takes a request for one without a body unless a header of HTTP/1.1 says that there is one. HTTP/2 says so
 * by frames, and its clients send a length only when they like.
 */
function announceBody({ headers, stream }: Http2ServerRequest): void {
  if (headers['content-length'] !== undefined || stream.endAfterHeaders) return;
  headers['transfer-encoding'] = 'chunked';
}

export interface Http2Side {
  /** Tells clients to go away; running streams end by themselves, connections without a request at once. */
  closeGracefully(): void;
  destroy(): void;
}

/** Looks at the first bytes and puts them back. Calls once, or never when the connection ends before. */
function whenTold(socket: Socket, tell: (isHttp2: boolean) => void): void {
  let head: Buffer | undefined;
  const onEarlyEnd = (): void => {
    socket.destroy();
  };
  const onReadable = (): void => {
    const piece: Buffer | null = socket.read();
    if (piece === null) return;
    head = head === undefined ? piece : Buffer.concat([head, piece]);
    const size = Math.min(head.length, HTTP2_PREFACE.length);
    const isPreface = HTTP2_PREFACE.compare(head, 0, size, 0, size) === 0;
    // `P` alone may still become PUT or PRI: wait for more. Bytes put back at once would come again without end.
    if (isPreface && size < HTTP2_PREFACE.length) return;
    socket.unshift(head);
    socket.setTimeout(0);
    socket.removeListener('timeout', onEarlyEnd);
    socket.removeListener('error', onEarlyEnd);
    socket.removeListener('end', onEarlyEnd);
    socket.removeListener('readable', onReadable);
    tell(isPreface);
  };
  socket.setTimeout(FIRST_BYTES_TIMEOUT_MS);
  socket.on('timeout', onEarlyEnd);
  socket.on('error', onEarlyEnd);
  socket.on('end', onEarlyEnd);
  socket.on('readable', onReadable);
}
