import { messageOf } from '../../errors/message-of.js';
import { StoreAway } from '../relational-errors.js';

/** Time after which a running query triggers a check of the server. */
const SLOW_QUERY_MS = 1500;
/** The interval at which an unavailable server is checked. */
const CHECK_INTERVAL_MS = 500;

/**
 * Distinguishes a slow server from an unreachable one. A host that hangs or is disconnected does not close its
 * connections, and the operating system detects this only after many minutes. While a query is pending, test
 * connections are opened. When one fails, all pending and new queries fail immediately, until the server responds
 * again.
 */
export class PostgresLiveness {
  readonly #openTestConnection: () => Promise<void>;
  #runningCheck: Promise<StoreAway | undefined> | undefined;
  #away: StoreAway | undefined;
  #isClosed = false;
  #nextCheck: NodeJS.Timeout | undefined;
  #outageCount = 0;

  /** @param openTestConnection opens a test connection; rejects when the server does not respond in time. */
  constructor(openTestConnection: () => Promise<void>) {
    this.#openTestConnection = openTestConnection;
  }

  /**
   * Resolves with the result of `query`, or rejects with `StoreAway` when the server is unavailable.
   * @param abandon is called with a result that arrives too late.
   */
  async watch<T>(query: () => Promise<T>, abandon: (response: T) => void = () => {}): Promise<T> {
    if (this.#away !== undefined) throw this.#away;
    const result = query();
    return await new Promise<T>((resolve, reject) => {
      let hasEnded = false;
      const check = async (): Promise<void> => {
        const away = await this.#check();
        if (hasEnded) return;
        if (away === undefined) {
          timer = setTimeout(check, SLOW_QUERY_MS);
        } else {
          hasEnded = true;
          reject(away);
        }
      };
      let timer = setTimeout(check, SLOW_QUERY_MS);
      result.then(
        (response) => {
          clearTimeout(timer);
          if (hasEnded) abandon(response);
          hasEnded = true;
          resolve(response);
        },
        (error: unknown) => {
          clearTimeout(timer);
          hasEnded = true;
          reject(error);
        },
      );
    });
  }

  /** Connections created before the last outage may be dead. */
  get outageCount(): number {
    return this.#outageCount;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#nextCheck);
  }

  /** Returns the error of an unavailable server, if any. Concurrent calls share one check. */
  async #check(): Promise<StoreAway | undefined> {
    this.#runningCheck ??= this.#checkOnce().finally(() => {
      this.#runningCheck = undefined;
    });
    return await this.#runningCheck;
  }

  async #checkOnce(): Promise<StoreAway | undefined> {
    try {
      await this.#openTestConnection();
      this.#away = undefined;
    } catch (error) {
      const why = messageOf(error);
      if (this.#away === undefined) this.#outageCount += 1;
      this.#away = new StoreAway('', `no response: ${why}`);
      clearTimeout(this.#nextCheck);
      if (this.#isClosed) return this.#away;
      this.#nextCheck = setTimeout(() => void this.#check(), CHECK_INTERVAL_MS).unref();
    }
    return this.#away;
  }
}
