import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createLogger,
  LocalLeases,
  LocalObjectStore,
  loadSettings,
  Metrics,
  NodeFileSystem,
  openPostgresStore,
  openRelationalStore,
  RelationalOutbox,
  SystemClock,
} from '@plinth/kernel';
import {
  ManualClock,
  SeededRandom,
  type TestRequest,
  type TestResponse,
  TestRoutes,
} from '@plinth/kernel/testing';
import { GAMEDATA_SETTINGS } from '../config.js';
import { createGameData } from '../service.js';

export type { TestRequest, TestResponse };

export interface WireRecord {
  readonly id: string;
  readonly [name: string]: unknown;
}

type Lists = Partial<Record<'items' | 'quests' | 'presets' | 'ammunition', readonly WireRecord[]>>;

export interface Envelope extends Lists {
  readonly total: number;
  readonly count: number;
  readonly limit: number;
  readonly next: string | null;
  readonly previous: string | null;
  readonly [name: string]: unknown;
}

export interface EditorResponse extends TestResponse {
  readonly json: WireRecord & { readonly data: WireRecord };
}

const TOKEN = 'editor-token-for-tests';
/** Headers of an editor with all scopes. */
export const EDITOR = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

type Flags = Readonly<Record<string, string>>;

/**
 * The game data service with its own folder and a manual clock. Requests reach its routes without a
 * socket.
 */
export class TestGameData implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly dataDir: string;
  readonly #databaseUrl: string | undefined;
  #flags: Flags = {};
  #stop: (() => Promise<void>)[] = [];
  #routes: TestRoutes | undefined;

  /**
   * @param flags settings of the service by flag name, such as `gamedata-keep-history`.
   * @param databaseUrl PostgreSQL URL; without it, the service uses a store in its folder.
   */
  static async start(flags: Flags = {}, databaseUrl?: string): Promise<TestGameData> {
    const dataDir = await mkdtemp(join(tmpdir(), 'plinth-gamedata-'));
    const service = new TestGameData(dataDir, databaseUrl);
    try {
      await service.restart(flags);
      return service;
    } catch (error) {
      await service[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(dataDir: string, databaseUrl: string | undefined) {
    this.dataDir = dataDir;
    this.#databaseUrl = databaseUrl;
  }

  /** Restarts the service with its stored data. */
  async restart(flags: Flags = this.#flags): Promise<void> {
    await this.stop();
    this.#flags = flags;
    const all = { 'gamedata-admin-token': TOKEN, ...flags };
    const sources = { flags: new Map(Object.entries(all)), env: {} };
    const { gamedata: settings } = loadSettings({ gamedata: GAMEDATA_SETTINGS }, sources);
    const { dataDir, clock } = this;
    const random = new SeededRandom(clock.nowMs());
    const fileSystem = new NodeFileSystem();
    const folder = join(dataDir, 'gamedata');
    await fileSystem.makeDirectory(folder);
    const times = { clock: new SystemClock() };
    const local = await openRelationalStore({ path: join(dataDir, 'db'), fileSystem, ...times });
    this.#stop.push(() => local.close());
    const url = this.#databaseUrl;
    const shared = { random, maxTransactionMs: 10_000, onConnectionLost: () => {}, ...times };
    const relational = url === undefined ? local : await openPostgresStore({ url, ...shared });
    if (relational !== local) this.#stop.push(() => relational.close());
    const log = createLogger({ level: 'fatal' });
    const leases = new LocalLeases();
    // The outbox is not started, because it has no subscribers.
    const outbox = new RelationalOutbox({
      ...{ store: relational, clock, random, leases, node: 'test', log, onHandlerFailure() {} },
    });
    await outbox.prepare();
    const root = join(dataDir, 'objects');
    const service = await createGameData({
      ...{ settings, relational, local, fileSystem, folder, outbox, clock, random, log },
      objects: await LocalObjectStore.open({ fileSystem, root, random }),
      metrics: new Metrics(),
      ownsRoot: true,
      findAdmin: () => undefined,
    });
    this.#stop.push(() => service.close());
    await service.start();
    this.#routes = new TestRoutes(await service.routeGroups());
  }

  async stop(): Promise<void> {
    for (const stop of this.#stop.splice(0).reverse()) await stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.dataDir, { recursive: true, force: true });
  }

  /**
   * Calls the route with this method and path. The response includes the headers of its API conventions.
   */
  async send(target: string, request: TestRequest = {}): Promise<TestResponse> {
    const { body, method = body === undefined ? 'GET' : 'POST' } = request;
    assert.ok(this.#routes !== undefined);
    return await this.#routes.send(target, { method, ...request });
  }

  /** Body of a successful JSON response. */
  async get<T = Envelope>(
    path: string,
  ): Promise<{ readonly body: T; readonly headers: TestResponse['headers'] }> {
    const { status, text, headers } = await this.send(path);
    assert.equal(status, 200, `${path}: ${text.slice(0, 300)}`);
    return { body: JSON.parse(text) as T, headers };
  }

  /** Status and JSON body of a read, successful or not. */
  async read(path: string): Promise<{ readonly status: number; readonly json: WireRecord }> {
    const { status, text } = await this.send(path);
    return { status, json: JSON.parse(text) };
  }

  /** Asserts a 400 response in the format of game data for this parameter. */
  async refused(path: string, code: string, param: string): Promise<WireRecord> {
    const { status, text, headers } = await this.send(path);
    assert.equal(status, 400, `${path}: ${text.slice(0, 200)}`);
    const body = JSON.parse(text) as WireRecord;
    assert.equal(Object.keys(body)[0], 'error');
    assert.deepEqual([body['code'], body['param']], [code, param], path);
    assert.equal(headers['access-control-allow-origin'], '*');
    assert.equal(headers['cache-control'], 'no-store');
    return body;
  }

  /** Sends a request to the editor; a body other than string or bytes is sent as JSON. */
  async edit(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<EditorResponse> {
    const isSent = typeof body === 'string' || body instanceof Uint8Array;
    const response = await this.send(`/api/editor/${path}`, {
      method,
      headers: { ...EDITOR, ...headers },
      ...(body !== undefined && { body: isSent ? body : JSON.stringify(body) }),
    });
    return { ...response, json: JSON.parse(response.text) };
  }

  /** Like `edit`, but asserts success. */
  async done(...request: Parameters<TestGameData['edit']>): Promise<EditorResponse> {
    const response = await this.edit(...request);
    assert.equal(
      response.status,
      200,
      `${request[0]} ${request[1]}: ${response.text.slice(0, 600)}`,
    );
    return response;
  }

  /** Returns codes and paths of the faults of a rejected change. */
  async faults(...request: Parameters<TestGameData['edit']>): Promise<readonly string[]> {
    const { status, json, text } = await this.edit(...request);
    assert.equal(status, 400, `${request[0]} ${request[1]}: ${text.slice(0, 300)}`);
    assert.equal(json['code'], 'validation_failed');
    const details = json['details'] as readonly { code: string; file?: string; path: string }[];
    return details.map(({ code, file = '', path }) => `${code} ${file}${path}`);
  }
}
