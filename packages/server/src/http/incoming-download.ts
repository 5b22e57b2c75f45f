import type { DownloadRequest, HttpResponse } from '@plinth/kernel';
import { IncomingRequest } from './incoming-request.js';

/** Headers of the outer request that must not apply to the download. */
const OF_OUTER = /^(?:accept|authorization|content-|if-|range|transfer-)/;

/** The query of a download URL, processed on the connection of the outer request, which requested the URL. */
export class IncomingDownload extends IncomingRequest {
  readonly httpVersion;
  readonly fault = undefined;
  readonly #outer: IncomingRequest;
  readonly #download: DownloadRequest;

  constructor(outer: IncomingRequest, download: DownloadRequest) {
    const forwarded = Object.entries(outer.headers).filter(([name]) => !OF_OUTER.test(name));
    const headers = { ...Object.fromEntries(forwarded), ...download.headers };
    super({ ...download, headers, socket: outer.socket, addresses: outer.addresses });
    this.httpVersion = outer.httpVersion;
    this.#outer = outer;
    this.#download = download;
  }

  disconnectSignal = (): AbortSignal => this.#outer.disconnectSignal();
  readBody = (): Uint8Array => this.#download.body;
  whenClosed = (done: () => void): void => this.#outer.whenClosed(done);

  override adaptToTransport(response: HttpResponse): HttpResponse {
    return this.#download.adaptResponse(response);
  }
}
