import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningServer, WebhookApp, WebhookReceiver } from '../harness/index.js';

const WRITER_COUNT = 8;
/** Maximum time between a delivery and its record, also on a busy machine. */
const UNRECORDED_MS = 3000;

/** Publishes as fast as the server responds, and compares the deliveries with the acknowledged events. */
export class WebhookLoad {
  readonly #app: WebhookApp;
  readonly #receiver: WebhookReceiver;
  /** Payload number by GUID. */
  readonly #acknowledged = new Map<string, number>();
  readonly #killMs: number[] = [];
  #lastNumber = 0;

  constructor(app: WebhookApp, receiver: WebhookReceiver) {
    this.#app = app;
    this.#receiver = receiver;
  }

  get acknowledgedCount(): number {
    return this.#acknowledged.size;
  }

  /** Publishes until the server dies, or `isOver`. */
  async publish(server: RunningServer, perSec: number, isOver: () => boolean): Promise<void> {
    const pauseMs = (WRITER_COUNT * 1000) / perSec;
    const write = async (): Promise<void> => {
      while (!isOver()) {
        const startMs = Date.now();
        const number = ++this.#lastNumber;
        const body = JSON.stringify({
          event: 'load',
          payload: { number, filler: 'x'.repeat(500) },
          app_id: this.#app.id,
        });
        try {
          const response = await server.http.send('/ops/v1/events', { body });
          assert.equal(response.status, 202, response.text);
          const { guid, targets } = JSON.parse(response.text) as {
            guid: string;
            targets: unknown[];
          };
          assert.equal(targets.length, 1);
          this.#acknowledged.set(guid, number);
        } catch (error) {
          if (error instanceof assert.AssertionError) throw error;
          return; // the server has died
        }
        await sleep(Math.max(0, pauseMs - (Date.now() - startMs)));
      }
    };
    await Promise.all(Array.from({ length: WRITER_COUNT }, write));
  }

  /** Resolves when `count` more events have been acknowledged, regardless of the load of the machine. */
  async untilMore(count: number): Promise<void> {
    const wanted = this.#acknowledged.size + count;
    const endMs = Date.now() + 30_000;
    while (this.#acknowledged.size < wanted && Date.now() < endMs) await sleep(5);
  }

  noteKill(): void {
    this.#killMs.push(Date.now());
  }

  /** Resolves when all acknowledged events have arrived. */
  async untilArrived(timeoutMs: number): Promise<void> {
    const endMs = Date.now() + timeoutMs;
    for (;;) {
      const missing = this.#missing();
      if (missing.length === 0) return;
      const sample = missing.slice(0, 3).join(', ');
      assert.ok(Date.now() < endMs, `${missing.length} acknowledged events are lost: ${sample}`);
      await sleep(50);
    }
  }

  /** Only deliveries in progress when a server died may arrive twice, and as the same event. */
  checkTwice(): number {
    const first = new Map<string, { readonly body: string; readonly atMs: number }>();
    let count = 0;
    for (const { headers, body, atMs } of this.#receiver.of('load')) {
      const guid = String(headers['x-vendor-delivery']);
      const before = first.get(guid);
      if (before === undefined) {
        first.set(guid, { body, atMs });
        continue;
      }
      count += 1;
      assert.equal(body, before.body);
      const wasUnderWay = this.#killMs.some(
        (killMs) => before.atMs <= killMs + 100 && before.atMs >= killMs - UNRECORDED_MS,
      );
      assert.ok(wasUnderWay, `${guid} came twice although nothing was killed`);
    }
    const numbers = new Set([...first.values()].map(({ body }) => body));
    assert.equal(numbers.size, first.size, 'one event has one GUID');
    return count;
  }

  #missing(): readonly string[] {
    const arrived = new Set(
      this.#receiver.of('load').map(({ headers }) => String(headers['x-vendor-delivery'])),
    );
    return [...this.#acknowledged.keys()].filter((guid) => !arrived.has(guid));
  }
}
