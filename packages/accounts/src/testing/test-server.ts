import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import {
  createLogger,
  LocalLeases,
  loadSettings,
  Metrics,
  NodeFileSystem,
  openRelationalStore,
  type Principal,
  RelationalOutbox,
  SecretBox,
  SystemClock,
} from '@plinth/kernel';
import {
  ManualClock,
  SeededRandom,
  type TestRequest,
  type TestResponse,
  TestRoutes,
} from '@plinth/kernel/testing';
import { ACCOUNTS_SETTINGS } from '../config.js';
import { createAccounts } from '../service.js';
import { START_MS } from './test-account.js';
import { TestKeyring } from './test-keyring.js';
import { type Json, TestPlatform, textOf } from './test-platform.js';

/** Settings of the service by flag name, such as `accounts-token-ttl-sec`. */
export type Flags = Readonly<Record<string, string>>;

const OPERATOR: Principal = { kind: 'admin', tokenId: 0, tokenName: '_admin' };
export const OPERATOR_HEADERS = {
  authorization: 'Bearer token-of-the-operator',
  'content-type': 'application/json',
};
const BASE = 'http://127.0.0.1:8181';
const CLIENT = { from: '127.0.0.1', base: BASE, publicBase: BASE };
const EGRESS = {
  ...{ allowedTargets: [], allowedPorts: [], directHosts: [] },
  ...{ extraCaFile: undefined, proxy: undefined, timeoutMs: 1000, maxResponseBytes: 1024 },
};

/** A server shared by all tests of a file. */
export function testServer(flags?: Flags): TestServer {
  const server = new TestServer(flags);
  after(async () => await server[Symbol.asyncDispose]());
  return server;
}

/**
 * The accounts service on a separate store with a manual clock. Starts with its first request;
 * requests reach the routes without a socket.
 */
export class TestServer implements AsyncDisposable {
  readonly clock = new ManualClock(START_MS);
  readonly metrics = new Metrics();
  /** The log lines of the service. */
  readonly logged: string[] = [];
  readonly #flags: Flags;
  readonly #delivers: boolean;
  readonly #stop: (() => Promise<void>)[] = [];
  #routes: Promise<TestRoutes> | undefined;

  /** @param options `delivers`: whether events are sent to their destinations. */
  constructor(flags: Flags = {}, { delivers = false }: { readonly delivers?: boolean } = {}) {
    this.#flags = flags;
    this.#delivers = delivers;
  }

  /** Sends a request. Requests are a millisecond apart, so that created objects are ordered. */
  async send(url: string, request: TestRequest = {}): Promise<TestResponse> {
    this.#routes ??= this.#start();
    const routes = await this.#routes;
    await this.clock.advanceMs(1);
    return await routes.send(url, request);
  }

  /** Sends an operator's request. The response may have any status. */
  async sendOps(method: string, path: string, body?: Json): Promise<TestResponse> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const url = `/ops/v1/accounts/${path}`;
    return await this.send(url, { method, headers: OPERATOR_HEADERS, body: text });
  }

  /** Sends an operator's request that must succeed. */
  async ops(method: string, path: string, body?: Json): Promise<TestResponse> {
    const response = await this.sendOps(method, path, body);
    assert.equal(response.status, 200, `${method} ${path}: ${response.text}`);
    return response;
  }

  /** Creates a platform for one test, with its settings merged into the defaults. */
  async platform(settings: Json = {}): Promise<TestPlatform> {
    return new TestPlatform(this, textOf(await this.ops('POST', 'platforms', settings), 'id'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#routes?.catch(() => {});
    for (const stop of this.#stop.splice(0).reverse()) await stop();
  }

  async #start(): Promise<TestRoutes> {
    const sources = { flags: new Map(Object.entries(this.#flags)), env: {} };
    const { accounts: config } = loadSettings({ accounts: ACCOUNTS_SETTINGS }, sources);
    const dataDir = await mkdtemp(join(tmpdir(), 'plinth-accounts-'));
    this.#stop.push(() => rm(dataDir, { recursive: true, force: true }));
    const { clock, metrics } = this;
    const files = new NodeFileSystem();
    const path = join(dataDir, 'plinth.db');
    const store = await openRelationalStore({ path, clock: new SystemClock(), fileSystem: files });
    this.#stop.push(() => store.close());
    const random = new SeededRandom(1, clock);
    const destination = { write: (line: string) => this.logged.push(line) };
    const log = createLogger({ level: 'info', destination });
    const leases = new LocalLeases();
    const onHandlerFailure = assert.ifError;
    const outbox = new RelationalOutbox({
      ...{ store, leases, clock, random, log, node: 'test', onHandlerFailure },
    });
    this.#stop.push(() => outbox.close());
    await outbox.prepare();
    const service = createAccounts({
      ...{ config, store, outbox, leases, clock, random, files, log, dataDir, metrics },
      secrets: new SecretBox(Buffer.alloc(32, 7), random),
      keys: new TestKeyring(clock, random),
      egress: { ...EGRESS, allowedTargets: config.allow_private_targets },
      ownListeners: [],
      findOperator: ({ headers }) =>
        headers['authorization'] === OPERATOR_HEADERS.authorization ? OPERATOR : undefined,
      deliverFirstKeys: async () => {},
    });
    this.#stop.push(() => service.close());
    await service.start();
    if (this.#delivers) await outbox.start();
    return new TestRoutes(await service.routeGroups(), CLIENT);
  }
}
