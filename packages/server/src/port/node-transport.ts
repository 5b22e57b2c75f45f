import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { constants, Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { TLSSocket } from 'node:tls';
import {
  type BodyBudget,
  type BodyRule,
  type ClientAddresses,
  faultOfHead,
  type HeadFault,
  type HttpAnswer,
  type HttpHeaders,
  type Logger,
  normalTarget,
  readBody,
  requestError,
} from '@plinth/kernel';
import type { Exchange } from '../http/exchange.js';
import { IncomingRequest } from '../http/incoming-request.js';
import type { Pipeline } from '../http/pipeline.js';
import { roomIn } from './room-in.js';

/** A larger body that nobody will read is not waited for: the connection ends instead. */
const MAX_UNREAD_BODY_BYTES = 65_536;

/** What brings requests to the pipeline needs, whatever it reads. */
export interface TransportDeps {
  readonly pipeline: Pipeline;
  /** Where requests come from: the one rule for limits, locks, evidence and the audit log. */
  readonly addresses: ClientAddresses;
  readonly log: Logger;
  /** True once the server is stopping: connections are not kept. */
  isDraining(): boolean;
}

/** Brings requests that Node's own servers have parsed, of either version, to the pipeline and its answers back. */
export function nodeTransport(needs: TransportDeps): RequestListener {
  const { pipeline, addresses, log } = needs;
  return (raw, response) => {
    const request = new NodeRequest(raw, response, addresses);
    const cut = (err: unknown): void => {
      if (!response.destroyed) log.error({ err }, 'request failed');
      endUnfinished(raw, response);
    };
    const send = (exchange: Exchange | undefined): void => {
      if (exchange?.answer === undefined) {
        raw.socket.destroy();
        return;
      }
      if (raw.httpVersionMajor === 1 && (needs.isDraining() || endsConnection(request, exchange))) {
        response.setHeader('connection', 'close');
      }
      for (const list of exchange.outerHeaders) setHeaders(response, list);
      write(exchange.answer, raw, response).catch(cut);
    };
    pipeline.answer(request).then(send, cut);
  };
}

class NodeRequest extends IncomingRequest {
  readonly fault: HeadFault | undefined;
  readonly #raw: IncomingMessage;
  readonly #response: ServerResponse;
  #leaving: AbortSignal | undefined;
  /** The rest of its body is not waited for. */
  isGivenUp = false;

  constructor(raw: IncomingMessage, response: ServerResponse, addresses: ClientAddresses) {
    super({
      method: raw.method ?? '',
      url: normalTarget(raw.url ?? '/'),
      headers: raw.headers as HttpHeaders, // Node joins all that a request has but set-cookie
      socket: raw.socket,
      addresses,
    });
    this.#raw = raw;
    this.#response = response;
    this.fault = faultOfHead(raw);
  }

  get httpVersion(): 1 | 2 {
    return this.#raw.httpVersionMajor === 2 ? 2 : 1;
  }

  /** All of its body has come. */
  get isWhole(): boolean {
    return this.#raw.complete;
  }

  override headerList(): readonly (readonly [string, string])[] {
    const { rawHeaders } = this.#raw;
    const list: [string, string][] = [];
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      list.push([rawHeaders[i]?.toLowerCase() ?? '', rawHeaders[i + 1] ?? '']);
    }
    return list;
  }

  leaving(): AbortSignal {
    if (this.#leaving !== undefined) return this.#leaving;
    const controller = new AbortController();
    const response = this.#response;
    const leave = (): void => {
      if (!response.writableFinished) controller.abort();
    };
    // It may be asked for late, by who found that it takes longer.
    if (isGone(response)) leave();
    else response.once('close', leave);
    this.#leaving = controller.signal;
    return this.#leaving;
  }

  readBody({ maxBytes, memory }: BodyRule, bodies: BodyBudget): Promise<Uint8Array> {
    const contentLength = this.headers['content-length'];
    const held = bodies.begin(this.principal);
    this.held = held;
    return new Promise((resolve, reject) => {
      readBody(this.#raw, { contentLength, limitBytes: maxBytes, memory, held }, (error, body) => {
        this.isGivenUp = requestError.is(error, 'body_too_slow', 'body_in_crumbs');
        if (error === null && body !== undefined) resolve(body);
        else reject(error);
      });
    });
  }

  whenGone(done: () => void): void {
    if (isGone(this.#response)) done();
    else this.#response.once('close', done);
  }
}

/** Version 2 has a stream that knows whether it was destroyed. */
const isGone = (response: ServerResponse): boolean =>
  response.destroyed || Reflect.get(Object(Reflect.get(response, 'stream')), 'destroyed') === true;

/** The parser stops behind a request that asks for another protocol, and takes what comes next for the beginning of another. */
function endsConnection(request: NodeRequest, { isTurnedAway }: Exchange): boolean {
  const { fault, headers, isGivenUp } = request;
  if (fault !== undefined || isGivenUp || headers['upgrade'] !== undefined) return true;
  // Nobody says how long it gets, and Node would read all of it.
  if (headers['transfer-encoding'] !== undefined && !request.isWhole) return true;
  return isTurnedAway && Number(headers['content-length'] ?? 0) > MAX_UNREAD_BODY_BYTES;
}

/** Ends an answer so that nobody takes what there is of it for all of it. */
function endUnfinished(raw: IncomingMessage, response: ServerResponse): void {
  if (isHttp2Response(response)) {
    // Without an error the stream would end with NO_ERROR, which clients take for its end.
    response.stream.destroy(new Error('the answer is not whole'));
  } else if (raw.httpVersionMinor === 0 && !(raw.socket instanceof TLSSocket)) {
    // Version 1.0 has no other end than that of the connection.
    raw.socket.resetAndDestroy();
  } else response.destroy();
}

function setHeaders(response: ServerResponse, list: HttpAnswer['headers']): void {
  for (const [name, value] of list) response.setHeader(name, value);
}

async function write(
  answer: HttpAnswer,
  raw: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { status, headers, body, rest, sizeBytes, takeOver } = answer;
  if (isGone(response)) {
    // Its `return` is called when a loop is left, and may be called by hand when nothing was taken of it.
    await rest?.return();
    return;
  }
  setHeaders(response, headers);
  if (takeOver !== undefined && isHttp2(raw) && isHttp2Response(response)) {
    await takeOver(raw, response);
    return;
  }
  const isHead = raw.method === 'HEAD';
  if (rest === undefined) {
    if (body !== undefined) response.setHeader('content-length', body.length);
    dropUnread(raw);
    // Told with the end, so that Node knows that there is nothing else.
    response.statusCode = status;
    if (body === undefined || isHead) response.end();
    else response.end(body);
    return;
  }
  if (sizeBytes !== undefined) response.setHeader('content-length', sizeBytes);
  response.writeHead(status);
  if (isHead) {
    await rest.return();
    response.end();
    return;
  }
  await writePieces(response, body, rest);
}

const isHttp2 = (raw: unknown): raw is Http2ServerRequest => raw instanceof Http2ServerRequest;
const isHttp2Response = (response: unknown): response is Http2ServerResponse =>
  response instanceof Http2ServerResponse;

/** Who has its answer need not send the rest of a body. A stream of version 2 stays open until its end has come, or it is told so. */
function dropUnread(raw: IncomingMessage): void {
  if (raw.complete || !isHttp2(raw)) return;
  const { stream } = raw;
  raw.resume();
  // The response says so only when the stream is closed, which it would then never be.
  stream.once('finish', () => stream.close(constants.NGHTTP2_NO_ERROR));
}

async function writePieces(
  response: ServerResponse,
  first: Buffer | undefined,
  rest: AsyncGenerator<Buffer, void, undefined>,
): Promise<void> {
  if (first !== undefined && first.length > 0 && !response.write(first))
    await roomIn(response, isGone(response));
  for await (const piece of rest) {
    if (isGone(response)) return;
    if (piece.length > 0 && !response.write(piece)) await roomIn(response, isGone(response));
    if (isGone(response)) return;
  }
  response.end();
}
