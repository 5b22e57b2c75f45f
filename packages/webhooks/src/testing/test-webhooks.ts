import assert from 'node:assert/strict';
import { join } from 'node:path';
import {
  ANONYMOUS,
  type ApiConventions,
  AppJwtRefused,
  createLogger,
  githubErrorResponse,
  LocalLeases,
  type Logger,
  loadSettings,
  Metrics,
  NodeFileSystem,
  openRelationalStore,
  operatorDocs,
  operatorFailure,
  type Principal,
  RelationalOutbox,
  type RelationalStore,
  type RouteGroup,
  SecretBox,
  type SqlConnection,
  SystemClock,
  type Tracer,
} from '@plinth/kernel';
import {
  ManualClock,
  SeededRandom,
  type TestResponse,
  TestRoutes,
  temporaryFolder,
} from '@plinth/kernel/testing';
import { WEBHOOKS_SETTINGS } from '../config.js';
import { createWebhooks, type Webhooks } from '../service.js';
import { type RespondTo, TestReceiver } from './test-receiver.js';
import { until } from './until.js';

// biome-ignore lint/suspicious/noExplicitAny: tests read members of response bodies in many places.
export type AnyJson = any;

/** URL under which clients reach the service. */
export const BASE = 'https://hooks.example:8443';
const OPERATOR: Principal = { kind: 'admin', tokenId: 0, tokenName: '_admin' };
const APP_TOKEN = /^Bearer app (\d+)$/;
const DEFAULTS = { 'webhooks-allow-private-targets': '127.0.0.0/8' };

/** API conventions of `/ops/v1`, where every request comes from an operator. */
const operatorConventions = (log: Logger): ApiConventions => ({
  service: 'identity',
  paths: ['/ops/v1'],
  identify: () => OPERATOR,
  errorResponse: (error, request) =>
    githubErrorResponse(error, { log, documentationUrl: operatorDocs(request) }),
  notFoundResponse: (request) => operatorFailure(request, 404, 'Not Found'),
});

/**
 * The webhooks service on a separate store with a manual clock. Requests reach its routes without a
 * socket; deliveries reach receivers over loopback connections.
 */
export class TestWebhooks implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly logged: string[] = [];
  readonly spans: Parameters<Tracer['record']>[0][] = [];
  /** Apps by registered installation. */
  readonly installations = new Map<number, number>();
  readonly #appIds = new Set<number>();
  readonly #receivers: TestReceiver[] = [];
  readonly #store: RelationalStore;
  readonly #outbox: RelationalOutbox;
  readonly #service: Webhooks;
  readonly #routes: TestRoutes;

  /** @param flags settings by flag name, such as `webhooks-retry-policy`. */
  static async start(flags: Readonly<Record<string, string>> = {}): Promise<TestWebhooks> {
    const path = join(await temporaryFolder(), 'plinth.db');
    const fileSystem = new NodeFileSystem();
    const store = await openRelationalStore({ path, clock: new SystemClock(), fileSystem });
    const test = new TestWebhooks(store, { ...DEFAULTS, ...flags });
    await test.#outbox.prepare();
    await test.#service.prepare?.();
    await test.#service.start();
    await test.#outbox.start();
    return test;
  }

  private constructor(store: RelationalStore, flags: Readonly<Record<string, string>>) {
    const { clock } = this;
    const sources = { flags: new Map(Object.entries(flags)), env: {} };
    const { webhooks: config } = loadSettings({ webhooks: WEBHOOKS_SETTINGS }, sources);
    const random = new SeededRandom(1, clock);
    const destination = { write: (line: string) => this.logged.push(line) };
    const log = createLogger({ level: 'info', destination });
    const leases = new LocalLeases();
    this.#store = store;
    this.#outbox = new RelationalOutbox({
      ...{ store, leases, clock, random, log, node: 'test', onHandlerFailure: assert.ifError },
    });
    this.#service = createWebhooks({
      ...{ config, store, leases, clock, random, log, folderId: 'test', version: '1.2.3' },
      ...{ metrics: new Metrics(), files: new NodeFileSystem(), outbox: this.#outbox },
      secrets: new SecretBox(Buffer.alloc(32, 7), random),
      tracer: { record: (span) => this.spans.push(span), close: async () => {} },
      apps: this.#apps(),
      ...{ publicUrl: BASE, localUrl: 'http://127.0.0.1:8181', ownListeners: [] },
      operatorConventions: operatorConventions(log),
    });
    this.#routes = new TestRoutes(this.#service.routeGroups() as readonly RouteGroup[]); // this service returns no promise
  }

  /** Starts a receiver that stops with the service. */
  async receive(respond?: RespondTo): Promise<TestReceiver> {
    const receiver = await TestReceiver.start(respond);
    this.#receivers.push(receiver);
    return receiver;
  }

  /** Registers an app. A webhook with a URL is sent a ping. */
  async register(webhook: object = {}): Promise<TestApp> {
    const { appHooks } = this.#service;
    const checked = appHooks.check(webhook);
    const id = this.#appIds.size + 1;
    this.#appIds.add(id);
    await this.transaction((tx) => appHooks.create(tx, { id }, checked));
    await appHooks.noteCommitted(id, 'created');
    return new TestApp(this, id, this.#service);
  }

  /** Returns the webhooks of a list of apps as operators see them. */
  async describe(apps: readonly TestApp[]): Promise<readonly AnyJson[]> {
    const described = await this.#service.appHooks.describe(apps.map(({ id }) => id));
    return apps.map(({ id }) => described.get(id));
  }

  async transaction(work: (tx: SqlConnection) => Promise<void>): Promise<void> {
    await this.#store.transaction(work);
  }

  async send(method: string, path: string, body?: unknown, headers = {}): Promise<TestResponse> {
    const isSent = typeof body === 'string' || body instanceof Uint8Array;
    return await this.#routes.send(path, {
      ...{ method, headers },
      ...(body !== undefined && { body: isSent ? body : JSON.stringify(body) }),
    });
  }

  /** Publishes an event that is accepted. */
  async publish(event: object, headers = {}): Promise<AnyJson> {
    const response = await this.send('POST', '/ops/v1/events', event, headers);
    assert.equal(response.status, 202, response.text);
    return JSON.parse(response.text);
  }

  /** Publishes `count` events in one batch. */
  async publishMany(count: number, eventOf: (index: number) => object): Promise<void> {
    const events = Array.from({ length: count }, (_, index) => eventOf(index));
    const { status, text } = await this.send('POST', '/ops/v1/events/batch', events);
    assert.equal(status, 202, text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closing = this.#service.close();
    for (const receiver of this.#receivers) receiver.close(); // ends the running attempts
    await closing;
    await this.#outbox.close();
    await this.#store.close();
  }

  /** The app registry. The token `app 7` authenticates the app 7, whose client id is `client7`. */
  #apps() {
    const known = (id: number) =>
      this.#appIds.has(id)
        ? { ...APP, id, client_id: `client${id}`, slug: `app-${id}` }
        : undefined;
    return {
      authenticate: async (authorization: string | undefined) => {
        const appId = Number(APP_TOKEN.exec(authorization ?? '')?.[1]);
        if (!this.#appIds.has(appId)) throw new AppJwtRefused('undecodable');
        return { kind: 'app' as const, appId };
      },
      authenticateAnyone: () => ANONYMOUS,
      find: async (selector: { readonly id: number } | { readonly client_id: string }) =>
        known('id' in selector ? selector.id : Number(selector.client_id.slice(6))),
      findInstallationApp: async (id: number) => this.installations.get(id),
    };
  }
}

const APP = { name: 'App', owner: undefined, createdMs: 0, updatedMs: 0 };

/** A registered app and its view of the service. */
export class TestApp {
  readonly id: number;
  readonly #test: TestWebhooks;
  readonly #service: Webhooks;

  constructor(test: TestWebhooks, id: number, service: Webhooks) {
    this.#test = test;
    this.id = id;
    this.#service = service;
  }

  /** Sends a request as the app. `path` follows `/api/v3/app`. */
  async call(method: string, path: string, body?: unknown, headers = {}): Promise<TestResponse> {
    const authorization = `Bearer app ${this.id}`;
    return await this.#test.send(method, `/api/v3/app${path}`, body, { authorization, ...headers });
  }

  /** Changes the webhook configuration as the app. */
  async patch(body: unknown): Promise<TestResponse> {
    return await this.call('PATCH', '/hook/config', body);
  }

  async config(): Promise<AnyJson> {
    return JSON.parse((await this.call('GET', '/hook/config')).text);
  }

  /** Sends a request as the operator. `path` follows `/ops/v1/apps/ID`. */
  async operate(method: string, path: string, body?: unknown): Promise<TestResponse> {
    return await this.#test.send(method, `/ops/v1/apps/${this.id}${path}`, body);
  }

  /** Changes the webhook as the operator. Throws `ValidationFailed`. */
  async change(webhook: object): Promise<void> {
    const { appHooks } = this.#service;
    const checked = appHooks.check(webhook);
    await this.#test.transaction((tx) => appHooks.update(tx, this, checked));
    await appHooks.noteCommitted(this.id, 'changed');
  }

  /** Returns the webhook as operators see it. */
  async shown(): Promise<AnyJson> {
    return (await this.#service.appHooks.describe([this.id])).get(this.id);
  }

  async suspend(): Promise<void> {
    const { appHooks } = this.#service;
    await this.#test.transaction((tx) => appHooks.suspend(tx, this.id, true));
    await appHooks.noteCommitted(this.id, 'changed');
  }

  async remove(): Promise<void> {
    const { appHooks } = this.#service;
    await this.#test.transaction((tx) => appHooks.remove(tx, this.id));
    await appHooks.noteCommitted(this.id, 'deleted');
  }

  /** Publishes only to this app; returns the event's GUID. */
  async publish(event: string, more: object = {}): Promise<string> {
    const { guid, targets } = await this.#test.publish({
      ...{ event, payload: {}, app_id: this.id },
      ...more,
    });
    assert.equal(targets.length, 1);
    return guid;
  }

  /** Records that match the query, newest first. */
  async records(query: string): Promise<readonly AnyJson[]> {
    const { status, text } = await this.call('GET', `/hook/deliveries?${query}`);
    assert.equal(status, 200, text);
    return JSON.parse(text);
  }

  /** Resolves when `count` records match. The clock advances by `stepMs` between two reads. */
  async untilRecorded(query: string, count: number, stepMs = 0): Promise<readonly AnyJson[]> {
    return await until(
      async () => {
        if (stepMs > 0) await this.#test.clock.advanceMs(stepMs);
        return await this.records(query);
      },
      ({ length }) => length >= count,
    );
  }
}
