import type { Socket } from 'node:net';
import type {
  BodyBudget,
  BodyReservation,
  BodyRule,
  ClientAddress,
  ClientAddresses,
  HeadFault,
  HttpHeaders,
  HttpRequest,
  HttpResponse,
  Principal,
} from '@plinth/kernel';
import { ANONYMOUS } from '@plinth/kernel';

const NO_BODY: Buffer = Buffer.alloc(0);
const NO_PARAMETERS = {};

/** The parts of a request that a transport knows immediately. */
export type RequestHead = Pick<
  IncomingRequest,
  'method' | 'url' | 'headers' | 'socket' | 'addresses'
>;

/** A request in the pipeline, with the properties that the transport does not provide. */
export abstract class IncomingRequest implements HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: HttpHeaders;
  readonly socket: Socket;
  readonly addresses: ClientAddresses;
  principal: Principal = ANONYMOUS;
  parameters: Readonly<Record<string, string | undefined>> = NO_PARAMETERS;
  body: Uint8Array = NO_BODY;
  /** The reserved memory of the body, if it is counted. */
  bodyReservation: BodyReservation | undefined;

  constructor(head: RequestHead) {
    this.method = head.method;
    this.url = head.url;
    this.headers = head.headers;
    this.socket = head.socket;
    this.addresses = head.addresses;
    // Later, the client may have disconnected. A closed HTTP/2 stream has no peer address.
    this.addresses.note(this.socket);
  }

  get client(): ClientAddress {
    return this.addresses.of(this);
  }

  get base(): string {
    return `${this.#scheme}://${this.#host}`;
  }

  get publicBase(): string {
    const { scheme = this.#scheme, host = this.#host } = this.addresses.askedAt(this);
    return `${scheme}://${host}`;
  }

  get #scheme(): string {
    return 'encrypted' in this.socket ? 'https' : 'http';
  }

  get #host(): string {
    return this.headers[':authority'] ?? this.headers['host'] ?? '';
  }

  abstract readonly httpVersion: 1 | 2;
  /** The error in the request head, if any. */
  abstract readonly fault: HeadFault | undefined;
  headerList(): readonly (readonly [string, string])[] {
    return Object.entries(this.headers).map(([name, value = '']) => [name, value]);
  }

  abstract disconnectSignal(): AbortSignal;
  /**
   * Received bytes may already exceed the rule. Throws `body_too_large`, `body_cut`, `body_too_slow`,
   * `body_chunks_too_small`, `ServerBusy`.
   */
  abstract readBody(rule: BodyRule, bodies: BodyBudget): Uint8Array | Promise<Uint8Array>;
  /** Adapts the response to the transport. */
  adaptToTransport(response: HttpResponse): HttpResponse {
    return response;
  }

  /** Calls `done` once, when the client has received the response or disconnected; immediately if it already has. */
  abstract whenClosed(done: () => void): void;
}
