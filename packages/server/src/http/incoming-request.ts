import type { Socket } from 'node:net';
import type {
  BodyBudget,
  BodyReservation,
  BodyRule,
  ClientAddress,
  ClientAddresses,
  HeadFault,
  HttpAnswer,
  HttpHeaders,
  HttpRequest,
  Principal,
} from '@plinth/kernel';
import { ANONYMOUS } from '@plinth/kernel';

const NO_BODY: Buffer = Buffer.alloc(0);
const NO_PARAMETERS = {};

/** What a transport knows of a request at once. */
export type RequestHead = Pick<
  IncomingRequest,
  'method' | 'url' | 'headers' | 'socket' | 'addresses'
>;

/** A request on its way through the pipeline, which fills in what the transport cannot know. */
export abstract class IncomingRequest implements HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: HttpHeaders;
  readonly socket: Socket;
  readonly addresses: ClientAddresses;
  principal: Principal = ANONYMOUS;
  parameters: Readonly<Record<string, string | undefined>> = NO_PARAMETERS;
  body: Uint8Array = NO_BODY;
  /** The memory that its body takes, as far as that is counted. */
  held: BodyReservation | undefined;

  constructor(head: RequestHead) {
    this.method = head.method;
    this.url = head.url;
    this.headers = head.headers;
    this.socket = head.socket;
    this.addresses = head.addresses;
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
  /** What is wrong with the head, whatever is asked. */
  abstract readonly fault: HeadFault | undefined;
  headerList(): readonly (readonly [string, string])[] {
    return Object.entries(this.headers).map(([name, value = '']) => [name, value]);
  }

  abstract leaving(): AbortSignal;
  /** Bytes that are there already may be more than the rule takes. Throws `body_too_large`, `body_cut`, `body_too_slow`, `body_in_crumbs`, `ServerBusy`. */
  abstract readBody(rule: BodyRule, bodies: BodyBudget): Uint8Array | Promise<Uint8Array>;
  /** What goes out of an answer to it. */
  dress(answer: HttpAnswer): HttpAnswer {
    return answer;
  }

  /** Calls `done` when the client has taken the whole answer or is gone: at once when it is gone already. To be called once. */
  abstract whenGone(done: () => void): void;
}
