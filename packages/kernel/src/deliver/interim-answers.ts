import type { Socket } from 'node:net';
import { TransportFailed } from './outcome.js';

const EMPTY = Buffer.alloc(0);
const HEAD_END = '\r\n\r\n';
const STATUS_LENGTH = 'HTTP/1.1 100'.length;
/** 101 is none: what follows it is no answer. */
const INTERIM = /^HTTP\/1\.[01] (1(?!01)\d\d)$/;
/** Of one interim answer; a longer one is for the client, which has a bound of its own. */
const MAX_HEAD_BYTES = 16_384;
const MAX_COUNT = 20;

/**
 * Takes interim answers (1xx) out of what a socket reads in front of an answer. A receiver may send `100 Continue` unasked (RFC
 * 9110, section 15.2), and the HTTP client ends the connection by it.
 */
export class InterimAnswers {
  readonly #socket: Socket;
  #isExpected = false;
  #held = EMPTY;
  #count = 0;
  #lastStatus: number | undefined;

  /** @param socket read by whoever calls `read`. */
  constructor(socket: Socket) {
    this.#socket = socket;
    const read = socket.read.bind(socket);
    socket.read = (size) => (this.#isExpected ? this.#without(read(size)) : read(size));
  }

  /** Of the answer that is expected. */
  get lastStatus(): number | undefined {
    return this.#lastStatus;
  }

  /** A request goes out: what comes next belongs to its answer. */
  expect(): void {
    this.#isExpected = true;
    this.#held = EMPTY;
    this.#count = 0;
    this.#lastStatus = undefined;
  }

  /** `null`: nothing of the answer itself has come. */
  #without(chunk: Buffer | null): Buffer | null {
    if (chunk !== null) this.#held = Buffer.concat([this.#held, chunk]);
    for (;;) {
      const begin = this.#held.toString('latin1', 0, STATUS_LENGTH);
      if (begin.length < STATUS_LENGTH && 'HTTP/1.'.startsWith(begin.slice(0, 7))) return null;
      const status = INTERIM.exec(begin)?.[1];
      const end = this.#held.indexOf(HEAD_END);
      if (status === undefined || (end < 0 && this.#held.length > MAX_HEAD_BYTES)) break;
      if (end < 0) return null;
      this.#count += 1;
      this.#lastStatus = Number(status);
      this.#held = this.#held.subarray(end + HEAD_END.length);
      if (this.#count > MAX_COUNT) {
        const why = new Error(`more than ${MAX_COUNT} interim answers`);
        this.#socket.destroy(new TransportFailed('informational_only', why, this.#lastStatus));
        return null;
      }
    }
    this.#isExpected = false;
    const rest = this.#held;
    this.#held = EMPTY;
    return rest;
  }
}
