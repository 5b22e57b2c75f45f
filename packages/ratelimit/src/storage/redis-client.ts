import type { Clock } from '@plinth/kernel';
import type { Cluster, Redis } from 'ioredis';
import type { LimitRules } from '../model/limit-store.js';
import type { ScriptAnswer } from './redis-admission.js';
import {
  admitAll,
  admitPrimary,
  BAN,
  BAN_OF,
  BANS,
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

/** The commands that the scripts become. */
interface Scripts {
  rlAdmitPrimary(keyCount: number, ...rest: (string | number)[]): Promise<(ScriptAnswer | Error)[]>;
  rlAdmitAll(...keysAndArguments: (string | number)[]): Promise<ScriptAnswer>;
  rlSettle(keyCount: number, ...rest: (string | number)[]): Promise<number>;
  rlUsage(keyCount: number, ...keys: string[]): Promise<number[]>;
  rlSecondary(keyCount: number, ...rest: (string | number)[]): Promise<number[]>;
  rlNodes(keyCount: number, key: string, node: string, lifeMs: number): Promise<number>;
  rlBan(keyCount: number, key: string, durationMs: number): Promise<[number, number]>;
  rlBanOf(keyCount: number, key: string): Promise<[] | [level: number, untilMs: number]>;
  rlBans(keyCount: number, key: string, most: number): Promise<string[]>;
}
export type RedisClient = (Redis | Cluster) & Scripts;

export interface RedisLinkOptions {
  readonly url: string;
  readonly rules: LimitRules;
  readonly onError: (error: Error) => void;
  /** Bytes of an answer have come: the answers of a pipeline are told when the last one is there. */
  readonly onBytes: () => void;
}

type Clients = Pick<typeof import('ioredis'), 'Redis' | 'Cluster'>;

/** A connection to one server, or to all shards of a cluster once the first server says that it belongs to one. */
export class RedisLink {
  readonly #options: RedisLinkOptions;
  readonly #makeCluster: (seed: Redis) => Cluster;
  readonly #first: Redis;
  #cluster: Cluster | undefined;
  #isClosed = false;

  /** Not connected. Calls fail until it is, and are never kept for later. */
  static async open(options: RedisLinkOptions): Promise<RedisLink> {
    // Loaded here, so that nobody without Redis pays for it.
    return new RedisLink(options, await import('ioredis'));
  }

  private constructor(options: RedisLinkOptions, { Redis, Cluster }: Clients) {
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
    this.#first = new Redis(options.url, { ...settings, scripts });
    this.#makeCluster = ({ options: { host, port, username, password, tls } }) =>
      new Cluster([{ host: host ?? '', port: port ?? 0 }], {
        scripts,
        lazyConnect: true,
        enableOfflineQueue: false,
        clusterRetryStrategy: retryStrategy,
        maxRedirections: SHARD_RETRY_COUNT,
        retryDelayOnFailover: SHARD_RETRY_MS,
        redisOptions: {
          connectTimeout: CONNECT_TIMEOUT_MS,
          maxRetriesPerRequest: 0,
          ...(username !== undefined && { username }),
          ...(password !== undefined && { password }),
          ...(tls !== undefined && { tls }),
        },
      });
    this.#listen(this.#first);
  }

  get client(): RedisClient {
    // The option `scripts` makes commands of their names.
    return (this.#cluster ?? this.#first) as unknown as RedisClient;
  }

  /** The servers that keep keys. */
  get shards(): readonly Redis[] {
    return this.#cluster?.nodes('master') ?? [this.#first];
  }

  /**
   * Connects in the background, for ever: a server starts without Redis, too. Waits a moment, so that the first request
   * usually finds it.
   */
  async connectSoon(clock: Clock): Promise<void> {
    // Every failure is told through `onError`; a connection that hangs must not stop the start.
    const connected = this.#first
      .connect()
      .then(() => this.#joinCluster())
      .catch(() => {});
    const patience = new AbortController();
    const waited = clock.sleep(MAX_FIRST_WAIT_MS, patience.signal).catch(() => {});
    await Promise.race([connected, waited]);
    patience.abort();
    this.#first.on('ready', () => void this.#joinCluster());
  }

  close(): void {
    this.#isClosed = true;
    this.#cluster?.disconnect();
    this.#first.disconnect();
  }

  /** A server that cannot say what it belongs to is taken for what it was; the next connection asks again. */
  async #joinCluster(): Promise<void> {
    const about = await this.#first.info('cluster').catch(() => '');
    if (!about.includes('cluster_enabled:1') || this.#cluster !== undefined || this.#isClosed)
      return;
    const cluster = this.#makeCluster(this.#first);
    cluster.on('error', this.#options.onError);
    cluster.on('+node', (node: Redis) => this.#listen(node));
    this.#cluster = cluster;
    this.#first.disconnect();
    await cluster.connect().catch(() => {}); // told through `onError`
  }

  #listen(server: Redis): void {
    const { onError, onBytes } = this.#options;
    server.on('error', onError);
    server.on('connect', () => server.stream.on('data', onBytes));
  }
}

const retryStrategy = (attempt: number): number => Math.min(MAX_RECONNECT_MS, 50 * attempt);

const scriptsOf = (rules: LimitRules) => ({
  rlAdmitPrimary: { lua: admitPrimary(rules) },
  rlAdmitAll: { lua: admitAll(rules), numberOfKeys: 3 },
  rlSettle: { lua: SETTLE },
  rlUsage: { lua: USAGE },
  rlSecondary: { lua: SECONDARY },
  rlNodes: { lua: NODES },
  rlBan: { lua: BAN },
  rlBanOf: { lua: BAN_OF },
  rlBans: { lua: BANS },
});
