import type { Socket } from 'node:net';
import { TransportFailed } from './outcome.js';

const EMPTY = Buffer.alloc(0);
const HEAD_END = '\r\n\r\n';
const STATUS_LENGTH = 'HTTP/1.1 100'.length;
/** Not 101, because the bytes after it are not HTTP. */
const INTERIM = /^HTTP\/1\.[01] (1(?!01)\d\d)$/;
/** The limit of one interim response. A longer one is passed to the client, which has its own limit. */
const MAX_HEAD_BYTES = 16_384;
const MAX_COUNT = 20;

/**
 * Removes interim responses (1xx) before a response from the data of a socket. A receiver may send `100 Continue` without
 * a request for it (RFC 9110, section 15.2), which makes the HTTP client close the connection.
 */
export class InterimResponses {
  readonly #socket: Socket;
  #isExpected = false;
  #received = EMPTY;
  #count = 0;
  #lastStatus: number | undefined;

  /** @param socket whose `read` method is replaced. */
  constructor(socket: Socket) {
    this.#socket = socket;
    const read = socket.read.bind(socket);
    socket.read = (size) => (this.#isExpected ? this.#without(read(size)) : read(size));
  }

  /** The last interim status before the expected response. */
  get lastStatus(): number | undefined {
    return this.#lastStatus;
  }

  /** Must be called for each request: the next bytes belong to its response. */
  expect(): void {
    this.#isExpected = true;
    this.#received = EMPTY;
    this.#count = 0;
    this.#lastStatus = undefined;
  }

  /** `null` when no part of the final response has arrived. */
  #without(chunk: Buffer | null): Buffer | null {
    if (chunk !== null) this.#received = Buffer.concat([this.#received, chunk]);
    for (;;) {
      const begin = this.#received.toString('latin1', 0, STATUS_LENGTH);
      if (begin.length < STATUS_LENGTH && 'HTTP/1.'.startsWith(begin.slice(0, 7))) return null;
      const status = INTERIM.exec(begin)?.[1];
      const end = this.#received.indexOf(HEAD_END);
      if (status === undefined || (end < 0 && this.#received.length > MAX_HEAD_BYTES)) break;
      if (end < 0) return null;
      this.#count += 1;
      this.#lastStatus = Number(status);
      this.#received = this.#received.subarray(end + HEAD_END.length);
      if (this.#count > MAX_COUNT) {
        const why = new Error(`the receiver sent more than ${MAX_COUNT} interim responses`);
        this.#socket.destroy(new TransportFailed('informational_only', why, this.#lastStatus));
        return null;
      }
    }
    this.#isExpected = false;
    const rest = this.#received;
    this.#received = EMPTY;
    return rest;
  }
}
