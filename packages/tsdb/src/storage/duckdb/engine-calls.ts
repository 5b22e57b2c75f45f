import { WaitingLine } from '../../model/waiting-line.js';

/**
 * Lets so many calls of the engine run at a time. Each occupies a thread of the pool that also reads and syncs files, until the
 * engine has answered, whoever still waits for that.
 */
export class EngineCalls {
  #free: number;
  readonly #line = new WaitingLine();

  constructor(count: number) {
    this.#free = count;
  }

  /** In order of arrival. Rejects with the end of the query when that comes before its turn. */
  async run<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await this.#line.wait(signal);
    try {
      return await call();
    } finally {
      if (!this.#line.next()) this.#free++;
    }
  }
}

/** A half of the pool for queries, an eighth for flushes and loads; the writer takes one, and the rest is for files. */
export function callsOfPool(poolSize: number): {
  readonly queries: EngineCalls;
  readonly background: EngineCalls;
} {
  return {
    queries: new EngineCalls(Math.max(1, Math.floor(poolSize / 2))),
    background: new EngineCalls(Math.max(1, Math.floor(poolSize / 8))),
  };
}
