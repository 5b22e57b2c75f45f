import {
  constants,
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type Http2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '@plinth/kernel';
import { RequestQueue } from './limits/request-queue.js';

export type Http2Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

/** Maximum number of open requests per connection; clients delay further ones. */
const MAX_STREAM_COUNT = 1000;

/** Per connection, in MB: includes pending responses of many slow streams. */
const MAX_SESSION_MEMORY_MB = 256;

/** Flow-control window: with a small one, bodies would wait for each round trip. */
const WINDOW_BYTES = 1_048_576;

/** Timeout for the first complete request head of a connection. */
const FIRST_HEAD_MS = 15_000;
const SWEEP_INTERVAL_MS = 5_000;

/** Timeout for the response to a ping. */
const PING_RESPONSE_MS = 20_000;

/**
 * Limit of canceled requests: an initial burst, then a rate per second. Canceling is free for the client and does not
 * count against its open requests. Source: CVE-2023-44487.
 */
const MAX_CANCELLED_BURST = 500;
const CANCELLED_PER_SEC = 50;

/** State of a connection. */
interface SessionState {
  openCount: number;
  /** When the last request ended. */
  idleSinceMs: number;
  hasAsked: boolean;
  /** Requests that it may still cancel, and the time of that count. */
  cancellationsLeft: number;
  sinceMs: number;
  /** The client has canceled too many requests. */
  isTooBusy: boolean;
}

/** Serves HTTP/2 connections accepted elsewhere. */
export class Http2Side {
  readonly #server: Http2Server;
  readonly #clock: Clock;
  readonly #keepAliveMs: number;
  readonly #startQueue: RequestQueue;
  readonly #sessions = new Map<Http2Session, SessionState>();
  readonly #sockets = new Set<Socket>();
  readonly #sweep: Disposable;

  /**
   * @param keepAliveMs connections without a request for this time are closed; connections with a request but without traffic are
   * pinged.
   */
  constructor(
    handler: Http2Handler,
    { clock, keepAliveMs }: { readonly clock: Clock; readonly keepAliveMs: number },
  ) {
    this.#clock = clock;
    this.#keepAliveMs = keepAliveMs;
    this.#startQueue = new RequestQueue(() => clock.monotonicMs());
    this.#server = createServer(
      {
        maxSessionMemory: MAX_SESSION_MEMORY_MB,
        settings: { maxConcurrentStreams: MAX_STREAM_COUNT, initialWindowSize: WINDOW_BYTES },
      },
      (request, response) => {
        announceBody(request);
        const { stream } = request;
        // Canceled together with its headers.
        if (stream.session === undefined) return;
        this.#startQueue.take(stream.session, {
          isWanted: () => !stream.closed && !stream.destroyed,
          begin: () => handler(request, response),
        });
      },
    );
    this.#sweep = clock.every(Math.min(SWEEP_INTERVAL_MS, keepAliveMs), () => this.#endIdle());
    // Handled by the request pipeline.
    this.#server.on('checkExpectation', (request, response) => {
      this.#server.emit('request', request, response);
    });
    this.#server.on('session', (session) => this.#watch(session));
    // The session closes on a protocol error by default.
    this.#server.on('sessionError', () => {});
  }

  take(socket: Socket): void {
    // A half-closed connection counts as closed; otherwise, a response that is blocked by flow control would never end.
    socket.allowHalfOpen = false;
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    this.#server.emit('connection', socket);
  }

  /** Sends GOAWAY: idle connections are closed immediately, others after their requests. */
  closeGracefully(): void {
    this.#sweep[Symbol.dispose]();
    for (const session of this.#sessions.keys()) session.close();
  }

  destroy(): void {
    this.#sweep[Symbol.dispose]();
    for (const session of this.#sessions.keys()) session.destroy();
    // A session that is closed waits for the client, even after `destroy`.
    for (const socket of this.#sockets) socket.destroy();
  }

  #watch(session: Http2Session): void {
    const sinceMs = this.#clock.monotonicMs();
    const state: SessionState = {
      openCount: 0,
      idleSinceMs: sinceMs,
      hasAsked: false,
      cancellationsLeft: MAX_CANCELLED_BURST,
      sinceMs,
      isTooBusy: false,
    };
    this.#sessions.set(session, state);
    session.on('stream', (stream: ServerHttp2Stream) => {
      state.hasAsked = true;
      const note = (): void => {
        if (isCancelled(stream)) this.#countCancelled(session, state);
      };
      // A stream canceled together with its headers is closed before this event.
      if (stream.destroyed) {
        note();
        return;
      }
      state.openCount++;
      stream.once('close', () => {
        state.openCount--;
        state.idleSinceMs = this.#clock.monotonicMs();
        note();
      });
    });
    session.once('close', () => this.#sessions.delete(session));
    session.setLocalWindowSize(WINDOW_BYTES);
    session.setTimeout(this.#keepAliveMs, () => {
      if (state.openCount > 0) sendPing(session);
    });
  }

  /** Closes idle connections. Pings and partial heads are traffic, but not requests. */
  #endIdle(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [session, { openCount, idleSinceMs, hasAsked }] of this.#sessions) {
      const idleMs = nowMs - idleSinceMs;
      const mayBeMs = hasAsked ? this.#keepAliveMs : Math.min(FIRST_HEAD_MS, this.#keepAliveMs);
      if (openCount > 0 || idleMs < mayBeMs) continue;
      if (session.closed) session.destroy();
      else session.close();
    }
  }

  #countCancelled(session: Http2Session, state: SessionState): void {
    const nowMs = this.#clock.monotonicMs();
    const regained = ((nowMs - state.sinceMs) / 1000) * CANCELLED_PER_SEC;
    state.cancellationsLeft = Math.min(MAX_CANCELLED_BURST, state.cancellationsLeft + regained) - 1;
    state.sinceMs = nowMs;
    if (state.cancellationsLeft >= 0 || state.isTooBusy) return;
    state.isTooBusy = true;
    // This can run inside the library's read: the session must not be destroyed there.
    const why = new Error('too many canceled requests');
    setImmediate(() => session.destroy(why, constants.NGHTTP2_ENHANCE_YOUR_CALM));
  }
}

/** Whether the client canceled the stream, with any code. A stream aborted by the server does not count. */
function isCancelled({ aborted, errored }: ServerHttp2Stream): boolean {
  if (!aborted) return false;
  return errored === null || ('code' in errored && errored.code === 'ERR_HTTP2_STREAM_ERROR');
}

/** Pings detect a peer that disappeared; its requests would otherwise stay open forever. */
function sendPing(session: Http2Session): void {
  const late = setTimeout(() => session.destroy(), PING_RESPONSE_MS);
  late.unref();
  const isSent = session.ping(() => clearTimeout(late));
  if (!isSent) session.destroy();
}

/**
 * The router looks for a body only if an HTTP/1.1 header announces one. HTTP/2 announces it with frames, and a length is
 * optional.
 */
function announceBody({ headers, stream }: Http2ServerRequest): void {
  if (headers['content-length'] !== undefined || stream.endAfterHeaders) return;
  headers['transfer-encoding'] = 'chunked';
}
