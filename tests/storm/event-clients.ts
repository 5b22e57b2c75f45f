import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Chance,
  type HttpResponse,
  type ReceivedDelivery,
  type ServerProcess,
  until,
  WebhookApp,
  WebhookReceiver,
} from '../harness/index.js';
import { ARRIVAL_MS, type StormClients } from './storm-clients.js';
import type { StormPlatform } from './storm-platform.js';
import type { Weather } from './weather.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const DELIVERIES = '/api/v3/app/hook/deliveries';
const EVENT = 'storm';
const FIRST_SECRET = 'secret 0';
const LOOSE_WRITER_COUNT = 3;
const KEY_COUNT = 6;
const PAUSE_MS = 60;
/** An app may make 80 changes per minute. */
const REDELIVERY_PAUSE_MS = 2000;
const SECRET_PAUSE_MS = 4000;
/** Maximum time between a delivery and its record, also on a busy machine. */
const UNRECORDED_MS = 4000;

/** Publish events of two apps, one of which has ordered keys, and receive their deliveries. */
export class EventClients implements StormClients {
  readonly figures = {
    events: 0,
    deliveries: 0,
    deliveriesTwice: 0,
    eventReplays: 0,
    redeliveries: 0,
    secrets: 0,
  };
  readonly #platform: StormPlatform;
  readonly #weather: Weather;
  readonly #receiver: WebhookReceiver;
  readonly #seed: number;
  readonly #loose: WebhookApp;
  readonly #ordered: WebhookApp;
  /** Payload text by GUID. */
  readonly #acknowledged = new Map<string, string>();
  /** By GUID of redelivered events: the maximum number of redeliveries, and the number of acknowledged ones. */
  readonly #again = new Map<string, { asked: number; acknowledged: number }>();
  /** Secrets of the loose app; the most recently requested one may not have reached every node. */
  readonly #secrets = [FIRST_SECRET];
  #lastNumber = 0;

  static async start(
    platform: StormPlatform,
    weather: Weather,
    seed: number,
  ): Promise<EventClients> {
    const receiver = await WebhookReceiver.start((_, response) => {
      setTimeout(() => response.end('ok'), 10);
    });
    const server = platform.nodes[0]?.server as ServerProcess;
    const hook = { url: receiver.url, events: [EVENT], secret: FIRST_SECRET };
    const loose = await WebhookApp.register(server, hook);
    const ordered = await WebhookApp.register(server, { ...hook, ordering: 'key' });
    await sleep(1500); // until the other nodes have loaded the apps
    return new EventClients({ platform, weather, receiver, seed, loose, ordered });
  }

  private constructor(options: {
    readonly platform: StormPlatform;
    readonly weather: Weather;
    readonly receiver: WebhookReceiver;
    readonly seed: number;
    readonly loose: WebhookApp;
    readonly ordered: WebhookApp;
  }) {
    this.#platform = options.platform;
    this.#weather = options.weather;
    this.#receiver = options.receiver;
    this.#seed = options.seed;
    this.#loose = options.loose;
    this.#ordered = options.ordered;
  }

  async run(isOver: () => boolean): Promise<void> {
    const write = async (writer: number, key?: string): Promise<void> => {
      const chance = new Chance(this.#seed * 100 + 20 + writer);
      while (!isOver()) {
        await this.#publish(chance, key);
        await sleep(PAUSE_MS);
      }
    };
    await Promise.all([
      ...Array.from({ length: LOOSE_WRITER_COUNT }, (_, writer) => write(writer)),
      ...Array.from({ length: KEY_COUNT }, (_, index) => write(10 + index, `key${index}`)),
      this.#redeliver(isOver),
      this.#changeSecrets(isOver),
    ]);
  }

  async check(): Promise<void> {
    await this.#changeSecret();
    await sleep(1500); // until all nodes have loaded it
    const last = await this.#publish(new Chance(this.#seed));
    const wanted = new Set(this.#acknowledged.keys());
    const missing = () => {
      const come = new Set(this.#receiver.deliveries.map(guidOf));
      return [...wanted].filter((guid) => !come.has(guid));
    };
    await until(async () => missing().length === 0, 'all events', ARRIVAL_MS).catch(() =>
      assert.fail(
        `${missing().length} of ${wanted.size} events are lost: ${missing().slice(0, 5)}`,
      ),
    );
    await this.#untilQueueIsEmpty();
    this.#checkTwice();
    this.#checkOrder();
    this.#checkSignatures(last);
    const recorded = new Set([
      ...(await this.#recorded(this.#loose)),
      ...(await this.#recorded(this.#ordered)),
    ]);
    const unrecorded = [...wanted].filter((guid) => !recorded.has(guid));
    assert.deepEqual(unrecorded, [], 'every delivery has a record');
    this.figures.deliveries = this.#receiver.deliveries.length;
  }

  close(): void {
    // Pending responses no longer matter.
    this.#receiver.close().catch(() => {});
  }

  async #publish(chance: Chance, key?: string): Promise<string> {
    const number = ++this.#lastNumber;
    const payload = { number, key };
    const app = key === undefined ? this.#loose : this.#ordered;
    const ordering = key !== undefined && { ordering_key: key };
    const request = {
      headers: { ...JSON_TYPE, 'idempotency-key': `event-${number}` },
      body: JSON.stringify({ event: EVENT, payload, app_id: app.id, ...ordering }),
    };
    const send = async () => {
      const response = await this.#platform.ask('/ops/v1/events', request);
      assert.equal(response.status, 202, response.text);
      const { guid, targets } = JSON.parse(response.text) as { guid: string; targets: unknown[] };
      assert.equal(targets.length, 1, response.text);
      return guid;
    };
    const guid = await send();
    this.#acknowledged.set(guid, JSON.stringify(payload));
    this.figures.events += 1;
    if (chance.happens(0.1)) {
      this.figures.eventReplays += 1;
      if ((await send()) !== guid) {
        this.#platform.complaints.push(`event ${number} was taken twice under one key`);
      }
    }
    return guid;
  }

  /** Requests redelivery of single deliveries. */
  async #redeliver(isOver: () => boolean): Promise<void> {
    const chance = new Chance(this.#seed * 100 + 50);
    for (; !isOver(); await sleep(REDELIVERY_PAUSE_MS)) {
      const listed = await this.#platform.tryOnce(DELIVERIES, { headers: headersOf(this.#loose) });
      const items = listed?.status === 200 ? JSON.parse(listed.text) : [];
      if (items.length === 0) continue;
      const { id, guid } = chance.pick(items as { id: number; guid: string }[]);
      const entry = this.#again.get(guid) ?? { asked: 0, acknowledged: 0 };
      this.#again.set(guid, entry);
      const path = `${DELIVERIES}/${id}/attempts`;
      // Counted before: a request without a response may have been accepted.
      entry.asked += 1;
      const response = await this.#platform.tryOnce(path, {
        method: 'POST',
        headers: headersOf(this.#loose),
      });
      if (response?.status !== 202) continue;
      entry.acknowledged += 1;
      this.figures.redeliveries += 1;
    }
  }

  async #changeSecrets(isOver: () => boolean): Promise<void> {
    for (let sinceMs = Date.now(); !isOver(); await sleep(100)) {
      if (Date.now() - sinceMs < SECRET_PAUSE_MS) continue;
      await this.#changeSecret();
      sinceMs = Date.now();
    }
  }

  async #changeSecret(): Promise<void> {
    const secret = `secret ${this.#secrets.length}`;
    this.#secrets.push(secret);
    const response = await this.#platform.ask('/api/v3/app/hook/config', {
      method: 'PATCH',
      headers: { ...JSON_TYPE, ...headersOf(this.#loose) },
      body: JSON.stringify({ secret }),
    });
    assert.equal(response.status, 200, response.text);
    this.figures.secrets += 1;
  }

  async #untilQueueIsEmpty(): Promise<void> {
    const { database } = this.#platform.shared;
    const isEmpty = async () => {
      const rows = await database.query('select count(*) from webhooks_queue');
      return Number(rows[0]?.['count']) === 0;
    };
    await until(isEmpty, 'an empty queue', ARRIVAL_MS);
  }

  /** Only redelivered events, and those in progress when their node or the database failed, may arrive twice. */
  #checkTwice(): void {
    const byGuid = new Map<string, ReceivedDelivery[]>();
    for (const delivery of this.#receiver.of(EVENT)) {
      const guid = guidOf(delivery);
      byGuid.set(guid, [...(byGuid.get(guid) ?? []), delivery]);
    }
    const guids = new Map<string, string>();
    for (const [guid, [first, ...more]] of byGuid) {
      assert.ok(first !== undefined);
      const other = guids.get(first.body);
      assert.equal(other, undefined, `${first.body} came as ${guid} and as ${other}`);
      guids.set(first.body, guid);
      for (const { body } of more) assert.equal(body, first.body);
      assert.equal(first.body, this.#acknowledged.get(guid) ?? first.body);
      const { asked, acknowledged } = this.#again.get(guid) ?? { asked: 0, acknowledged: 0 };
      assert.ok(more.length >= acknowledged, `${guid} was not delivered again`);
      const uncertain = [first, ...more].filter((delivery) => this.#wasUncertain(delivery)).length;
      assert.ok(
        more.length <= asked + uncertain,
        `${guid} came ${1 + more.length} times: ${[first, ...more].map(({ atMs }) => atMs)}`,
      );
      this.figures.deliveriesTwice += Math.max(0, more.length - asked);
    }
  }

  #wasUncertain({ atMs }: ReceivedDelivery): boolean {
    return this.#weather.wasFault(['kill', 'stop', 'database'], atMs - 500, atMs + UNRECORDED_MS);
  }

  #checkOrder(): void {
    const last = new Map<string, number>();
    const wrong: string[] = [];
    for (const { body, atMs } of this.#receiver.of(EVENT)) {
      const { key, number } = JSON.parse(body) as { key?: string; number: number };
      if (key === undefined) continue;
      const before = last.get(key) ?? 0;
      if (number < before) wrong.push(`${key}: ${number} behind ${before} at ${atMs}`);
      last.set(key, Math.max(number, before));
    }
    assert.deepEqual(wrong, [], 'order of keys');
  }

  /** Each signature must match one of the app's secrets. Signatures at the end must match the last secret. */
  #checkSignatures(last: string): void {
    for (const delivery of this.#receiver.of(EVENT)) {
      const { headers, body } = delivery;
      const signature = headers['x-hub-signature-256'];
      const isLast = guidOf(delivery) === last;
      const secrets = isLast ? this.#secrets.slice(-1) : this.#secrets;
      assert.ok(
        secrets.some((secret) => signature === signatureOf(secret, body)),
        `${guidOf(delivery)} is signed with none of ${secrets.length} secrets`,
      );
    }
  }

  async #recorded(app: WebhookApp): Promise<readonly string[]> {
    const found: string[] = [];
    let path: string | undefined = `${DELIVERIES}?per_page=100`;
    while (path !== undefined) {
      const response: HttpResponse = await this.#platform.ask(path, { headers: headersOf(app) });
      assert.equal(response.status, 200, response.text);
      found.push(...(JSON.parse(response.text) as { guid: string }[]).map(({ guid }) => guid));
      const next = /<([^>]+)>; rel="next"/.exec(String(response.headers['link'] ?? ''))?.[1];
      path = next === undefined ? undefined : next.replace(/^https?:\/\/[^/]+/, '');
    }
    return found;
  }
}

const signatureOf = (secret: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
const guidOf = ({ headers }: ReceivedDelivery): string => String(headers['x-vendor-delivery']);
const headersOf = (app: WebhookApp) => ({ authorization: `Bearer ${app.jwt()}` });
