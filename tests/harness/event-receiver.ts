import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from './accounts-server.js';

export interface ReceivedEvent {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Takes what is sent to it; answers as it is told. */
export class EventReceiver {
  readonly url: string;
  status = 200;
  /** Of its answers. */
  headers: Readonly<Record<string, string>> = {};
  /** Takes requests and never answers them. */
  isSilent = false;
  readonly received: ReceivedEvent[] = [];
  readonly #server: Server;
  #waiting: (() => void)[] = [];

  static async start(): Promise<EventReceiver> {
    const http = createServer();
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    return new EventReceiver(http);
  }

  private constructor(http: Server) {
    this.#server = http;
    this.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/hook`;
    http.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
        if (!this.isSilent) response.writeHead(this.status, this.headers).end();
        for (const wake of this.#waiting.splice(0)) wake();
      });
    });
  }

  /** The first event that fits, also one that came before. */
  async event(fits: (event: Json) => boolean): Promise<ReceivedEvent> {
    const deadline = Date.now() + 15_000;
    for (;;) {
      const found = this.received.find(({ body }) => fits(JSON.parse(body)));
      if (found !== undefined) return found;
      assert.ok(Date.now() < deadline, 'the event comes in time');
      await Promise.race([
        new Promise<void>((resolve) => this.#waiting.push(resolve)),
        new Promise((resolve) => setTimeout(resolve, 200)),
      ]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
