import {
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type Http2Session,
} from 'node:http2';
import type { Socket } from 'node:net';

export type Http2Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

/** Requests that one connection may have open; clients wait for more. */
const MAX_STREAM_COUNT = 1000;

/** Of one connection, in MB: what waits to be sent counts, and many slow streams may wait at once. */
const MAX_SESSION_MEMORY_MB = 256;

/** What a client may send before it hears that it was taken: bodies would otherwise wait for each round trip. */
const WINDOW_BYTES = 1_048_576;

/** A connection without a sign of life for so long is asked whether anybody is there, or ended when it has no request. */
const IDLE_MS = 300_000;

/** How long the answer to that may take. */
const PING_ANSWER_MS = 20_000;

/** Serves connections that speak HTTP/2, whoever accepted them. */
export class Http2Side {
  readonly #server: Http2Server;
  /** With the number of open requests. */
  readonly #sessions = new Map<Http2Session, number>();
  readonly #sockets = new Set<Socket>();

  constructor(handler: Http2Handler) {
    this.#server = createServer(
      {
        maxSessionMemory: MAX_SESSION_MEMORY_MB,
        settings: { maxConcurrentStreams: MAX_STREAM_COUNT, initialWindowSize: WINDOW_BYTES },
      },
      (request, response) => {
        announceBody(request);
        handler(request, response);
      },
    );
    this.#server.on('session', (session) => this.#watch(session));
    this.#server.on('stream', (stream) => {
      const session = stream.session;
      if (session === undefined) return;
      this.#count(session, 1);
      stream.once('close', () => this.#count(session, -1));
    });
    // The session closes itself on a protocol error; nobody else is concerned.
    this.#server.on('sessionError', () => {});
  }

  take(socket: Socket): void {
    // Who ends its side of a connection has gone; nothing would tell that to a request that waits for room to write.
    socket.allowHalfOpen = false;
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    this.#server.emit('connection', socket);
  }

  /** Tells clients to go away; running requests end by themselves, connections without a request at once. */
  closeGracefully(): void {
    for (const session of this.#sessions.keys()) session.close();
  }

  destroy(): void {
    for (const session of this.#sessions.keys()) session.destroy();
    // A session that was told to close waits for its client to do so, even when it is destroyed.
    for (const socket of this.#sockets) socket.destroy();
  }

  #watch(session: Http2Session): void {
    this.#sessions.set(session, 0);
    session.once('close', () => this.#sessions.delete(session));
    session.setLocalWindowSize(WINDOW_BYTES);
    session.setTimeout(IDLE_MS, () => {
      if (this.#sessions.get(session) === 0) session.close();
      else askForLife(session);
    });
  }

  #count(session: Http2Session, change: number): void {
    const count = this.#sessions.get(session);
    if (count !== undefined) this.#sessions.set(session, count + change);
  }
}

/** A peer that vanished without a word would hold its requests, and what they have pinned, for ever. */
function askForLife(session: Http2Session): void {
  const late = setTimeout(() => session.destroy(), PING_ANSWER_MS);
  late.unref();
  const isSent = session.ping(() => clearTimeout(late));
  if (!isSent) session.destroy();
}

/**
 * The router takes a request for one without a body unless a header of HTTP/1.1 says that there is one. HTTP/2 says so
 * by frames, and its clients send a length only when they like.
 */
function announceBody({ headers, stream }: Http2ServerRequest): void {
  if (headers['content-length'] !== undefined || stream.endAfterHeaders) return;
  headers['transfer-encoding'] = 'chunked';
}
