import { IncomingRequest, type RequestHead } from '../../http/incoming-request.js';

/** A request that arrived completely in one piece. */
export class FastRequest extends IncomingRequest {
  readonly httpVersion = 1;
  readonly fault = undefined;
  readonly disconnectSignal: () => AbortSignal;
  readonly #bytes: Buffer;
  #done: (() => void) | undefined;

  constructor(head: RequestHead, body: Buffer, disconnectSignal: () => AbortSignal) {
    super(head);
    this.#bytes = body;
    this.disconnectSignal = disconnectSignal;
  }

  readBody(): Uint8Array {
    return this.#bytes;
  }

  /** A connection lost before the request was read has no such event. */
  whenClosed(done: () => void): void {
    this.#done = done;
  }

  notifyClosed(): void {
    this.#done?.();
  }
}
