import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { RawRequest } from '@plinth/identity';
import type { Clock, Logger, PlainAnswer, PlainRequest, PlainRoute } from '@plinth/kernel';
import type { RouteNumbers } from '../http/http-metrics.js';
import { PlainConnection, type WrittenAnswer } from './plain-connection.js';
import { type PlainHeaders, readPlainHeaders, readPlainTarget } from './plain-head.js';

const HEAD_END = Buffer.from('\r\n\r\n', 'latin1');
const CHUNK_END = Buffer.from('\r\n', 'latin1');
/** Of longer requests the framework is a small part of the cost. */
const MAX_REQUEST_BYTES = 16 * 1024;
/** Headers that are remembered: clients send the same ones again and again. */
const MAX_KNOWN_HEADS = 1024;
/** Longer ones are not worth the memory. */
const MAX_KNOWN_HEAD_LENGTH = 1024;
const SWEEP_INTERVAL_MS = 5_000;
const NONE: ReadonlySet<string> = new Set();

export interface PlainSideParts {
  readonly routes: readonly PlainRoute[];
  readonly clock: Clock;
  readonly log: Logger;
  /** Throws when the request must not be answered here. */
  authenticate(request: RawRequest): unknown;
  /** Of every answer behind this front, as lines with their ends. */
  headerLines(front: Exclude<PlainRoute['front'], object>): string;
  numbersOf(method: string, path: string): RouteNumbers;
  isDraining(): boolean;
}

interface KnownRoute {
  readonly route: PlainRoute;
  readonly numbers: RouteNumbers;
}

/**
 * Answers short requests to plain routes without HTTP server and framework, which are most of the cost of a one-line
 * write and a third of that of a narrow query. It takes only what leaves no question: one whole request, with few and
 * known headers, from somebody who may. At the first other byte the connection goes to the HTTP server, for good, and
 * nothing of that request has happened.
 */
export class PlainSide {
  readonly #parts: PlainSideParts;
  readonly #routes: ReadonlyMap<string, KnownRoute>;
  readonly #heads = new Map<string, PlainHeaders>();
  readonly #connections = new Set<PlainConnection>();
  readonly #keepAliveMs: number;
  readonly #keepAliveLines: string;
  readonly #sweep: Disposable;
  #dateSec = 0;
  #dateLine = '';

  /** @param keepAliveMs how long the HTTP server keeps a connection without a request. */
  constructor(parts: PlainSideParts, keepAliveMs: number) {
    this.#parts = parts;
    this.#keepAliveMs = keepAliveMs;
    const timeoutSec = Math.floor(keepAliveMs / 1000);
    this.#keepAliveLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${timeoutSec}\r\n`;
    this.#routes = new Map(
      parts.routes.flatMap((route) =>
        route.methods.map((method): [string, KnownRoute] => {
          const numbers = parts.numbersOf(method, route.path);
          return [`${method} ${route.path}`, { route, numbers }];
        }),
      ),
    );
    this.#sweep = parts.clock.every(SWEEP_INTERVAL_MS, () => this.#closeIdle());
  }

  /** Serves a connection as long as its requests are plain; `handOver` lets the HTTP server go on with it. */
  take(socket: Socket, handOver: () => void): void {
    const connection: PlainConnection = new PlainConnection(socket, {
      nowMs: this.#parts.clock.monotonicMs(),
      read: (bytes, leaving) => this.#answering(bytes, socket, leaving),
      onCut: (err) => this.#parts.log.warn({ err }, 'answer cut short'),
      onLeft: () => this.#connections.delete(connection),
      handOver,
    });
    this.#connections.add(connection);
    connection.start();
  }

  /** Connections without a request are closed, the others when theirs is answered. */
  closeGracefully(): void {
    this.#sweep[Symbol.dispose]();
    for (const connection of this.#connections) connection.closeWhenIdle();
  }

  destroy(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  /** What answers the request that `bytes` are; `undefined`: they are not exactly one, or not a plain one. */
  #answering(
    bytes: Buffer,
    socket: Socket,
    leaving: () => AbortSignal,
  ): (() => Promise<WrittenAnswer>) | undefined {
    if (bytes.length > MAX_REQUEST_BYTES || this.#parts.isDraining()) return undefined;
    const headEnd = bytes.indexOf(HEAD_END);
    if (headEnd < 0) return undefined;
    const text = bytes.toString('latin1', 0, headEnd);
    const lineEnd = text.indexOf('\r\n');
    const target = lineEnd < 0 ? undefined : readPlainTarget(text.slice(0, lineEnd));
    const known = target && this.#routes.get(`${target.method} ${target.path}`);
    const head = known && this.#headersOf(text.slice(lineEnd + 2), known.route);
    if (target === undefined || known === undefined || head === undefined) return undefined;
    // A POST that announces no body, and a GET that does, are for the HTTP server.
    if ((head.contentLength === undefined) !== (target.method === 'GET')) return undefined;
    const body = bytes.subarray(headEnd + HEAD_END.length);
    if (body.length !== (head.contentLength ?? 0)) return undefined;
    const request: PlainRequest = {
      method: target.method,
      url: target.url,
      base: `${'encrypted' in socket ? 'https' : 'http'}://${head.host}`,
      headers: head.headers,
      ip: socket.remoteAddress ?? '',
      contentEncoding: head.headers['content-encoding'],
      body,
      leaving,
    };
    if (!this.#isAdmitted(known.route, request, socket)) return undefined;
    return async () => {
      try {
        return await this.#answer(known, request);
      } catch (err) {
        this.#parts.log.error({ err }, 'request failed'); // A plain route that rejects has a bug.
        throw err;
      }
    };
  }

  #headersOf(text: string, { front }: PlainRoute): PlainHeaders | undefined {
    // Headers of a service (an idempotency key above all) differ from request to request.
    if (typeof front === 'object') return readPlainHeaders(text, front.headers);
    const known = this.#heads.get(text);
    if (known !== undefined) return known;
    const head = readPlainHeaders(text, NONE);
    if (head === undefined) return undefined;
    // Starting over is rare, and cheaper for the usual case than keeping an order of use.
    if (this.#heads.size >= MAX_KNOWN_HEADS) this.#heads.clear();
    if (text.length <= MAX_KNOWN_HEAD_LENGTH) this.#heads.set(text, head);
    return head;
  }

  #isAdmitted({ front }: PlainRoute, request: PlainRequest, socket: Socket): boolean {
    if (typeof front === 'object') return front.admits(request);
    const { method, url, headers } = request;
    const authorization = headers['authorization'];
    try {
      this.#parts.authenticate({ method, url, headers: { authorization }, socket });
      return true;
    } catch {
      return false; // The framework asks again and words the refusal.
    }
  }

  async #answer({ route, numbers }: KnownRoute, request: PlainRequest): Promise<WrittenAnswer> {
    const { clock } = this.#parts;
    const startMs = clock.monotonicMs();
    const answer = await route.answer(request);
    const { status, rest } = answer;
    const count = (sizeBytes: number | undefined): void =>
      numbers.count({ status, sizeBytes, durationMs: clock.monotonicMs() - startMs });
    if (rest === undefined) {
      count(answer.body?.length ?? 0);
      return { start: this.#encode(answer, route.front) };
    }
    const isChunked = answer.sizeBytes === undefined;
    const start = this.#encode(answer, route.front);
    return { start, isChunked, rest, onEnd: () => count(answer.sizeBytes) };
  }

  /** The answer up to what follows its body. */
  #encode(answer: PlainAnswer, front: PlainRoute['front']): string | Buffer {
    const { status, headers, body, rest } = answer;
    const common = typeof front === 'object' ? '' : this.#parts.headerLines(front);
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${common}`;
    for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
    if (body === undefined) return `${head}${this.#common()}\r\n`;
    const sizeBytes = rest === undefined ? body.length : answer.sizeBytes;
    if (sizeBytes !== undefined) {
      head += `content-length: ${sizeBytes}\r\n${this.#common()}\r\n`;
      return Buffer.concat([Buffer.from(head, 'latin1'), body]);
    }
    head += `${this.#common()}Transfer-Encoding: chunked\r\n\r\n`;
    if (body.length === 0) return head; // As a chunk it would be the end.
    head += `${body.length.toString(16)}\r\n`;
    return Buffer.concat([Buffer.from(head, 'latin1'), body, CHUNK_END]);
  }

  #common(): string {
    const nowSec = Math.floor(this.#parts.clock.nowMs() / 1000);
    if (nowSec !== this.#dateSec) {
      this.#dateSec = nowSec;
      this.#dateLine = `Date: ${new Date(nowSec * 1000).toUTCString()}\r\n`;
    }
    const keep = this.#parts.isDraining() ? 'Connection: close\r\n' : this.#keepAliveLines;
    return this.#dateLine + keep;
  }

  #closeIdle(): void {
    const nowMs = this.#parts.clock.monotonicMs();
    for (const connection of this.#connections) {
      connection.noteTime(nowMs, this.#keepAliveMs);
    }
  }
}
