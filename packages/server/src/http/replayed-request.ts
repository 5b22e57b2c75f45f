import type { HttpAnswer, StoredRequest } from '@plinth/kernel';
import { IncomingRequest } from './incoming-request.js';

/** Headers of the link's own request that must not apply to the stored one. */
const OF_THE_LINK = /^(?:accept|authorization|content-|if-|range|transfer-)/;

/** A stored request, replayed on the connection of the link request. */
export class ReplayedRequest extends IncomingRequest {
  readonly httpVersion;
  readonly fault = undefined;
  readonly #link: IncomingRequest;
  readonly #stored: StoredRequest;

  constructor(link: IncomingRequest, stored: StoredRequest) {
    const kept = Object.entries(link.headers).filter(([name]) => !OF_THE_LINK.test(name));
    const headers = { ...Object.fromEntries(kept), ...stored.headers };
    super({ ...stored, headers, socket: link.socket, addresses: link.addresses });
    this.httpVersion = link.httpVersion;
    this.#link = link;
    this.#stored = stored;
  }

  disconnectSignal = (): AbortSignal => this.#link.disconnectSignal();
  readBody = (): Uint8Array => this.#stored.body;
  whenClosed = (done: () => void): void => this.#link.whenClosed(done);

  override adaptToTransport(answer: HttpAnswer): HttpAnswer {
    return this.#stored.adaptAnswer(answer);
  }
}
