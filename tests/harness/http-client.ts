import { Agent, request } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';

export interface HttpRequest {
  readonly method?: string;
  /** Sent unchanged; only `Host` and the body framing are added. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Ends the connection, with or without a response. */
  readonly signal?: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  readonly text: string;
}

/** A plain HTTP/1.1 client: tests see every byte of the response, without the interpretation of a client library. */
export class HttpClient {
  readonly #url: string;
  readonly #isTls: boolean;
  readonly #agent: Agent;

  /** @param ca trusted certificates for `https://`. */
  constructor(url: string, ca?: string | Buffer) {
    this.#url = url;
    this.#isTls = url.startsWith('https:');
    const options = { keepAlive: true, maxSockets: 8, ...(ca !== undefined && { ca }) };
    this.#agent = this.#isTls ? new TlsAgent(options) : new Agent(options);
  }

  async send(path: string, options: HttpRequest = {}): Promise<HttpResponse> {
    const { body, headers = {}, signal } = options;
    const method = options.method ?? (body === undefined ? 'GET' : 'POST');
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const framing = bytes === undefined ? {} : { 'content-length': String(bytes.length) };
    return await new Promise((resolve, reject) => {
      const outgoing = (this.#isTls ? tlsRequest : request)(
        `${this.#url}${path}`,
        {
          method,
          headers: { ...framing, ...headers },
          agent: this.#agent,
          ...(signal !== undefined && { signal }),
        },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('error', reject);
          incoming.on('end', () => {
            const whole = Buffer.concat(chunks);
            resolve({
              status: incoming.statusCode ?? 0,
              headers: incoming.headers,
              bytes: whole,
              text: whole.toString(),
            });
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(bytes);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
