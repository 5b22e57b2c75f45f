import { tsdbError } from '../../../../errors.js';

/** Whoever waits for a query. The signal may be made when it is looked at: answers that are there at once do without. */
export interface Asker {
  readonly signal: AbortSignal;
}

/**
 * Aborts a query when its client leaves or its time is over, whichever comes first. `end` must be called once. Nothing is made
 * of it before somebody looks at the signal: a timer and listeners were a fifth of what an answer from memory costs.
 */
export class QueryDeadline implements Asker {
  readonly #asker: Asker;
  readonly #limitMs: number;
  readonly #startMs: number;
  #signal: AbortSignal | undefined;
  #stop: (() => void) | undefined;
  #hasEnded = false;

  /** @param limitMs 0: there is no limit. */
  constructor(asker: Asker, limitMs: number) {
    this.#asker = asker;
    this.#limitMs = limitMs;
    this.#startMs = limitMs === 0 ? 0 : performance.now();
  }

  get signal(): AbortSignal {
    if (this.#limitMs === 0 || (this.#hasEnded && this.#signal === undefined)) {
      return this.#asker.signal;
    }
    this.#signal ??= this.#watch();
    return this.#signal;
  }

  end(): void {
    this.#hasEnded = true;
    this.#stop?.();
  }

  #watch(): AbortSignal {
    const client = this.#asker.signal;
    const controller = new AbortController();
    const leave = (): void => controller.abort(client.reason);
    const leftMs = Math.max(0, this.#startMs + this.#limitMs - performance.now());
    const timer = setTimeout(
      () => controller.abort(tsdbError('query_timed_out', this.#limitMs)),
      leftMs,
    );
    timer.unref();
    if (client.aborted) leave();
    client.addEventListener('abort', leave, { once: true });
    this.#stop = () => {
      clearTimeout(timer);
      client.removeEventListener('abort', leave);
    };
    return controller.signal;
  }
}
