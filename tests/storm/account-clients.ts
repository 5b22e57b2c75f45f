import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  Chance,
  EventReceiver,
  type HttpResponse,
  type Json,
  KEYS,
  until,
} from '../harness/index.js';
import { ARRIVAL_MS, type StormClients } from './storm-clients.js';
import type { StormPlatform } from './storm-platform.js';

const ACCOUNTS = '/v2/core/accounts';
const AUTHORIZATION = { authorization: `Bearer ${KEYS.sk_test}` };
const WRITER_COUNT = 5;
const SHARED_COUNT = 3;

interface Change {
  readonly path: string;
  readonly body: unknown;
  readonly key: string;
}

/** Create and change accounts. Each request has an idempotency key and is repeated until it receives a response. */
export class AccountClients implements StormClients {
  readonly figures = {
    creates: 0,
    updates: 0,
    replays: 0,
    accountEvents: 0,
    accountEventsTwice: 0,
  };
  readonly #platform: StormPlatform;
  readonly #receiver: EventReceiver;
  readonly #seed: number;
  /** Display name by account id, from its last acknowledged change. */
  readonly #names = new Map<string, string>();
  /** By id of a shared account: the last acknowledged number of each writer. */
  readonly #numbers = new Map<string, Map<string, string>>();
  readonly #runs = new Map<string, string>();
  #lastRun = 0;

  static async start(platform: StormPlatform, seed: number): Promise<AccountClients> {
    const receiver = await EventReceiver.start();
    const clients = new AccountClients(platform, receiver, seed);
    await clients.#change({
      path: '/v2/core/event_destinations',
      key: randomUUID(),
      body: {
        name: 'storm',
        type: 'webhook_endpoint',
        event_payload: 'thin',
        enabled_events: ['v2.core.account.created'],
        webhook_endpoint: { url: receiver.url },
      },
    });
    for (let index = 0; index < SHARED_COUNT; index++) {
      const id = await clients.#create();
      clients.#numbers.set(id, new Map());
    }
    return clients;
  }

  private constructor(platform: StormPlatform, receiver: EventReceiver, seed: number) {
    this.#platform = platform;
    this.#receiver = receiver;
    this.#seed = seed;
  }

  async run(isOver: () => boolean): Promise<void> {
    const write = async (_: unknown, writer: number): Promise<void> => {
      const chance = new Chance(this.#seed * 100 + writer);
      while (!isOver()) {
        const id = await this.#create(chance);
        for (let count = chance.between(0, 4); count > 0 && !isOver(); count--) {
          await this.#rename(id, chance);
        }
        if (chance.happens(0.5)) await this.#number(writer, chance);
      }
    };
    await Promise.all(Array.from({ length: WRITER_COUNT }, write));
  }

  async check(): Promise<void> {
    const found = await this.#list();
    const runs = found.map(({ metadata }) => metadata.run).filter((run) => run !== undefined);
    assert.equal(new Set(runs).size, runs.length, 'one key made two accounts');
    const byId = new Map(found.map((account) => [account.id, account]));
    for (const [id, name] of this.#names) {
      const account = byId.get(id);
      assert.ok(account !== undefined, `account ${id} is lost`);
      assert.equal(account.display_name, name, `a change of account ${id} is lost or undone`);
      assert.equal(account.metadata.run, this.#runs.get(id));
    }
    for (const [id, numbers] of this.#numbers) {
      for (const [name, number] of numbers) {
        assert.equal(byId.get(id)?.metadata[name], number, `a change of shared account ${id}`);
      }
    }
    const untold = () => {
      const told = new Set(this.#receiver.received.map(({ body }) => relatedId(body)));
      return [...this.#names.keys()].filter((id) => !told.has(id));
    };
    await until(async () => untold().length === 0, 'events of all accounts', ARRIVAL_MS).catch(
      (error) => assert.fail(`${error}; missing: ${untold().slice(0, 5)}`),
    );
    const told = this.#receiver.received.map(({ body }) => relatedId(body));
    const events = new Set(this.#receiver.received.map(({ body }) => JSON.parse(body).id));
    assert.equal(events.size, new Set(told).size, 'an account has one event of its creation');
    this.figures.accountEvents = events.size;
    this.figures.accountEventsTwice = told.length - events.size;
  }

  close(): void {
    void this.#receiver.close();
  }

  async #create(chance?: Chance): Promise<string> {
    const run = String(++this.#lastRun);
    const body = { display_name: `${run}:0`, metadata: { run } };
    const { id } = await this.#changed({ path: ACCOUNTS, body, key: randomUUID() }, chance);
    this.#names.set(id, body.display_name);
    this.#runs.set(id, run);
    this.figures.creates += 1;
    return id;
  }

  async #rename(id: string, chance: Chance): Promise<void> {
    const [run, number] = String(this.#names.get(id)).split(':');
    const display_name = `${run}:${Number(number) + 1}`;
    await this.#changed(
      { path: `${ACCOUNTS}/${id}`, body: { display_name }, key: randomUUID() },
      chance,
    );
    this.#names.set(id, display_name);
    this.figures.updates += 1;
  }

  async #number(writer: number, chance: Chance): Promise<void> {
    const [id, numbers] = chance.pick([...this.#numbers]);
    const name = `writer${writer}`;
    const number = String(Number(numbers.get(name) ?? 0) + 1);
    const body = { metadata: { [name]: number } };
    await this.#changed({ path: `${ACCOUNTS}/${id}`, body, key: randomUUID() }, chance);
    numbers.set(name, number);
    this.figures.updates += 1;
  }

  /** Sometimes repeats a request that already got a response: the second response has to be the same. */
  async #changed(change: Change, chance?: Chance): Promise<Json> {
    const first = await this.#change(change);
    if (chance?.happens(0.2)) {
      const again = await this.#change(change);
      if (again.text !== first.text) {
        this.#platform.complaints.push(
          `another answer to the same key: ${first.text} and ${again.text}`,
        );
      }
      this.figures.replays += 1;
    }
    return JSON.parse(first.text);
  }

  async #change({ path, body, key }: Change): Promise<HttpResponse> {
    const headers = {
      ...AUTHORIZATION,
      'content-type': 'application/json',
      'idempotency-key': key,
    };
    const request = { method: 'POST', headers, body: JSON.stringify(body) };
    const isUnderWay = ({ text }: HttpResponse) => text.includes('"idempotency_key_in_use"');
    const response = await this.#platform.ask(path, request, isUnderWay);
    assert.equal(response.status, 200, `${path}: ${response.text}`);
    return response;
  }

  async #list(): Promise<readonly Json[]> {
    const found: Json[] = [];
    for (let path: string | null = `${ACCOUNTS}?limit=100`; path !== null; ) {
      const page: Json = await this.#platform.done(path, { headers: AUTHORIZATION });
      found.push(...page.data);
      path = page.next_page_url;
    }
    return found;
  }
}

const relatedId = (body: string): string => JSON.parse(body).related_object.id;
