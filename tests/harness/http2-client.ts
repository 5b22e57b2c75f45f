import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from 'node:http2';
import type { HttpRequest, HttpResponse } from './http-client.js';

/** HTTP/2 with prior knowledge or ALPN, all requests over one connection. */
export class Http2Client {
  readonly #session: ClientHttp2Session;

  /** @param ca trusted certificates for `https://`. */
  constructor(url: string, ca?: string | Buffer) {
    this.#session = connect(url, { ...(ca !== undefined && { ca }) });
    // Open requests fail with the same error.
    this.#session.on('error', () => {});
  }

  /** The protocol negotiated by ALPN; `h2c` without TLS. */
  get protocol(): string | undefined {
    return this.#session.alpnProtocol;
  }

  async send(path: string, options: HttpRequest = {}): Promise<HttpResponse> {
    const { body, headers = {} } = options;
    const method = options.method ?? (body === undefined ? 'GET' : 'POST');
    const fields: OutgoingHttpHeaders = { ':method': method, ':path': path, ...headers };
    const stream = this.#session.request(fields, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    return await new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let status = 0;
      let received: HttpResponse['headers'] = {};
      stream.on('response', ({ ':status': code, ...others }) => {
        status = code ?? 0;
        received = others as HttpResponse['headers']; // requests have the other pseudo headers
      });
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('error', reject);
      stream.on('end', () => {
        const bytes = Buffer.concat(chunks);
        resolve({ status, headers: received, bytes, text: bytes.toString() });
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => this.#session.close(() => resolve()));
  }
}
