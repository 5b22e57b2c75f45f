import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { constants, Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { TLSSocket } from 'node:tls';
import {
  type BodyBudget,
  type BodyRule,
  type ClientAddresses,
  faultOfHead,
  type HeadFault,
  type HttpHeaders,
  type HttpResponse,
  type Logger,
  normalTarget,
  readBody,
  requestError,
} from '@plinth/kernel';
import type { Exchange } from '../http/exchange.js';
import { IncomingRequest } from '../http/incoming-request.js';
import type { Pipeline } from '../http/pipeline.js';
import { waitForDrain } from './wait-for-drain.js';

/** A larger unread body closes the connection. */
const MAX_UNREAD_BODY_BYTES = 65_536;

/** Dependencies shared by all transports. */
export interface TransportDeps {
  readonly pipeline: Pipeline;
  /** Determines client addresses for limits, bans, the audit log and the access log. */
  readonly addresses: ClientAddresses;
  readonly log: Logger;
  /** True during shutdown: connections close after their response. */
  isDraining(): boolean;
}

/** Connects Node's HTTP/1.1 and HTTP/2 servers to the pipeline. */
export function nodeTransport(deps: TransportDeps): RequestListener {
  const { pipeline, addresses, log } = deps;
  return (raw, response) => {
    const request = new NodeRequest(raw, response, addresses);
    const cut = (err: unknown): void => {
      if (!response.destroyed) log.error({ err }, 'request failed');
      endUnfinished(raw, response);
    };
    const send = (exchange: Exchange | undefined): void => {
      if (exchange?.response === undefined) {
        raw.socket.destroy();
        return;
      }
      if (raw.httpVersionMajor === 1 && (deps.isDraining() || endsConnection(request, exchange))) {
        response.setHeader('connection', 'close');
      }
      for (const list of exchange.outerHeaders) setHeaders(response, list);
      write(exchange.response, raw, response).catch(cut);
    };
    pipeline.respond(request).then(send, cut);
  };
}

class NodeRequest extends IncomingRequest {
  readonly fault: HeadFault | undefined;
  readonly #raw: IncomingMessage;
  readonly #response: ServerResponse;
  #disconnectSignal: AbortSignal | undefined;
  /** The rest of the body is not read. */
  isGivenUp = false;

  constructor(raw: IncomingMessage, response: ServerResponse, addresses: ClientAddresses) {
    super({
      method: raw.method ?? '',
      url: normalTarget(raw.url ?? '/'),
      headers: raw.headers as HttpHeaders, // Node joins all repeated request headers except set-cookie.
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

  /** Whether the complete body has arrived. */
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

  disconnectSignal(): AbortSignal {
    if (this.#disconnectSignal !== undefined) return this.#disconnectSignal;
    const controller = new AbortController();
    const response = this.#response;
    const leave = (): void => {
      if (!response.writableFinished) controller.abort();
    };
    // The signal can be requested late, by a handler that takes longer.
    if (isClosed(response)) leave();
    else response.once('close', leave);
    this.#disconnectSignal = controller.signal;
    return this.#disconnectSignal;
  }

  readBody({ maxBytes, memory }: BodyRule, bodies: BodyBudget): Promise<Uint8Array> {
    const contentLength = this.headers['content-length'];
    const reservation = bodies.begin(this.principal);
    this.bodyReservation = reservation;
    return new Promise((resolve, reject) => {
      readBody(
        this.#raw,
        { contentLength, limitBytes: maxBytes, memory, reservation },
        (error, body) => {
          this.isGivenUp = requestError.is(error, 'body_too_slow', 'body_chunks_too_small');
          if (error === null && body !== undefined) resolve(body);
          else reject(error);
        },
      );
    });
  }

  whenClosed(done: () => void): void {
    if (isClosed(this.#response)) done();
    else this.#response.once('close', done);
  }
}

/** HTTP/2 responses have a stream with its own destroyed state. */
const isClosed = (response: ServerResponse): boolean =>
  response.destroyed || Reflect.get(Object(Reflect.get(response, 'stream')), 'destroyed') === true;

/** After an upgrade request, the parser takes further data for another protocol. */
function endsConnection(request: NodeRequest, { isRejected }: Exchange): boolean {
  const { fault, headers, isGivenUp } = request;
  if (fault !== undefined || isGivenUp || headers['upgrade'] !== undefined) return true;
  // The body has no known length, and Node would read all of it.
  if (headers['transfer-encoding'] !== undefined && !request.isWhole) return true;
  return isRejected && Number(headers['content-length'] ?? 0) > MAX_UNREAD_BODY_BYTES;
}

/** Aborts a response so that the client does not treat it as complete. */
function endUnfinished(raw: IncomingMessage, response: ServerResponse): void {
  if (isHttp2Response(response)) {
    // Without an error the stream would end with NO_ERROR, like a complete response.
    response.stream.destroy(new Error('incomplete response'));
  } else if (raw.httpVersionMinor === 0 && !(raw.socket instanceof TLSSocket)) {
    // In HTTP/1.0, only the end of the connection ends a response.
    raw.socket.resetAndDestroy();
  } else response.destroy();
}

function setHeaders(response: ServerResponse, list: HttpResponse['headers']): void {
  for (const [name, value] of list) response.setHeader(name, value);
}

async function write(
  answer: HttpResponse,
  raw: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { status, headers, body, rest, sizeBytes, takeOver } = answer;
  if (isClosed(response)) {
    // `return` runs when the loop exits, and must be called directly if the loop never started.
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
    // Written with the end, so that Node knows the response is complete.
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

/** Stops a request body after the response. An HTTP/2 stream stays open until its end or a reset. */
function dropUnread(raw: IncomingMessage): void {
  if (raw.complete || !isHttp2(raw)) return;
  const { stream } = raw;
  raw.resume();
  // The response emits `close` only with its stream, so this uses `finish`.
  stream.once('finish', () => stream.close(constants.NGHTTP2_NO_ERROR));
}

async function writePieces(
  response: ServerResponse,
  first: Buffer | undefined,
  rest: AsyncGenerator<Buffer, void, undefined>,
): Promise<void> {
  if (first !== undefined && first.length > 0 && !response.write(first))
    await waitForDrain(response, isClosed(response));
  for await (const piece of rest) {
    if (isClosed(response)) return;
    if (piece.length > 0 && !response.write(piece))
      await waitForDrain(response, isClosed(response));
    if (isClosed(response)) return;
  }
  response.end();
}
