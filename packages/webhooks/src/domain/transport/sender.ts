import type { Socket } from 'node:net';
import type { Clock } from '@plinth/kernel';
import type { Client, Dispatcher } from 'undici';
import type { DeliveryRequest } from '../delivery-request.js';
import { type ConnectSettings, connectTo } from './connect.js';
import { failureOf, type Outcome, TransportFailed } from './outcome.js';

export interface SenderSettings extends ConnectSettings {
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
}

const IDLE_MS = 30_000;
const MAX_IDLE_PER_ORIGIN = 32;
const MAX_HEADER_COUNT = 100;
const MAX_HEADER_SIZE_BYTES = 16_384;
/** The parser takes more than is kept, so that a talkative receiver is no failure. */
const MAX_PARSED_HEADER_BYTES = 65_536;

class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

/** One connection to a receiver; carries one request at a time. */
interface Connection {
  readonly client: Client;
  readonly socket: Socket;
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

  /** The time runs from the look-up to the end of the response's headers; the body has what is left of it. */
  async send(request: DeliveryRequest, insecure: boolean): Promise<Outcome> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(new DeadlinePassed()), this.#settings.timeoutMs);
    try {
      return await this.#attempt(request, insecure, deadline.signal);
    } catch (error) {
      if (deadline.signal.aborted) return { kind: 'timed_out', error: 'no answer in time' };
      const failure = failureOf(error, false);
      return {
        kind: failure.failure === 'timed_out' ? 'timed_out' : failure.failure,
        error: failure.message,
        ...(failure.statusCode !== undefined && { statusCode: failure.statusCode }),
      };
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#sweep[Symbol.dispose]();
    for (const list of this.#idle.values()) for (const { client } of list) destroy(client);
    this.#idle.clear();
  }

  async #attempt(
    request: DeliveryRequest,
    insecure: boolean,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const origin = `${insecure ? '1' : '0'} ${request.url.origin}`;
    const used = this.#takeIdle(origin);
    if (used !== undefined) {
      const exchange = await this.#exchange(used, request, origin, signal);
      if (exchange !== 'stale') return exchange;
      signal.throwIfAborted();
    }
    const fresh = await this.#connect(request.url, insecure, signal);
    const exchange = await this.#exchange(fresh, request, origin, signal);
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
    return { client, socket, idleSinceMs: 0 };
  }

  /** `stale`: a kept connection was closed before any byte of an answer came. */
  async #exchange(
    connection: Connection,
    request: DeliveryRequest,
    origin: string,
    signal: AbortSignal,
  ): Promise<Outcome | 'stale'> {
    const { client, socket } = connection;
    const wasUsed = connection.idleSinceMs > 0;
    const readBefore = socket.bytesRead;
    try {
      const { outcome, isReusable } = await exchange(client, request, {
        signal,
        maxBodyBytes: this.#settings.maxResponseBytes,
      });
      if (isReusable) this.#keep(origin, connection);
      else destroy(client);
      return outcome;
    } catch (error) {
      destroy(client);
      if (wasUsed && !signal.aborted && socket.bytesRead === readBefore) return 'stale';
      throw error;
    }
  }

  #takeIdle(origin: string): Connection | undefined {
    const list = this.#idle.get(origin);
    for (let next = list?.pop(); next !== undefined; next = list?.pop()) {
      const { client, socket } = next;
      if (!client.destroyed && !socket.destroyed && !socket.readableEnded) return next;
      destroy(client);
    }
    return undefined;
  }

  #keep(origin: string, connection: Connection): void {
    let list = this.#idle.get(origin);
    if (list === undefined) {
      list = [];
      this.#idle.set(origin, list);
    }
    if (this.#isClosed || list.length >= MAX_IDLE_PER_ORIGIN) destroy(connection.client);
    else {
      connection.idleSinceMs = Math.max(1, this.#clock.monotonicMs());
      list.push(connection);
    }
  }

  #closeIdle(): void {
    const limitMs = this.#clock.monotonicMs() - IDLE_MS;
    for (const [origin, list] of this.#idle) {
      const kept = list.filter(({ idleSinceMs, socket, client }) => {
        const isFine = idleSinceMs > limitMs && !socket.destroyed && !client.destroyed;
        if (!isFine) destroy(client);
        return isFine;
      });
      if (kept.length > 0) this.#idle.set(origin, kept);
      else this.#idle.delete(origin);
    }
  }
}

function destroy(client: Client): void {
  client.destroy().catch(() => {}); // nothing waits for it any more
}

interface Exchange {
  readonly outcome: Outcome;
  readonly isReusable: boolean;
}

function exchange(
  client: Client,
  { url, headers, body }: DeliveryRequest,
  at: { readonly signal: AbortSignal; readonly maxBodyBytes: number },
): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const handler = new ResponseReader(resolve, reject, at.maxBodyBytes);
    const onAbort = (): void => {
      handler.cut();
      destroy(client);
    };
    at.signal.addEventListener('abort', onAbort, { once: true });
    handler.onSettled = () => at.signal.removeEventListener('abort', onAbort);
    client.dispatch(
      {
        path: `${url.pathname}${url.search}`,
        method: 'POST',
        headers: Object.entries(headers).flat(),
        body: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
      },
      handler,
    );
  });
}

/** Collects one response. Headers decide the outcome: what happens to the body later only cuts it. */
class ResponseReader implements Dispatcher.DispatchHandler {
  onSettled: () => void = () => {};
  readonly #resolve: (exchange: Exchange) => void;
  readonly #reject: (error: unknown) => void;
  readonly #maxBodyBytes: number;
  readonly #chunks: Buffer[] = [];
  #sizeBytes = 0;
  #status = 0;
  #informational: number | undefined;
  #headers: Readonly<Record<string, string>> = {};
  #isSettled = false;

  constructor(
    resolve: (exchange: Exchange) => void,
    reject: (error: unknown) => void,
    maxBodyBytes: number,
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#maxBodyBytes = maxBodyBytes;
  }

  onRequestStart(): void {}

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) {
      this.#informational = status;
      return;
    }
    this.#status = status;
    this.#headers = keepHeaders(headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isSettled) return;
    const room = this.#maxBodyBytes - this.#sizeBytes;
    this.#chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    this.#sizeBytes += Math.min(chunk.length, room);
    if (chunk.length > room) this.#settle(false);
  }

  onResponseEnd(): void {
    this.#settle(true);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#status > 0) this.#settle(false);
    else this.#fail(error);
  }

  /** The time is over. */
  cut(): void {
    if (this.#status > 0) this.#settle(false);
    else this.#fail(new DeadlinePassed());
  }

  #settle(isReusable: boolean): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.onSettled();
    const body = Buffer.concat(this.#chunks);
    const outcome: Outcome = {
      kind: 'answered',
      statusCode: this.#status,
      headers: this.#headers,
      body,
    };
    this.#resolve({ outcome, isReusable });
  }

  #fail(error: Error): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.onSettled();
    const code = this.#informational ?? informationalOf(error);
    if (code === undefined) this.#reject(error);
    // No status has fewer than three digits that count.
    else if (code < 100) this.#reject(new TransportFailed('not_http', error));
    else this.#reject(new TransportFailed('informational_only', error, code));
  }
}

/** The client ends a connection on these two, because nobody asked for them. */
function informationalOf(error: Error): number | undefined {
  if (error.message === 'bad upgrade') return 101;
  return error.message === 'bad response' ? 100 : undefined;
}

function keepHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Readonly<Record<string, string>> {
  const kept = new Map<string, string>();
  let sizeBytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    const text = Array.isArray(value) ? value.join(', ') : (value ?? '');
    sizeBytes += name.length + text.length;
    if (kept.size >= MAX_HEADER_COUNT || sizeBytes > MAX_HEADER_SIZE_BYTES) break;
    kept.set(titleCase(name), text);
  }
  return Object.fromEntries([...kept].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const titleCase = (name: string): string =>
  name
    .toLowerCase()
    .replace(
      /(^|-)([a-z])/g,
      (_, dash: string, letter: string) => `${dash}${letter.toUpperCase()}`,
    );
