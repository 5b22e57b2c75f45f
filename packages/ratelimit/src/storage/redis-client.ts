import type { Clock } from '@plinth/kernel';
import type { Redis } from 'ioredis';
import type { LimitRules } from '../model/limit-store.js';
import type { ScriptAnswer } from './redis-admission.js';
import { admitAll, admitPrimary, BAN, SECONDARY, SETTLE, USAGE } from './redis-scripts.js';

const MAX_FIRST_WAIT_MS = 500;
const CONNECT_TIMEOUT_MS = 2_000;
const MAX_RECONNECT_MS = 1_000;

/** The commands that the scripts become. */
interface Scripts {
  rlAdmitPrimary(keyCount: number, ...rest: (string | number)[]): Promise<(ScriptAnswer | Error)[]>;
  rlAdmitAll(...keysAndArguments: (string | number)[]): Promise<ScriptAnswer>;
  rlSettle(keyCount: number, ...rest: (string | number)[]): Promise<number>;
  rlUsage(keyCount: number, ...keys: string[]): Promise<number[]>;
  rlSecondary(keyCount: number, ...rest: (string | number)[]): Promise<number[]>;
  rlBan(keyCount: number, key: string, durationMs: number): Promise<[number, number]>;
}
export type RedisClient = Redis & Scripts;

/** A client that is not connected. Calls fail until it is, and are never kept for later. */
export async function makeRedisClient(options: {
  readonly url: string;
  readonly rules: LimitRules;
  readonly onError: (error: Error) => void;
  /** Bytes of an answer have come: the answers of a pipeline are told when the last one is there. */
  readonly onBytes: () => void;
}): Promise<RedisClient> {
  // Loaded here, so that nobody without Redis pays for it.
  const { Redis } = await import('ioredis');
  const settings = {
    lazyConnect: true,
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    // Made in one turn of the event loop already.
    autoPipeliningIgnoredCommands: ['rlAdmitPrimary'],
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt: number) => Math.min(MAX_RECONNECT_MS, 50 * attempt),
    scripts: {
      rlAdmitPrimary: { lua: admitPrimary(options.rules) },
      rlAdmitAll: { lua: admitAll(options.rules), numberOfKeys: 3 },
      rlSettle: { lua: SETTLE },
      rlUsage: { lua: USAGE },
      rlSecondary: { lua: SECONDARY },
      rlBan: { lua: BAN },
    },
  };
  // The option `scripts` makes commands of these names.
  const client = new Redis(options.url, settings) as unknown as RedisClient;
  client.on('error', options.onError);
  client.on('connect', () => client.stream.on('data', options.onBytes));
  return client;
}

/**
 * Connects in the background, for ever: a server starts without Redis, too. Waits a moment, so that the first request
 * usually finds it.
 */
export async function connectSoon(client: RedisClient, clock: Clock): Promise<void> {
  // Every failure is told through `onError`; a connection that hangs must not stop the start.
  const connected = client.connect().catch(() => {});
  const patience = new AbortController();
  const waited = clock.sleep(MAX_FIRST_WAIT_MS, patience.signal).catch(() => {});
  await Promise.race([connected, waited]);
  patience.abort();
}
