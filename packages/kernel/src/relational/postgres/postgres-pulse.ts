import { messageOf } from '../../errors/message-of.js';
import { StoreAway } from '../relational-errors.js';

/** What is asked stays unanswered for so long before the server is asked whether it is there. */
const SILENCE_MS = 1500;
/** How often a server that is away is asked. */
const LOOK_MS = 500;

/**
 * Tells a server that takes its time from one that has gone without a word: a peer that is cut off, or hangs, closes no
 * connection, and the system gives it up after many minutes. While an answer is due, connections are made beside it; where
 * one fails, all that waits fails, and so does at once what comes, until the server answers again.
 */
export class PostgresPulse {
  readonly #greet: () => Promise<void>;
  #greeting: Promise<StoreAway | undefined> | undefined;
  #away: StoreAway | undefined;
  #isClosed = false;
  #looks: NodeJS.Timeout | undefined;
  #outageCount = 0;

  /** @param greet makes a connection; fails when the server does not answer it in time. */
  constructor(greet: () => Promise<void>) {
    this.#greet = greet;
  }

  /**
   * What `ask` resolves with, or `StoreAway` where the server is.
   * @param abandon takes an answer that comes when nobody waits any more.
   */
  async heed<T>(query: () => Promise<T>, abandon: (answer: T) => void = () => {}): Promise<T> {
    if (this.#away !== undefined) throw this.#away;
    const result = query();
    return await new Promise<T>((resolve, reject) => {
      let isOver = false;
      const feel = async (): Promise<void> => {
        const away = await this.#feel();
        if (isOver) return;
        if (away === undefined) {
          timer = setTimeout(feel, SILENCE_MS);
        } else {
          isOver = true;
          reject(away);
        }
      };
      let timer = setTimeout(feel, SILENCE_MS);
      result.then(
        (answer) => {
          clearTimeout(timer);
          if (isOver) abandon(answer);
          isOver = true;
          resolve(answer);
        },
        (error: unknown) => {
          clearTimeout(timer);
          isOver = true;
          reject(error);
        },
      );
    });
  }

  /** What was connected before the last of them may lead nowhere. */
  get outageCount(): number {
    return this.#outageCount;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#looks);
  }

  /** Why the server is away, if it is; those who ask together share one look. */
  async #feel(): Promise<StoreAway | undefined> {
    this.#greeting ??= this.#greetOnce().finally(() => {
      this.#greeting = undefined;
    });
    return await this.#greeting;
  }

  async #greetOnce(): Promise<StoreAway | undefined> {
    try {
      await this.#greet();
      this.#away = undefined;
    } catch (error) {
      const why = messageOf(error);
      if (this.#away === undefined) this.#outageCount += 1;
      this.#away = new StoreAway('', `it does not answer: ${why}`);
      clearTimeout(this.#looks);
      if (this.#isClosed) return this.#away;
      this.#looks = setTimeout(() => void this.#feel(), LOOK_MS).unref();
    }
    return this.#away;
  }
}
