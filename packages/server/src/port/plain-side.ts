import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { RawRequest } from '@plinth/identity';
import type {
  Clock,
  Logger,
  PlainAnswer,
  PlainGate,
  PlainMethod,
  PlainPass,
  PlainRequest,
  PlainRoute,
  Principal,
  RouteAccess,
} from '@plinth/kernel';
import type { RouteNumbers } from '../http/http-metrics.js';
import { type Answering, PlainConnection, type WrittenAnswer } from './plain-connection.js';
import {
  type PlainHeaders,
  type PlainTarget,
  readPlainHeaders,
  readPlainTarget,
} from './plain-head.js';

const HEAD_END = Buffer.from('\r\n\r\n', 'latin1');
const CHUNK_END = Buffer.from('\r\n', 'latin1');
/** Of longer requests the framework is a small part of the cost. */
const MAX_REQUEST_BYTES = 16 * 1024;
/** A copy of a small body costs less than two pieces for the socket. */
const MAX_COPIED_BYTES = 4096;
/** Headers that are remembered: clients send the same ones again and again. */
const MAX_KNOWN_HEADS = 1024;
/** Longer ones are not worth the memory. */
const MAX_KNOWN_HEAD_LENGTH = 1024;
const SWEEP_INTERVAL_MS = 5_000;
/** Of the last part of a path, as the framework has it. */
const MAX_PARAMETER_LENGTH = 1024;
const NONE: ReadonlySet<string> = new Set();

export interface PlainSideParts {
  readonly clock: Clock;
  readonly log: Logger;
  /** Throws when the request must not be answered here. */
  authenticate(request: RawRequest, access: RouteAccess): Principal;
  /** Whether a request that speaks for `principal` may use a route. */
  grants(access: RouteAccess, principal: Principal): boolean;
  /** Of every answer behind this front, as lines with their ends. */
  headerLines(front: Exclude<PlainRoute['front'], object>): string;
  numbersOf(method: string, path: string): RouteNumbers;
  isDraining(): boolean;
}

/** One method of a plain route. */
export interface GatedRoute {
  readonly route: PlainRoute;
  readonly method: PlainMethod;
  /** `undefined`: nothing stands in front of it. */
  readonly gate: PlainGate | undefined;
}

interface KnownRoute {
  readonly route: PlainRoute;
  readonly gate: PlainGate | undefined;
  readonly numbers: RouteNumbers;
  /** Headers that were read before, by their text; `undefined` where they seldom come again. */
  readonly heads: Map<string, PlainHeaders> | undefined;
}

/** What an answer that is sent again and again begins with, as long as its last lines are the same. */
interface WrittenHead {
  readonly common: string;
  /** A gate's headers come between these two. */
  readonly start: string;
  readonly rest: string;
  /** Both, where no gate has headers. */
  readonly bytes: Buffer;
}

/**
 * Answers short requests to plain routes without HTTP server and framework, which are most of the cost of a one-line
 * write and a third of that of a narrow query. It takes only what leaves no question: one whole request, with few and
 * known headers, from somebody who may. At the first other byte the connection goes to the HTTP server, for good, and
 * nothing of that request has happened.
 */
export class PlainSide {
  readonly #parts: PlainSideParts;
  readonly #routes = new Map<string, KnownRoute>();
  /** Headers that were read, by those that a front knows: what was read for one of them is nothing to another. */
  readonly #headsOf = new Map<ReadonlySet<string>, Map<string, PlainHeaders>>();
  readonly #writtenHeads = new WeakMap<PlainAnswer, WrittenHead>();
  readonly #connections = new Set<PlainConnection>();
  readonly #keepAliveMs: number;
  readonly #keepAliveLines: string;
  readonly #sweep: Disposable;
  #dateSec = 0;
  #dateLine = '';
  #commonLines = '';

  /** @param keepAliveMs how long the HTTP server keeps a connection without a request. */
  constructor(parts: PlainSideParts, keepAliveMs: number) {
    this.#parts = parts;
    this.#keepAliveMs = keepAliveMs;
    const timeoutSec = Math.floor(keepAliveMs / 1000);
    this.#keepAliveLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${timeoutSec}\r\n`;
    this.#sweep = parts.clock.every(SWEEP_INTERVAL_MS, () => this.#closeIdle());
  }

  /** Requests from here on are answered by these as well. Of two for one path the first stays. */
  add(routes: readonly GatedRoute[]): void {
    for (const { route, method, gate } of routes) {
      const key = `${method} ${route.path.replace(/:[^/]+$/, ':')}`;
      if (this.#routes.has(key)) continue;
      const known = headersKnownTo(route);
      const heads = hasRecurringHeads(route) ? (this.#headsOf.get(known) ?? new Map()) : undefined;
      if (heads !== undefined) this.#headsOf.set(known, heads);
      const numbers = this.#parts.numbersOf(method, route.path);
      this.#routes.set(key, { route, gate, numbers, heads });
    }
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

  /** Looks at every connection: for the start, not for hot paths. */
  get isAnswering(): boolean {
    for (const { isBusy } of this.#connections) if (isBusy) return true;
    return false;
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
  #answering(bytes: Buffer, socket: Socket, leaving: () => AbortSignal): Answering | undefined {
    if (bytes.length > MAX_REQUEST_BYTES || this.#parts.isDraining()) return undefined;
    const headEnd = bytes.indexOf(HEAD_END);
    if (headEnd < 0) return undefined;
    const text = bytes.toString('latin1', 0, headEnd);
    const lineEnd = text.indexOf('\r\n');
    const target = lineEnd < 0 ? undefined : readPlainTarget(text.slice(0, lineEnd));
    const known = target && this.#routeOf(target);
    const head = known && headersOf(text.slice(lineEnd + 2), known);
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
    const principal = this.#principalOf(known.route, request, socket);
    if (principal === undefined) return undefined;
    const { gate } = known;
    if (gate === undefined) return { answer: () => this.#answer(known, request) };
    const pass = gate.admit({ request, principal, socket });
    if (pass === undefined) return undefined;
    return { answer: () => this.#answer(known, request, pass), onGone: () => pass.finish() };
  }

  #routeOf({ method, path }: PlainTarget): KnownRoute | undefined {
    const named = this.#routes.get(`${method} ${path}`);
    if (named !== undefined) return named;
    const start = path.lastIndexOf('/') + 1;
    const length = path.length - start;
    if (length === 0 || length > MAX_PARAMETER_LENGTH) return undefined;
    return this.#routes.get(`${method} ${path.slice(0, start)}:`);
  }

  /** `undefined`: nobody who may ask. The framework asks again and words the refusal. */
  #principalOf(
    { front, access }: PlainRoute,
    request: PlainRequest,
    socket: Socket,
  ): Principal | undefined {
    const { authenticate, grants } = this.#parts;
    const { url, headers } = request;
    let principal: Principal | undefined;
    try {
      principal =
        typeof front === 'object'
          ? front.identify(request)
          : authenticate({ url, headers, socket }, access);
    } catch {
      return undefined;
    }
    return principal !== undefined && grants(access, principal) ? principal : undefined;
  }

  #answer(
    known: KnownRoute,
    request: PlainRequest,
    pass?: PlainPass,
  ): WrittenAnswer | Promise<WrittenAnswer> {
    const startMs = this.#parts.clock.monotonicMs();
    let answer: PlainAnswer | Promise<PlainAnswer>;
    try {
      answer = known.route.answer(request);
    } catch (err) {
      return this.#fail(err);
    }
    if (!(answer instanceof Promise)) return this.#write(known, answer, { startMs, pass });
    return answer.then(
      (made) => this.#write(known, made, { startMs, pass }),
      (err: unknown) => this.#fail(err),
    );
  }

  /** A plain route that fails has a bug: it answers every failure itself. */
  async #fail(err: unknown): Promise<never> {
    this.#parts.log.error({ err }, 'request failed');
    throw err;
  }

  #write(
    { route, numbers }: KnownRoute,
    answer: PlainAnswer,
    { startMs, pass }: { readonly startMs: number; readonly pass: PlainPass | undefined },
  ): WrittenAnswer {
    const { clock } = this.#parts;
    const gateLines = pass?.answered() ?? '';
    const { status, body, rest } = answer;
    const count = (sizeBytes: number | undefined): void =>
      numbers.count({ status, sizeBytes, durationMs: clock.monotonicMs() - startMs });
    if (rest === undefined) {
      // Of an answer without a body the framework knows the size only where there can be none.
      count(body?.length ?? (status === 204 ? 0 : undefined));
      const start = this.#headOf(answer, route.front, gateLines);
      if (body === undefined) return { start };
      return body.length > MAX_COPIED_BYTES
        ? { start, body }
        : { start: Buffer.concat([bytesOf(start), body]) };
    }
    const isChunked = answer.sizeBytes === undefined;
    const first = body !== undefined && body.length > MAX_COPIED_BYTES ? body : undefined;
    const start = this.#startOf(answer, route.front, { gateLines, hasFirst: first !== undefined });
    const { taken } = answer;
    return { start, first, isChunked, rest, taken, onEnd: () => count(answer.sizeBytes) };
  }

  /** All that stands before the body of an answer that has nothing behind it. */
  #headOf(answer: PlainAnswer, front: PlainRoute['front'], gateLines: string): string | Buffer {
    const { body } = answer;
    const common = this.#common();
    if (!answer.recurs) {
      const length = body === undefined ? '' : `content-length: ${body.length}\r\n`;
      return `${this.#startLines(answer, front)}${gateLines}${headerLines(answer)}${length}${common}\r\n`;
    }
    let written = this.#writtenHeads.get(answer);
    if (written?.common !== common) {
      const length = body === undefined ? '' : `content-length: ${body.length}\r\n`;
      const start = this.#startLines(answer, front);
      const rest = `${headerLines(answer)}${length}${common}\r\n`;
      written = { common, start, rest, bytes: Buffer.from(start + rest, 'latin1') };
      this.#writtenHeads.set(answer, written);
    }
    return gateLines === '' ? written.bytes : written.start + gateLines + written.rest;
  }

  /** An answer up to what follows its body, or up to a body that goes out as the first piece. */
  #startOf(
    answer: PlainAnswer,
    front: PlainRoute['front'],
    { gateLines, hasFirst }: { readonly gateLines: string; readonly hasFirst: boolean },
  ): string | Buffer {
    const { body, sizeBytes } = answer;
    let head = this.#startLines(answer, front) + gateLines + headerLines(answer);
    if (body === undefined) return `${head}${this.#common()}\r\n`;
    if (sizeBytes !== undefined) {
      head += `content-length: ${sizeBytes}\r\n${this.#common()}\r\n`;
      return hasFirst ? head : Buffer.concat([Buffer.from(head, 'latin1'), body]);
    }
    head += `${this.#common()}Transfer-Encoding: chunked\r\n\r\n`;
    if (body.length === 0 || hasFirst) return head; // As a chunk an empty one would be the end.
    head += `${body.length.toString(16)}\r\n`;
    return Buffer.concat([Buffer.from(head, 'latin1'), body, CHUNK_END]);
  }

  /** All that stands before the headers of a gate. */
  #startLines({ status }: PlainAnswer, front: PlainRoute['front']): string {
    const own = typeof front === 'object' ? '' : this.#parts.headerLines(front);
    return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${own}`;
  }

  /** Date and what becomes of the connection; the same string for a whole second. */
  #common(): string {
    const nowSec = Math.floor(this.#parts.clock.nowMs() / 1000);
    if (nowSec !== this.#dateSec) {
      this.#dateSec = nowSec;
      this.#dateLine = `Date: ${new Date(nowSec * 1000).toUTCString()}\r\n`;
      this.#commonLines = this.#dateLine + this.#keepAliveLines;
    }
    return this.#parts.isDraining() ? `${this.#dateLine}Connection: close\r\n` : this.#commonLines;
  }

  #closeIdle(): void {
    const nowMs = this.#parts.clock.monotonicMs();
    for (const connection of this.#connections) {
      connection.noteTime(nowMs, this.#keepAliveMs);
    }
  }
}

function headerLines({ headers }: PlainAnswer): string {
  let lines = '';
  for (const [name, value] of headers) lines += `${name}: ${value}\r\n`;
  return lines;
}

const headersKnownTo = ({ front }: PlainRoute): ReadonlySet<string> =>
  typeof front === 'object' ? front.headers : NONE;

const hasRecurringHeads = ({ front }: PlainRoute): boolean =>
  typeof front === 'object' ? front.headsRecur : true;

function headersOf(text: string, { route, heads }: KnownRoute): PlainHeaders | undefined {
  const known = heads?.get(text);
  if (known !== undefined) return known;
  const head = readPlainHeaders(text, headersKnownTo(route));
  if (head === undefined || heads === undefined) return head;
  // Starting over is rare, and cheaper for the usual case than keeping an order of use.
  if (heads.size >= MAX_KNOWN_HEADS) heads.clear();
  if (text.length <= MAX_KNOWN_HEAD_LENGTH) heads.set(text, head);
  return head;
}

const bytesOf = (text: string | Buffer): Buffer =>
  typeof text === 'string' ? Buffer.from(text, 'latin1') : text;
