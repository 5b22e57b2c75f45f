import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, type HeaderList, type HttpResponse, invariant, Memo } from '@plinth/kernel';
import type { Exchange } from '../../http/exchange.js';
import type { TransportDeps } from '../node-transport.js';
import {
  FastConnection,
  MAX_REQUEST_BYTES,
  type ReadResult,
  type WrittenResponse,
} from './fast-connection.js';
import { type FastHeaders, readFastHeaders, readFastTarget } from './fast-head.js';
import { FastRequest } from './fast-request.js';

const HEAD_END = Buffer.from('\r\n\r\n', 'latin1');
const CHUNK_END = Buffer.from('\r\n', 'latin1');
/** Up to this size, copying a body is cheaper than writing two pieces. */
const MAX_COPIED_BYTES = 4096;
/** Cached heads: clients repeat the same headers. */
const MAX_KNOWN_HEADS = 1024;
/** Longer heads are not cached. */
const MAX_KNOWN_HEAD_LENGTH = 1024;
const SWEEP_INTERVAL_MS = 5_000;
/** Source: RFC 9110, section 5.5. */
const NOT_IN_VALUES = /[^\t\x20-\x7e\x80-\xff]/;

export interface FastReaderDeps extends TransportDeps {
  readonly clock: Clock;
}

/** The serialized head of repeated responses with the same headers. */
interface WrittenHead {
  readonly common: string;
  readonly lines: string;
  /** The complete head, reusable without limit headers while the outer headers are unchanged. */
  whole?: { readonly conventionsHeaders: HeaderList; readonly bytes: Buffer };
}

/**
 * Passes short requests to the pipeline without Node's parser and streams, which use most of the CPU time of a one-line
 * write and a third of that of a narrow query. Accepts only complete, unambiguous requests. For any other data, it
 * passes the connection permanently to Node's HTTP server before it processes any part of that request.
 */
export class FastReader {
  readonly #deps: FastReaderDeps;
  readonly #heads = new Memo<string, FastHeaders>({ maxCount: MAX_KNOWN_HEADS });
  readonly #writtenHeads = new WeakMap<HttpResponse, WrittenHead>();
  readonly #connections = new Set<FastConnection>();
  readonly #keepAliveMs: number;
  readonly #keepAliveLines: string;
  readonly #sweep: Disposable;
  #dateSec = 0;
  #dateLine = '';
  #commonLines = '';
  /** Headers of the last response, because most API conventions return the same list each time. */
  #conventionsHeaders: HeaderList | undefined;
  #conventionsLines = '';

  /** @param keepAliveMs idle timeout of Node's HTTP server. */
  constructor(deps: FastReaderDeps, keepAliveMs: number) {
    this.#deps = deps;
    this.#keepAliveMs = keepAliveMs;
    const timeoutSec = Math.floor(keepAliveMs / 1000);
    this.#keepAliveLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${timeoutSec}\r\n`;
    this.#sweep = deps.clock.every(SWEEP_INTERVAL_MS, () => this.#closeIdle());
  }

  /** Serves a connection while its requests are unambiguous. `handToNode` passes it to Node's HTTP server. */
  take(socket: Socket, handToNode: () => void): void {
    const connection: FastConnection = new FastConnection(socket, {
      nowMs: this.#deps.clock.monotonicMs(),
      read: (bytes, disconnectSignal) => this.#requestOf(bytes, socket, disconnectSignal),
      onResponseFailed: (err) => this.#deps.log.warn({ err }, 'response truncated'),
      onConnectionClosed: () => this.#connections.delete(connection),
      handToNode,
    });
    this.#connections.add(connection);
    connection.start();
  }

  /** Closes idle connections immediately, and all others after their response. */
  closeGracefully(): void {
    this.#sweep[Symbol.dispose]();
    for (const connection of this.#connections) connection.closeWhenIdle();
  }

  destroy(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  /** Returns the request at the start of `bytes`. */
  #requestOf(bytes: Buffer, socket: Socket, disconnectSignal: () => AbortSignal): ReadResult {
    if (this.#deps.isDraining()) return undefined;
    const headEnd = bytes.indexOf(HEAD_END);
    if (headEnd < 0) return bytes.length < MAX_REQUEST_BYTES ? 'incomplete' : undefined;
    const text = bytes.toString('latin1', 0, headEnd);
    const lineEnd = text.indexOf('\r\n');
    const target = lineEnd < 0 ? undefined : readFastTarget(text.slice(0, lineEnd));
    const head = target && this.#headersOf(text.slice(lineEnd + 2));
    if (target === undefined || head === undefined) return undefined;
    const { contentLength } = head;
    // A GET with a body, or another method without a length, goes to Node's HTTP server.
    if (target.method === 'GET' ? contentLength !== undefined : lacksLength(target.method, head)) {
      return undefined;
    }
    const start = headEnd + HEAD_END.length;
    const sizeBytes = start + (contentLength ?? 0);
    if (sizeBytes > MAX_REQUEST_BYTES) return undefined;
    if (sizeBytes > bytes.length) return 'incomplete';
    const body = bytes.subarray(start, sizeBytes);
    const { method, url } = target;
    const { headers } = head;
    const { addresses } = this.#deps;
    const request = new FastRequest(
      { method, url, headers, socket, addresses },
      body,
      disconnectSignal,
    );
    return {
      sizeBytes,
      respond: () => this.#respond(request),
      onClosed: () => request.notifyClosed(),
    };
  }

  #headersOf(text: string): FastHeaders | undefined {
    const cached = this.#heads.get(text);
    if (cached !== undefined) return cached;
    const head = readFastHeaders(text);
    if (head === undefined) return undefined;
    if (text.length <= MAX_KNOWN_HEAD_LENGTH) this.#heads.set(text, head);
    return head;
  }

  async #respond(request: FastRequest): Promise<WrittenResponse | undefined> {
    const { pipeline, log } = this.#deps;
    try {
      const exchange = await pipeline.respond(request);
      return exchange?.response && this.#written(exchange.response, exchange);
    } catch (err) {
      log.error({ err }, 'request failed');
      throw err;
    }
  }

  #written(response: HttpResponse, exchange: Exchange): WrittenResponse {
    const { body, rest, sizeBytes } = response;
    const head = this.#head(response, exchange);
    const isLast = this.#deps.isDraining();
    if (rest === undefined) {
      if (body === undefined) return { start: head, isLast };
      if (body.length > MAX_COPIED_BYTES) return { start: head, body, isLast };
      return { start: Buffer.concat([bytesOf(head), body]), isLast };
    }
    const isChunked = sizeBytes === undefined;
    const first = body !== undefined && body.length > MAX_COPIED_BYTES ? body : undefined;
    const { onPieceWritten } = response;
    return {
      start: startOf(head, first ? undefined : body, isChunked),
      first,
      isChunked,
      rest,
      onPieceWritten,
      isLast,
    };
  }

  /** Returns the head of a response. */
  #head(response: HttpResponse, exchange: Exchange): string | Buffer {
    const { status } = response;
    const [conventionsHeaders, limits] = exchange.outerHeaders;
    const lines = this.#lines(response);
    const cached = limits.length === 0 ? this.#writtenHeads.get(response) : undefined;
    if (cached?.whole?.conventionsHeaders === conventionsHeaders) return cached.whole.bytes;
    if (conventionsHeaders !== this.#conventionsHeaders)
      [this.#conventionsHeaders, this.#conventionsLines] = [
        conventionsHeaders,
        linesOf(conventionsHeaders),
      ];
    const statusLine = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`;
    const head = statusLine + this.#conventionsLines + linesOf(limits) + lines;
    if (cached === undefined) return head;
    cached.whole = { conventionsHeaders, bytes: Buffer.from(head, 'latin1') };
    return cached.whole.bytes;
  }

  /** Returns the response's own headers and framing. */
  #lines(response: HttpResponse): string {
    const common = this.#common();
    const cached = response.isReused === true ? this.#writtenHeads.get(response) : undefined;
    if (cached?.common === common) return cached.lines;
    const { headers, body, rest, sizeBytes } = response;
    const length = rest === undefined ? body?.length : sizeBytes;
    for (const [name, value] of headers) refuseControls(name, value);
    // In the same order as Node's server.
    let lines = linesOf(headers);
    if (length !== undefined) lines += `content-length: ${length}\r\n`;
    lines += common;
    if (length === undefined && rest !== undefined) lines += 'Transfer-Encoding: chunked\r\n';
    else if (length === undefined && mayHaveBody(response)) lines += 'Content-Length: 0\r\n';
    lines += '\r\n';
    if (response.isReused === true) this.#writtenHeads.set(response, { common, lines });
    return lines;
  }

  /** Returns `Date` and connection headers, cached for one second. */
  #common(): string {
    const nowSec = Math.floor(this.#deps.clock.nowMs() / 1000);
    if (nowSec !== this.#dateSec) {
      this.#dateSec = nowSec;
      this.#dateLine = `Date: ${new Date(nowSec * 1000).toUTCString()}\r\n`;
      this.#commonLines = this.#dateLine + this.#keepAliveLines;
    }
    return this.#deps.isDraining() ? `${this.#dateLine}Connection: close\r\n` : this.#commonLines;
  }

  #closeIdle(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    for (const connection of this.#connections) {
      connection.noteTime(nowMs, this.#keepAliveMs);
    }
  }
}

const lacksLength = (method: string, { contentLength }: FastHeaders): boolean =>
  contentLength === undefined && method !== 'DELETE';

/** Source: RFC 9110, section 8.6: some responses must not have a length. */
const mayHaveBody = ({ status }: HttpResponse): boolean =>
  status >= 200 && status !== 204 && status !== 304;

/** Throws for control characters, so that no header value can end its line. */
function refuseControls(name: string, value: string): void {
  invariant(!NOT_IN_VALUES.test(value), `the header ${name} contains a control character`);
}

/** Serializes headers, with line ends. */
export function linesOf(headers: HeaderList): string {
  let lines = '';
  for (const [name, value] of headers) lines += `${name}: ${value}\r\n`;
  return lines;
}

/** Returns the first bytes of a response: its head, with a body that is sent as the first piece. */
function startOf(
  head: string | Buffer,
  body: Buffer | undefined,
  isChunked: boolean,
): string | Buffer {
  if (body === undefined || body.length === 0) return head; // An empty chunk would end the body.
  const size = Buffer.from(isChunked ? `${body.length.toString(16)}\r\n` : '', 'latin1');
  const pieces = [bytesOf(head), size, body];
  return Buffer.concat(isChunked ? [...pieces, CHUNK_END] : pieces);
}

const bytesOf = (text: string | Buffer): Buffer =>
  typeof text === 'string' ? Buffer.from(text, 'latin1') : text;
