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
import { RequestQueue } from './request-queue.js';

export type Http2Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

/** Requests that one connection may have open; clients wait for more. */
const MAX_STREAM_COUNT = 1000;

/** Of one connection, in MB: what waits to be sent counts, and many slow streams may wait at once. */
const MAX_SESSION_MEMORY_MB = 256;

/** What a client may send before it hears that it was taken: bodies would otherwise wait for each round trip. */
const WINDOW_BYTES = 1_048_576;

/** How long a connection may take to its first whole head. */
const FIRST_HEAD_MS = 15_000;
const SWEEP_INTERVAL_MS = 5_000;

/** How long the answer to the question whether anybody is there may take. */
const PING_ANSWER_MS = 20_000;

/**
 * Requests that a client may take back before they are answered: so many at once, and so many a second from then on. Taking
 * back costs a client nothing and does not count against its open requests. Source: CVE-2023-44487.
 */
const MAX_TAKEN_BACK = 500;
const TAKEN_BACK_PER_SEC = 50;

/** What is known of a connection. */
interface SessionState {
  openCount: number;
  /** Since when it has no request. */
  idleSinceMs: number;
  hasAsked: boolean;
  /** How many requests it may take back, and when that was so. */
  mayTakeBack: number;
  sinceMs: number;
  /** It has taken back too many. */
  isTooBusy: boolean;
}

/** Serves connections that speak HTTP/2, whoever accepted them. */
export class Http2Side {
  readonly #server: Http2Server;
  readonly #clock: Clock;
  readonly #keepAliveMs: number;
  readonly #turns: RequestQueue;
  readonly #sessions = new Map<Http2Session, SessionState>();
  readonly #sockets = new Set<Socket>();
  readonly #sweep: Disposable;

  /**
   * @param keepAliveMs a connection without a request for so long is ended; one with a request, but without a sign of life, is
   * asked whether anybody is there.
   */
  constructor(
    handler: Http2Handler,
    { clock, keepAliveMs }: { readonly clock: Clock; readonly keepAliveMs: number },
  ) {
    this.#clock = clock;
    this.#keepAliveMs = keepAliveMs;
    this.#turns = new RequestQueue(() => clock.monotonicMs());
    this.#server = createServer(
      {
        maxSessionMemory: MAX_SESSION_MEMORY_MB,
        settings: { maxConcurrentStreams: MAX_STREAM_COUNT, initialWindowSize: WINDOW_BYTES },
      },
      (request, response) => {
        announceBody(request);
        const { stream } = request;
        // Taken back together with its headers.
        if (stream.session === undefined) return;
        this.#turns.take(stream.session, {
          isWanted: () => !stream.closed && !stream.destroyed,
          begin: () => handler(request, response),
        });
      },
    );
    this.#sweep = clock.every(Math.min(SWEEP_INTERVAL_MS, keepAliveMs), () => this.#endIdle());
    // Refused by who answers all others.
    this.#server.on('checkExpectation', (request, response) => {
      this.#server.emit('request', request, response);
    });
    this.#server.on('session', (session) => this.#watch(session));
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
    this.#sweep[Symbol.dispose]();
    for (const session of this.#sessions.keys()) session.close();
  }

  destroy(): void {
    this.#sweep[Symbol.dispose]();
    for (const session of this.#sessions.keys()) session.destroy();
    // A session that was told to close waits for its client to do so, even when it is destroyed.
    for (const socket of this.#sockets) socket.destroy();
  }

  #watch(session: Http2Session): void {
    const sinceMs = this.#clock.monotonicMs();
    const state: SessionState = {
      openCount: 0,
      idleSinceMs: sinceMs,
      hasAsked: false,
      mayTakeBack: MAX_TAKEN_BACK,
      sinceMs,
      isTooBusy: false,
    };
    this.#sessions.set(session, state);
    session.on('stream', (stream: ServerHttp2Stream) => {
      state.hasAsked = true;
      const note = (): void => {
        if (isTakenBack(stream)) this.#countTakenBack(session, state);
      };
      // What is taken back together with its headers has been closed before it is told.
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

  /** Pings and pieces of a head are signs of life, but no request. */
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

  #countTakenBack(session: Http2Session, state: SessionState): void {
    const nowMs = this.#clock.monotonicMs();
    const regained = ((nowMs - state.sinceMs) / 1000) * TAKEN_BACK_PER_SEC;
    state.mayTakeBack = Math.min(MAX_TAKEN_BACK, state.mayTakeBack + regained) - 1;
    state.sinceMs = nowMs;
    if (state.mayTakeBack >= 0 || state.isTooBusy) return;
    state.isTooBusy = true;
    // This may be a call out of the library while it reads: the session must not go away under it.
    const why = new Error('too many requests were taken back');
    setImmediate(() => session.destroy(why, constants.NGHTTP2_ENHANCE_YOUR_CALM));
  }
}

/** Whatever code the client says it with. What is cut here, because an answer fails, is no doing of the client. */
function isTakenBack({ aborted, errored }: ServerHttp2Stream): boolean {
  if (!aborted) return false;
  return errored === null || ('code' in errored && errored.code === 'ERR_HTTP2_STREAM_ERROR');
}

/** A peer that vanished without a word would hold its requests, and what they have pinned, for ever. */
function sendPing(session: Http2Session): void {
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
