import type { Clock } from '@plinth/kernel';
import type { Cluster, Redis } from 'ioredis';
import type { LimitRules } from '../../model/limit-store.js';
import { CallWatch } from './call-watch.js';
import type { ScriptAnswer } from './redis-admission.js';
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
/** A shard that is gone is asked so often, and after so long, before its calls fail. */
const SHARD_RETRY_COUNT = 3;
const SHARD_RETRY_MS = 10;
/** How often a cluster is asked which server keeps what: of one that hangs nobody says that another took its place. */
const SLOTS_REFRESH_MS = 5_000;

/** The commands that the scripts become. */
interface Scripts {
  rlAdmitPrimary(keyCount: number, ...rest: (string | number)[]): Promise<(ScriptAnswer | Error)[]>;
  rlAdmitAll(...keysAndArguments: (string | number)[]): Promise<ScriptAnswer>;
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
  /** Longest silence of a server while calls to it wait. */
  readonly timeoutMs: number;
  readonly onError: (error: Error) => void;
}

/** One process of Redis. Each is silent for itself: what another shard says tells nothing about this one. */
export interface RedisServer {
  /** Host and port. */
  readonly name: string;
  readonly redis: Redis;
  readonly watch: CallWatch;
}

type Clients = Pick<typeof import('ioredis'), 'Redis' | 'Cluster' | 'Command'>;

/** A connection to one server, or to all shards of a cluster once the first server says that it belongs to one. */
export class RedisLink {
  readonly #options: RedisLinkOptions;
  readonly #makeCluster: (seed: Redis) => Cluster;
  readonly #slotOf: (key: string) => number;
  readonly #first: RedisServer;
  /** Members of the cluster, by name. */
  readonly #members = new Map<string, RedisServer>();
  #cluster: Cluster | undefined;
  #isClosed = false;

  /** Not connected. Calls fail until it is, and are never kept for later. */
  static async open(options: RedisLinkOptions): Promise<RedisLink> {
    // Loaded here, so that nobody without Redis pays for it.
    return new RedisLink(options, await import('ioredis'));
  }

  private constructor(options: RedisLinkOptions, { Redis, Cluster, Command }: Clients) {
    this.#options = options;
    const scripts = scriptsOf(options.rules);
    const settings = {
      lazyConnect: true,
      enableOfflineQueue: false,
      enableAutoPipelining: true,
      // Made in one turn of the event loop already.
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
    // The option `scripts` makes commands of their names.
    return (this.#cluster ?? this.#first.redis) as unknown as RedisClient;
  }

  /** The servers that keep keys. */
  get shards(): readonly RedisServer[] {
    if (this.#cluster === undefined) return [this.#first];
    const names = new Set(this.#cluster.nodes('master').map(nameOf));
    return [...this.#members.values()].filter(({ name }) => names.has(name));
  }

  /** Who keeps a key, as far as is known. */
  serverOf(key: string): RedisServer {
    const name = this.#cluster?.slots[this.#slotOf(key)]?.[0];
    return (name !== undefined && this.#members.get(name)) || this.#first;
  }

  /**
   * Connects in the background, for ever: a server starts without Redis, too. Waits a moment, so that the first request
   * usually finds it.
   */
  async connectSoon(): Promise<void> {
    const { redis } = this.#first;
    // Every failure is told through `onError`; a connection that hangs must not stop the start.
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

  /** A server that cannot say what it belongs to is taken for what it was; the next connection asks again. */
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
    await cluster.connect().catch(() => {}); // told through `onError`
  }

  /** Another connection may have taken the place of this one already. */
  #forget(redis: Redis): void {
    const name = nameOf(redis);
    if (this.#members.get(name)?.redis === redis) this.#members.delete(name);
  }

  #serverAt(redis: Redis): RedisServer {
    const { clock, timeoutMs, onError } = this.#options;
    const watch = new CallWatch(clock, timeoutMs);
    redis.on('error', onError);
    // The answers of a pipeline are told when the last one is there; bytes of the first ones come before.
    redis.on('connect', () => redis.stream.on('data', () => watch.heard()));
    return { name: nameOf(redis), redis, watch };
  }
}

/** As the client names the members of a cluster. */
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
