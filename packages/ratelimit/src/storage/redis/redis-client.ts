import type { Clock } from '@plinth/kernel';
import type { Cluster, Redis } from 'ioredis';
import type { LimitRules } from '../../model/limit-store.js';
import { CallWatch } from './call-watch.js';
import type { ScriptResponse } from './redis-admission.js';
import {
  admitAll,
  admitPrimary,
  BAN,
  BAN_OF,
  BANS,
  HOLD_SLOTS,
  LOGINS,
  NODES,
  SECONDARY,
  SETTLE,
  USAGE,
} from './redis-scripts.js';

const MAX_FIRST_WAIT_MS = 500;
const CONNECT_TIMEOUT_MS = 2_000;
const MAX_RECONNECT_MS = 1_000;
/** Retries of calls to an unavailable shard, and the delay between them. */
const SHARD_RETRY_COUNT = 3;
const SHARD_RETRY_MS = 10;
/** Interval of cluster topology refreshes. A hanging server does not announce its replacement. */
const SLOTS_REFRESH_MS = 5_000;

/** Commands defined by the scripts. */
interface Scripts {
  rlAdmitPrimary(
    keyCount: number,
    ...rest: (string | number)[]
  ): Promise<(ScriptResponse | Error)[]>;
  rlAdmitAll(...keysAndArguments: (string | number)[]): Promise<ScriptResponse>;
  rlHoldSlots(keyCount: number, key: string, ...slots: string[]): Promise<number>;
  rlSettle(keyCount: number, ...rest: (string | number)[]): Promise<number>;
  rlUsage(keyCount: number, ...keys: string[]): Promise<number[]>;
  rlSecondary(keyCount: number, ...rest: (string | number)[]): Promise<number[]>;
  rlLogins(keyCount: number, key: string, windowMs: number): Promise<number>;
  rlNodes(keyCount: number, key: string, node: string, lifeMs: number): Promise<number>;
  rlBan(keyCount: number, key: string, durationMs: number): Promise<[number, number]>;
  rlBanOf(keyCount: number, key: string): Promise<[] | [level: number, untilMs: number]>;
  rlBans(keyCount: number, key: string, most: number): Promise<string[]>;
}
export type RedisClient = (Redis | Cluster) & Scripts;

export interface RedisLinkOptions {
  readonly url: string;
  readonly rules: LimitRules;
  readonly clock: Clock;
  /** Maximum time without a response while calls are pending. */
  readonly timeoutMs: number;
  readonly onError: (error: Error) => void;
}

/** One Redis process. Each has its own timeout, independent of other shards. */
export interface RedisServer {
  /** Host and port. */
  readonly name: string;
  readonly redis: Redis;
  readonly watch: CallWatch;
}

type Clients = Pick<typeof import('ioredis'), 'Redis' | 'Cluster' | 'Command'>;

/**
 * A connection to one server, or to all shards once the first server reports that it belongs to a
 * cluster.
 */
export class RedisLink {
  readonly #options: RedisLinkOptions;
  readonly #makeCluster: (seed: Redis) => Cluster;
  readonly #slotOf: (key: string) => number;
  readonly #first: RedisServer;
  /** Members of the cluster, by name. */
  readonly #members = new Map<string, RedisServer>();
  #cluster: Cluster | undefined;
  #isClosed = false;

  /** Returns a link that is not connected. Calls fail until it is; they are never queued. */
  static async open(options: RedisLinkOptions): Promise<RedisLink> {
    // Loaded on demand, because not every server uses Redis.
    return new RedisLink(options, await import('ioredis'));
  }

  private constructor(options: RedisLinkOptions, { Redis, Cluster, Command }: Clients) {
    this.#options = options;
    const scripts = scriptsOf(options.rules);
    const settings = {
      lazyConnect: true,
      enableOfflineQueue: false,
      enableAutoPipelining: true,
      // These calls are already batched per event-loop tick.
      autoPipeliningIgnoredCommands: ['rlAdmitPrimary'],
      connectTimeout: CONNECT_TIMEOUT_MS,
      maxRetriesPerRequest: 0,
      retryStrategy,
    };
    this.#first = this.#serverAt(new Redis(options.url, { ...settings, scripts }));
    this.#slotOf = (key) => new Command('get', [key]).getSlot();
    this.#makeCluster = ({ options: { host, port, username, password, tls } }) =>
      new Cluster([{ host: host ?? '', port: port ?? 0 }], {
        scripts,
        lazyConnect: true,
        enableOfflineQueue: false,
        clusterRetryStrategy: retryStrategy,
        maxRedirections: SHARD_RETRY_COUNT,
        retryDelayOnFailover: SHARD_RETRY_MS,
        slotsRefreshInterval: SLOTS_REFRESH_MS,
        redisOptions: {
          connectTimeout: CONNECT_TIMEOUT_MS,
          maxRetriesPerRequest: 0,
          ...(username !== undefined && { username }),
          ...(password !== undefined && { password }),
          ...(tls !== undefined && { tls }),
        },
      });
  }

  get client(): RedisClient {
    // The option `scripts` defines commands with these names.
    return (this.#cluster ?? this.#first.redis) as unknown as RedisClient;
  }

  /** Servers that store keys. */
  get shards(): readonly RedisServer[] {
    if (this.#cluster === undefined) return [this.#first];
    const names = new Set(this.#cluster.nodes('master').map(nameOf));
    return [...this.#members.values()].filter(({ name }) => names.has(name));
  }

  /** Returns the server that stores a key, if known. */
  serverOf(key: string): RedisServer {
    const name = this.#cluster?.slots[this.#slotOf(key)]?.[0];
    return (name !== undefined && this.#members.get(name)) || this.#first;
  }

  /**
   * Connects in the background and retries indefinitely, because the server also starts without Redis.
   * Waits briefly, so that the first request usually has a connection.
   */
  async connectSoon(): Promise<void> {
    const { redis } = this.#first;
    // `onError` reports all failures. A hanging connection must not block startup.
    const connected = redis
      .connect()
      .then(() => this.#joinCluster())
      .catch(() => {});
    const timeout = new AbortController();
    const waited = this.#options.clock.sleep(MAX_FIRST_WAIT_MS, timeout.signal).catch(() => {});
    await Promise.race([connected, waited]);
    timeout.abort();
    redis.on('ready', () => void this.#joinCluster());
  }

  close(): void {
    this.#isClosed = true;
    this.#cluster?.disconnect();
    this.#first.redis.disconnect();
  }

  /**
   * Joins the cluster if the server reports one. After a failed query, the next connection tries
   * again.
   */
  async #joinCluster(): Promise<void> {
    const { redis } = this.#first;
    const about = await redis.info('cluster').catch(() => '');
    if (!about.includes('cluster_enabled:1') || this.#cluster !== undefined || this.#isClosed)
      return;
    const cluster = this.#makeCluster(redis);
    cluster.on('error', this.#options.onError);
    cluster.on('+node', (node: Redis) => this.#members.set(nameOf(node), this.#serverAt(node)));
    cluster.on('-node', (node: Redis) => this.#forget(node));
    this.#cluster = cluster;
    redis.disconnect();
    await cluster.connect().catch(() => {}); // reported through `onError`
  }

  /** Removes a closed connection, unless another one has already replaced it. */
  #forget(redis: Redis): void {
    const name = nameOf(redis);
    if (this.#members.get(name)?.redis === redis) this.#members.delete(name);
  }

  #serverAt(redis: Redis): RedisServer {
    const { clock, timeoutMs, onError } = this.#options;
    const watch = new CallWatch(clock, timeoutMs);
    redis.on('error', onError);
    // Responses of a pipeline resolve together at its end, so raw bytes are used as a sign of life.
    redis.on('connect', () => redis.stream.on('data', () => watch.heard()));
    return { name: nameOf(redis), redis, watch };
  }
}

/** Returns the name that the client uses for cluster members. */
const nameOf = ({ options: { host, port } }: Redis): string => `${host}:${port}`;

const retryStrategy = (attempt: number): number => Math.min(MAX_RECONNECT_MS, 50 * attempt);

const scriptsOf = (rules: LimitRules) => ({
  rlAdmitPrimary: { lua: admitPrimary(rules) },
  rlAdmitAll: { lua: admitAll(rules), numberOfKeys: 3 },
  rlHoldSlots: { lua: HOLD_SLOTS },
  rlSettle: { lua: SETTLE },
  rlUsage: { lua: USAGE },
  rlSecondary: { lua: SECONDARY },
  rlLogins: { lua: LOGINS },
  rlNodes: { lua: NODES },
  rlBan: { lua: BAN },
  rlBanOf: { lua: BAN_OF },
  rlBans: { lua: BANS },
});
