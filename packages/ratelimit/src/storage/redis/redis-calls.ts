import { invariant } from '@plinth/kernel';
import {
  type RedisClient,
  RedisLink,
  type RedisLinkOptions,
  type RedisServer,
} from './redis-client.js';

/** Maximum number of keys per server that an operator's query scans. */
const MAX_SCANNED_COUNT = 200_000;
const SCAN_STEP_COUNT = 1_000;

type SeeKeys = (keys: readonly string[]) => Promise<void>;

/** Calls Redis with a timeout per server. */
export class RedisCalls {
  readonly #options: RedisLinkOptions;
  #link: RedisLink | undefined;
  #errorCount = 0;

  constructor(options: RedisLinkOptions) {
    this.#options = options;
  }

  /** Number of failed calls. */
  get errorCount(): number {
    return this.#errorCount;
  }

  get isOpen(): boolean {
    return this.#link !== undefined;
  }

  async start(): Promise<void> {
    this.#link = await RedisLink.open(this.#options);
    await this.#link.connectSoon();
  }

  close(): void {
    this.#link?.close();
    this.#link = undefined;
  }

  /** Returns the name of the server that stores a key, if known; `''` while the store is closed. */
  serverNameOf(key: string): string {
    return this.#link?.serverOf(key).name ?? '';
  }

  /**
   * @param key any key of the call; all of them are in one slot.
   * @param onLate receives the response to a call that was already rejected.
   */
  call<T>(
    key: string,
    run: (client: RedisClient) => Promise<T>,
    onLate?: (response: T) => void,
  ): Promise<T> {
    const link = this.#open;
    return this.#watched(link.serverOf(key), run(link.client), onLate);
  }

  /** Scans the server that stores `key`, and passes the keys that match `pattern` to `see` in batches. */
  async scanBeside(key: string, pattern: string, see: SeeKeys): Promise<void> {
    await this.#scan(this.#open.serverOf(key), pattern, see);
  }

  /** Passes keys of all servers that match a pattern to `see`, in batches. */
  async scanAll(pattern: string, see: SeeKeys): Promise<void> {
    for (const server of this.#open.shards) await this.#scan(server, pattern, see);
  }

  async #scan(server: RedisServer, pattern: string, see: SeeKeys): Promise<void> {
    let cursor = '0';
    let seenCount = 0;
    do {
      const call = server.redis.scan(cursor, 'MATCH', pattern, 'COUNT', SCAN_STEP_COUNT);
      const [next, keys] = await this.#watched(server, call);
      cursor = next;
      seenCount += SCAN_STEP_COUNT;
      if (keys.length > 0) await see(keys);
    } while (cursor !== '0' && seenCount < MAX_SCANNED_COUNT);
  }

  #watched<T>(
    { watch }: RedisServer,
    call: Promise<T>,
    onLate?: (response: T) => void,
  ): Promise<T> {
    return watch.watch(call, onLate).catch((error: unknown) => {
      this.#errorCount += 1;
      throw error;
    });
  }

  get #open(): RedisLink {
    invariant(this.#link, 'the store must be started first');
    return this.#link;
  }
}

/** Escapes text for a glob pattern. */
export const escapeGlob = (text: string): string => text.replace(/[*?[\]\\]/g, '\\$&');
