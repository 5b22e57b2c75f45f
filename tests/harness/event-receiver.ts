import type { Json } from './accounts-server.js';
import { until } from './shared-nodes.js';
import { type ReceivedDelivery, WebhookReceiver } from './webhook-receiver.js';

/** Receives account events and responds as configured. */
export class EventReceiver implements AsyncDisposable {
  readonly url: string;
  readonly received: readonly ReceivedDelivery[];
  status = 200;
  /** Headers of its responses. */
  headers: Readonly<Record<string, string>> = {};
  /** Accepts requests but never responds to them. */
  isSilent = false;
  readonly #receiver: WebhookReceiver;

  static async start(): Promise<EventReceiver> {
    return new EventReceiver(await WebhookReceiver.start());
  }

  private constructor(receiver: WebhookReceiver) {
    this.#receiver = receiver;
    this.url = receiver.url;
    this.received = receiver.deliveries;
    receiver.response = (_, response) => {
      if (!this.isSilent) response.writeHead(this.status, this.headers).end();
    };
  }

  /** Returns the first matching event, even if it arrived earlier. */
  async event(fits: (event: Json) => boolean): Promise<ReceivedDelivery> {
    let found: ReceivedDelivery | undefined;
    await until(async () => {
      found = this.received.find(({ body }) => fits(JSON.parse(body)));
      return found !== undefined;
    }, 'the event');
    return found as unknown as ReceivedDelivery; // it came
  }

  async close(): Promise<void> {
    await this.#receiver.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
