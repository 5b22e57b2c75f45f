import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedDelivery {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Alternating names and values, in the order received. */
  readonly rawHeaders: readonly string[];
  readonly body: string;
  readonly atMs: number;
}

export type ResponseDelivery = (delivery: ReceivedDelivery, response: ServerResponse) => void;

const TIMEOUT_MS = 20_000;

/** A webhook receiver: stores deliveries and responds as the test specifies. */
export class WebhookReceiver implements AsyncDisposable {
  readonly deliveries: ReceivedDelivery[] = [];
  response: ResponseDelivery;
  readonly #server: Server;
  #waiting: (() => void)[] = [];

  static async start(
    answer: ResponseDelivery = (_, response) => response.end('ok'),
    port = 0,
  ): Promise<WebhookReceiver> {
    const server = createServer();
    const receiver = new WebhookReceiver(server, answer);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return receiver;
  }

  private constructor(server: Server, answer: ResponseDelivery) {
    this.#server = server;
    this.response = answer;
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('error', () => {});
      request.on('end', () => {
        const delivery = {
          method: request.method ?? '',
          path: request.url ?? '',
          headers: request.headers,
          rawHeaders: request.rawHeaders,
          body: Buffer.concat(chunks).toString(),
          atMs: Date.now(),
        };
        this.deliveries.push(delivery);
        for (const wake of this.#waiting.splice(0)) wake();
        this.response(delivery, response);
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  /** Deliveries of an event, without pings. */
  of(event: string): readonly ReceivedDelivery[] {
    return this.deliveries.filter(({ headers }) => headers['x-vendor-event'] === event);
  }

  /** Resolves when `count` deliveries of the event have arrived. */
  async until(event: string, count: number): Promise<readonly ReceivedDelivery[]> {
    const endMs = Date.now() + TIMEOUT_MS;
    while (this.of(event).length < count) {
      const leftMs = endMs - Date.now();
      if (leftMs <= 0) throw new Error(`${this.of(event).length} of ${count} ${event} deliveries`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    return this.of(event);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
