import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Chance,
  DatabaseCable,
  type HttpRequest,
  type HttpResponse,
  KEYS,
  type ServerProcess,
  SharedNodes,
  StartFailed,
} from '../harness/index.js';
import { EDITOR_TOKEN } from '../wire/gamedata/shared-nodes.js';
import { OwnRedis } from '../wire/ratelimit/own-redis.js';

export const NODE_COUNT = 3;
/** Units of the resource that the limit clients use. */
export const LIMIT = 40;
export const LIMITED_RESOURCE = 'checked';

const ALIKE = {
  flags: [
    ...['--without-auth', '--services=accounts,webhooks,ratelimit,gamedata'],
    '--webhooks-allow-private-targets=127.0.0.0/8',
    '--accounts-allow-private-targets=127.0.0.0/8',
    ...['--rate-limit-resources', JSON.stringify({ [LIMITED_RESOURCE]: { limit: LIMIT } })],
    '--server-drain-ms=1000',
  ],
  env: {
    PLINTH_ACCOUNTS_BOOTSTRAP_KEYS: KEYS.sk_test,
    PLINTH_GAMEDATA_ADMIN_TOKEN: EDITOR_TOKEN,
  },
};
/** Long enough for a healthy Redis on a busy machine. */
const REDIS_TIMEOUT_MS = 1000;
/** A client does not wait longer for a suspended node. */
const REQUEST_TIMEOUT_MS = 4000;
const PAUSE_MS = 150;
/** Startup may fail while a store is unavailable and is then retried, as by a supervisor. */
const MAX_START_COUNT = 200;

export interface StormNode {
  readonly index: number;
  readonly dataDir: string;
  readonly database: DatabaseCable;
  readonly redis: DatabaseCable;
  server: ServerProcess | undefined;
  /** A fault is being applied to the node. */
  isTaken: boolean;
}

/** Three nodes, each with its own cables to PostgreSQL and Redis, and the request functions of the clients. */
export class StormPlatform implements AsyncDisposable {
  readonly nodes: readonly StormNode[];
  readonly shared: SharedNodes;
  readonly redis: OwnRedis;
  /** Violations that must not happen under any fault. */
  readonly complaints: string[] = [];
  readonly figures = { requests: 0, repeats: 0, timeouts: 0, refusals: 0, failedStarts: 0 };
  readonly #chance: Chance;

  static async start(seed: number): Promise<StormPlatform> {
    const shared = await SharedNodes.create(ALIKE);
    const redis = await OwnRedis.start();
    const redisUrl = new URL(`redis://127.0.0.1:${redis.ports[0]}`);
    const nodes = await Promise.all(
      Array.from({ length: NODE_COUNT }, async (_, index) => ({
        index,
        dataDir: await mkdtemp(join(tmpdir(), 'plinth-storm-')),
        database: await laid(new URL(shared.database.url)),
        redis: await laid(redisUrl),
        server: undefined,
        isTaken: false,
      })),
    );
    const platform = new StormPlatform({ shared, redis, nodes, seed });
    for (const node of nodes) await platform.startNode(node);
    return platform;
  }

  private constructor(options: {
    readonly shared: SharedNodes;
    readonly redis: OwnRedis;
    readonly nodes: readonly StormNode[];
    readonly seed: number;
  }) {
    this.shared = options.shared;
    this.redis = options.redis;
    this.nodes = options.nodes;
    this.#chance = new Chance(options.seed);
  }

  async startNode(node: StormNode): Promise<void> {
    const redis = ['--rate-limit-store=redis', `--rate-limit-redis-url=${node.redis.url}`];
    for (let count = 0; ; count++) {
      try {
        node.server = await this.shared.startProcess({
          dataDir: node.dataDir,
          databaseUrl: node.database.url,
          flags: [...redis, `--rate-limit-redis-timeout-ms=${REDIS_TIMEOUT_MS}`],
        });
        return;
      } catch (error) {
        if (!(error instanceof StartFailed) || count === MAX_START_COUNT) throw error;
        this.figures.failedStarts += 1;
        await sleep(500);
      }
    }
  }

  /** Notes nodes that ended unexpectedly. */
  noteEnded(): void {
    for (const { server, index, isTaken } of this.nodes) {
      if (server === undefined || isTaken || server.isRunning) continue;
      this.complaints.push(`node ${index} ended by itself:\n${server.logText.slice(-3000)}`);
    }
  }

  /** Sends the request to one node after the other until one returns a definite result. */
  async ask(
    path: string,
    request: HttpRequest,
    isAgain: (response: HttpResponse) => boolean = () => false,
  ): Promise<HttpResponse> {
    for (;;) {
      const response = await this.tryOnce(path, request);
      if (response !== undefined && !isAgain(response)) return response;
      this.figures.repeats += 1;
      await sleep(PAUSE_MS);
    }
  }

  /** One attempt at one node; `undefined` when the result is unknown or the node was unavailable. */
  async tryOnce(path: string, request: HttpRequest): Promise<HttpResponse | undefined> {
    const running = this.nodes.flatMap(({ server }) => (server === undefined ? [] : [server]));
    if (running.length === 0) return undefined;
    this.figures.requests += 1;
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    try {
      const response = await this.#chance.pick(running).http.send(path, { ...request, signal });
      if (response.status < 500 && response.status !== 429) return response;
      this.figures.refusals += 1;
      if (response.status > 500 && response.status !== 503) return undefined;
      if (response.status === 500) {
        this.complaints.push(`${request.method ?? 'GET'} ${path}: 500 ${response.text}`);
      }
      return undefined;
    } catch {
      if (signal.aborted) this.figures.timeouts += 1;
      return undefined;
    }
  }

  /** Like `ask`, for requests that have to succeed; the text is JSON. */
  async done<T>(
    path: string,
    request: HttpRequest,
    isAgain?: (response: HttpResponse) => boolean,
  ): Promise<T> {
    const { status, text } = await this.ask(path, request, isAgain);
    if (status >= 300) throw new Error(`${request.method ?? 'GET'} ${path}: ${status} ${text}`);
    return JSON.parse(text) as T;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { server } of this.nodes) {
      if (server?.isRunning) server.signal('SIGCONT');
    }
    await this.shared[Symbol.asyncDispose]();
    await this.redis[Symbol.asyncDispose]();
    for (const { database, redis, dataDir } of this.nodes) {
      database.cut();
      redis.cut();
      await rm(dataDir, { recursive: true, force: true });
    }
  }
}

async function laid(to: URL): Promise<DatabaseCable> {
  if (to.protocol.startsWith('postgres')) to.password ||= 'a-password-of-no-use';
  const cable = new DatabaseCable(to);
  await cable.join();
  return cable;
}
