import type { Socket } from 'node:net';
import type { Client } from 'undici';
import type { Clock } from '../clock/clock.js';
import { type ConnectSettings, connectTo } from './connect.js';
import { DeadlinePassed, exchange, type OutgoingRequest } from './exchange.js';
import { InterimAnswers } from './interim-answers.js';
import { failureOf, type Outcome, TransportFailed } from './outcome.js';

export interface SenderSettings extends ConnectSettings {
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
}

export interface SendOptions {
  /** Certificates are not verified. */
  readonly insecure?: boolean;
  /** Ends the attempt early, as if the time were over. */
  readonly signal?: AbortSignal;
  /** Asked when nothing but to send is left; false: the time is over. */
  readonly isWanted?: () => boolean;
}

const IDLE_MS = 30_000;
const MAX_IDLE_PER_ORIGIN = 32;
/** The parser takes more than is kept, so that a talkative receiver is no failure. */
const MAX_PARSED_HEADER_BYTES = 65_536;

/** One connection to a receiver; carries one request at a time. */
interface Connection {
  readonly client: Client;
  readonly socket: Socket;
  readonly interim: InterimAnswers;
  idleSinceMs: number;
}

/**
 * Sends requests and says what came back; never throws. Connections are kept per origin, each made by ourselves and
 * given to an HTTP client, so that every one of them went through the address check and it is known whether a request
 * went over a new or a used one.
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

  /**
   * The time runs from the look-up to the end of the response's headers; the body has what is left of it.
   */
  async send(request: OutgoingRequest, options: SendOptions = {}): Promise<Outcome> {
    const { signal: given } = options;
    const deadline = new AbortController();
    const end = (): void => deadline.abort(new DeadlinePassed());
    const timer = setTimeout(end, this.#settings.timeoutMs);
    if (given?.aborted) end();
    given?.addEventListener('abort', end, { once: true });
    try {
      return await this.#attempt(request, options, deadline.signal);
    } catch (error) {
      if (deadline.signal.aborted || error instanceof DeadlinePassed)
        return { kind: 'timed_out', error: 'no answer in time' };
      const failure = failureOf(error, false);
      return {
        kind: failure.failure,
        error: failure.message,
        ...(failure.statusCode !== undefined && { statusCode: failure.statusCode }),
      };
    } finally {
      clearTimeout(timer);
      given?.removeEventListener('abort', end);
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
    const { insecure = false, isWanted } = options;
    const origin = `${insecure ? '1' : '0'} ${request.url.origin}`;
    const at = { origin, signal, isWanted };
    const used = this.#takeIdle(origin);
    if (used !== undefined) {
      const exchange = await this.#exchange(used, request, at);
      if (exchange !== 'stale') return exchange;
      signal.throwIfAborted();
    }
    const fresh = await this.#connect(request.url, insecure, signal);
    const exchange = await this.#exchange(fresh, request, at);
    if (exchange === 'stale') {
      throw new TransportFailed('connection_lost', new Error('closed before a response'));
    }
    return exchange;
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
        // Later, as a real connection would come: the client is in the middle of asking for it.
        queueMicrotask(() => {
          // One connection, one client: it never makes another behind our back.
          if (isFirst) callback(null, socket);
          else callback(new Error('connection is gone'), null);
        });
      },
    });
    return { client, socket, interim: new InterimAnswers(socket), idleSinceMs: 0 };
  }

  /** `stale`: a kept connection was closed before any byte of an answer came. */
  async #exchange(
    connection: Connection,
    request: OutgoingRequest,
    at: {
      readonly origin: string;
      readonly signal: AbortSignal;
      readonly isWanted: SendOptions['isWanted'];
    },
  ): Promise<Outcome | 'stale'> {
    const { origin, signal, isWanted } = at;
    const { client, socket, interim } = connection;
    const wasUsed = connection.idleSinceMs > 0;
    const readBefore = socket.bytesRead;
    try {
      if (isWanted?.() === false) throw new DeadlinePassed();
      const { outcome, isReusable } = await exchange(client, request, {
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
      const kept = list.filter((connection) => {
        const { idleSinceMs, socket, client } = connection;
        const isFine = idleSinceMs > limitMs && !socket.destroyed && !client.destroyed;
        if (!isFine) destroy(connection);
        return isFine;
      });
      if (kept.length > 0) this.#idle.set(origin, kept);
      else this.#idle.delete(origin);
    }
  }
}

/** A client that refused its first request has not taken the socket, and leaves it open. */
function destroy({ client, socket }: Connection): void {
  client.destroy().catch(() => {}); // nothing waits for it any more
  socket.destroy();
}
