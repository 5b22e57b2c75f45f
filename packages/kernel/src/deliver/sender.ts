import type { Socket } from 'node:net';
import type { Client } from 'undici';
import type { Clock } from '../clock/clock.js';
import { type ConnectSettings, connectTo } from './connect.js';
import { InterimResponses } from './interim-responses.js';
import { type Outcome, TransportFailed, toTransportFailed } from './outcome.js';
import { DeadlinePassed, type OutgoingRequest, sendRequest } from './send-request.js';

export interface SenderSettings extends ConnectSettings {
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
}

export interface SendOptions {
  /** Skips the verification of certificates. */
  readonly insecure?: boolean;
  /** Ends the attempt early, as if it had timed out. */
  readonly signal?: AbortSignal;
  /** Called immediately before the request is sent; `false` ends the attempt as timed out. */
  readonly maySend?: () => boolean;
}

const IDLE_MS = 30_000;
const MAX_IDLE_PER_ORIGIN = 32;
/** The parser accepts more header bytes than are kept, so that a verbose receiver does not fail. */
const MAX_PARSED_HEADER_BYTES = 65_536;

/** One connection to a receiver, used for one request at a time. */
interface Connection {
  readonly client: Client;
  readonly socket: Socket;
  readonly interim: InterimResponses;
  idleSinceMs: number;
}

/**
 * Sends requests and returns their outcome; never rejects. Connections are kept per origin. They are created here and
 * passed to an HTTP client, so that each one has passed the address check, and so that new and reused connections can be
 * distinguished.
 */
export class Sender {
  readonly #settings: SenderSettings;
  readonly #clock: Clock;
  readonly #idle = new Map<string, Connection[]>();
  readonly #sweep: Disposable;
  #isClosed = false;

  constructor(settings: SenderSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    this.#sweep = clock.every(IDLE_MS / 3, () => this.#closeIdle());
  }

  /** The timeout covers the time from the lookup to the response headers; the body can use the remaining time. */
  async send(request: OutgoingRequest, options: SendOptions = {}): Promise<Outcome> {
    const { signal: callerSignal } = options;
    const deadline = new AbortController();
    const end = (): void => deadline.abort(new DeadlinePassed());
    const timer = setTimeout(end, this.#settings.timeoutMs);
    if (callerSignal?.aborted) end();
    callerSignal?.addEventListener('abort', end, { once: true });
    try {
      return await this.#attempt(request, options, deadline.signal);
    } catch (error) {
      if (deadline.signal.aborted || error instanceof DeadlinePassed)
        return { kind: 'timed_out', error: 'no response in time' };
      const failure = toTransportFailed(error, false);
      return {
        kind: failure.failure,
        error: failure.message,
        ...(failure.statusCode !== undefined && { statusCode: failure.statusCode }),
      };
    } finally {
      clearTimeout(timer);
      callerSignal?.removeEventListener('abort', end);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#sweep[Symbol.dispose]();
    for (const list of this.#idle.values()) for (const connection of list) destroy(connection);
    this.#idle.clear();
  }

  async #attempt(
    request: OutgoingRequest,
    options: SendOptions,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { insecure = false, maySend } = options;
    const origin = `${insecure ? '1' : '0'} ${request.url.origin}`;
    const roundTripOptions = { origin, signal, maySend };
    const used = this.#takeIdle(origin);
    if (used !== undefined) {
      const outcome = await this.#roundTrip(used, request, roundTripOptions);
      if (outcome !== 'stale') return outcome;
      signal.throwIfAborted();
    }
    const fresh = await this.#connect(request.url, insecure, signal);
    const outcome = await this.#roundTrip(fresh, request, roundTripOptions);
    if (outcome === 'stale') {
      throw new TransportFailed(
        'connection_lost',
        new Error('the connection was closed before a response was received'),
      );
    }
    return outcome;
  }

  async #connect(url: URL, insecure: boolean, signal: AbortSignal): Promise<Connection> {
    const { Client } = await import('undici');
    const socket = await connectTo(url, this.#settings, { insecure, signal });
    let isTaken = false;
    const client = new Client(url.origin, {
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      maxHeaderSize: MAX_PARSED_HEADER_BYTES,
      connect: (_options, callback) => {
        const isFirst = !isTaken;
        isTaken = true;
        // In a microtask, like a real connection: the client is still inside its connect call.
        queueMicrotask(() => {
          // One connection per client: a second one would bypass the address check.
          if (isFirst) callback(null, socket);
          else callback(new Error('the connection is closed'), null);
        });
      },
    });
    return { client, socket, interim: new InterimResponses(socket), idleSinceMs: 0 };
  }

  /** `stale`: a reused keep-alive connection was closed before the first response byte. */
  async #roundTrip(
    connection: Connection,
    request: OutgoingRequest,
    options: {
      readonly origin: string;
      readonly signal: AbortSignal;
      readonly maySend: SendOptions['maySend'];
    },
  ): Promise<Outcome | 'stale'> {
    const { origin, signal, maySend } = options;
    const { client, socket, interim } = connection;
    const wasUsed = connection.idleSinceMs > 0;
    const readBefore = socket.bytesRead;
    try {
      if (maySend?.() === false) throw new DeadlinePassed();
      const { outcome, isReusable } = await sendRequest(client, request, {
        ...{ signal, interim },
        maxBodyBytes: this.#settings.maxResponseBytes,
      });
      if (isReusable) this.#keep(origin, connection);
      else destroy(connection);
      return outcome;
    } catch (error) {
      destroy(connection);
      if (wasUsed && !signal.aborted && socket.bytesRead === readBefore) return 'stale';
      throw error;
    }
  }

  #takeIdle(origin: string): Connection | undefined {
    const list = this.#idle.get(origin);
    for (let next = list?.pop(); next !== undefined; next = list?.pop()) {
      const { client, socket } = next;
      if (!client.destroyed && !socket.destroyed && !socket.readableEnded) return next;
      destroy(next);
    }
    return undefined;
  }

  #keep(origin: string, connection: Connection): void {
    let list = this.#idle.get(origin);
    if (list === undefined) {
      list = [];
      this.#idle.set(origin, list);
    }
    if (this.#isClosed || list.length >= MAX_IDLE_PER_ORIGIN) destroy(connection);
    else {
      connection.idleSinceMs = Math.max(1, this.#clock.monotonicMs());
      list.push(connection);
    }
  }

  #closeIdle(): void {
    const limitMs = this.#clock.monotonicMs() - IDLE_MS;
    for (const [origin, list] of this.#idle) {
      const usable = list.filter((connection) => {
        const { idleSinceMs, socket, client } = connection;
        const isFine = idleSinceMs > limitMs && !socket.destroyed && !client.destroyed;
        if (!isFine) destroy(connection);
        return isFine;
      });
      if (usable.length > 0) this.#idle.set(origin, usable);
      else this.#idle.delete(origin);
    }
  }
}

/** A client that rejected its first request has not taken over the socket, which must be closed separately. */
function destroy({ client, socket }: Connection): void {
  client.destroy().catch(() => {}); // its result is not needed
  socket.destroy();
}
