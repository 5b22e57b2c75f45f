import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './until.js';

export interface ReceivedDelivery {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type RespondTo = (delivery: ReceivedDelivery, response: ServerResponse) => void;

/** A receiver on a loopback port that responds as the test specifies. */
export class TestReceiver {
  readonly url: string;
  readonly deliveries: ReceivedDelivery[] = [];
  respond: RespondTo;
  readonly #server: Server;

  static async start(respond: RespondTo = (_, response) => response.end('ok')) {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TestReceiver(server, respond);
  }

  private constructor(server: Server, respond: RespondTo) {
    this.#server = server;
    this.respond = respond;
    const { port } = server.address() as AddressInfo; // it listens on a port
    this.url = `http://127.0.0.1:${port}/hook`;
    server.on('request', async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer); // no encoding is set
      const body = Buffer.concat(chunks).toString();
      const delivery = { path: request.url ?? '', headers: request.headers, body };
      this.deliveries.push(delivery);
      this.respond(delivery, response);
    });
  }

  of(event: string): readonly ReceivedDelivery[] {
    return this.deliveries.filter(({ headers }) => headers['x-vendor-event'] === event);
  }

  /** Resolves when `count` deliveries of the event have arrived. */
  async until(event: string, count: number): Promise<readonly ReceivedDelivery[]> {
    return await until(
      async () => this.of(event),
      ({ length }) => length >= count,
    );
  }

  close(): void {
    this.#server.close().closeAllConnections();
  }
}
